import { join } from 'node:path'
import {
  type Abi,
  type Address,
  concatHex,
  encodeAbiParameters,
  encodeDeployData,
  encodeFunctionData,
  getContractAddress,
  type Hex,
  keccak256,
  pad,
  parseAbi,
  zeroHash,
} from 'viem'
import { z } from 'zod'
import { merklDistributor } from '../../read-api/protocols/merkl/rewards.ts'
import { type Artifact, compileOnce, sourcesIn } from './compile.ts'
import { calls, deployToken, deployVault, sendDeployment, type Token } from './deploy.ts'
import { ScenarioError } from './errors.ts'
import type { Call } from './node.ts'
import type { Day, Play } from './play.ts'
import type { Companions } from './scenario.ts'
import type { DeployedVault } from './world.ts'

const own = {
  compiler: 'solc',
  imports: ['@openzeppelin/contracts'],
  sources: () => ({
    ...sourcesIn(join(import.meta.dirname, '../read-api/contracts')),
    ...sourcesIn(join(import.meta.dirname, 'guests')),
  }),
}

/** A cumulative reward of a user, with its way up to the distributor's root. */
export interface ProvenReward {
  user: Address
  amount: bigint
  proof: Hex[]
}

/** Vaults of the demo besides the scenario's, one for each way to be known, and rewards. */
export interface Guests extends Companions {
  /** Deposits and redemptions are requested first. */
  asynchronous: DeployedVault
  /** By a factory that is known. */
  made: DeployedVault
  /** By nobody known, and on no list. */
  found: DeployedVault
  factory: Address
  reward: Token
  rewards: ProvenReward[]
}

const OPENS = 8
/** Who takes part; they stay to the end of every scenario. */
const PARTICIPANTS = [0, 1, 2, 4, 5]

export function createGuests(): Guests {
  let guests: Omit<Guests, 'onDay' | 'vaults'> | undefined
  const known = () => {
    if (!guests) throw new ScenarioError('Guests come on day 8')
    return guests
  }
  return {
    get asynchronous() {
      return known().asynchronous
    },
    get made() {
      return known().made
    },
    get found() {
      return known().found
    },
    get factory() {
      return known().factory
    },
    get reward() {
      return known().reward
    },
    get rewards() {
      return known().rewards
    },
    get vaults() {
      return guests ? [guests.asynchronous, guests.made, guests.found] : []
    },
    async onDay(play, day) {
      if (day.index === OPENS) guests = await open(play)
      if (guests) live(play, day, guests)
    },
  }
}

const artifact = (name: string): Artifact => {
  const found = compileOnce(own)[name]
  if (!found) throw new ScenarioError(`There is no contract ${name}`)
  return found
}
const call = (from: Address, to: Address, abi: Abi, functionName: string, args: unknown[]): Call => ({
  from,
  to,
  data: encodeFunctionData({ abi, functionName, args }),
  label: functionName,
})

async function open(play: Play): Promise<Omit<Guests, 'onDay' | 'vaults'>> {
  const { node, world } = play
  const { admin } = world.actors
  const { USDC, DAI } = world.assets
  const asynchronous = await sendDeployment(node, artifact('GuestAsync'), [USDC.token.address])
  const found = await deployVault(
    node,
    { asset: DAI.token, name: 'Unlisted Honest Vault', symbol: 'uhvDAI' },
    { mine: false },
  )
  const factory = await sendDeployment(node, artifact('GuestFactory'), [world.morpho.address])
  const name = 'Demo Morpho USDC'
  const symbol = 'dmUSDC'
  const vaultCode = artifact('GuestMetaMorpho')
  const made = getContractAddress({
    opcode: 'CREATE2',
    from: factory,
    salt: zeroHash,
    bytecode: encodeDeployData({
      ...vaultCode,
      args: [admin, world.morpho.address, USDC.token.address, name, symbol],
    }),
  }).toLowerCase() as Address
  const [market] = world.morpho.markets
  if (!market) throw new ScenarioError('There is no market to lend in')
  const factoryAbi = artifact('GuestFactory').abi
  const opening = [
    call(admin, factory, factoryAbi, 'createMetaMorpho', [
      admin,
      0n,
      USDC.token.address,
      name,
      symbol,
      zeroHash,
    ]),
    call(admin, made, vaultCode.abi, 'addMarket', [market.params, 400_000n * 10n ** 6n]),
    call(admin, made, vaultCode.abi, 'setFeeRecipient', [admin]),
    call(admin, made, vaultCode.abi, 'setFee', [10n ** 17n]),
    call(admin, made, vaultCode.abi, 'setCurator', [admin]),
  ]
  for (const each of opening) await node.send({ ...each, gas: 8_000_000n })
  const reward = await deployToken(
    node,
    { name: 'Demo Reward Token', symbol: 'DRT', decimals: 18 },
    { mine: false },
  )
  const distributor = await sendDeployment(node, artifact('MerklLike'))
  await node.send(calls.mintToken(admin, reward.address, merklDistributor, 10n ** 24n))
  const { timestamp } = await node.head()
  const { number: deployedBlock, timestamp: deployedAt } = await node.mine(timestamp + 1)
  const code = z.custom<Hex>().parse(await node.rpc('eth_getCode', [distributor, 'latest']))
  await node.rpc('anvil_setCode', [merklDistributor, code])
  const placed = { deployedBlock, deployedAt }
  const usdc = { asset: USDC.token, decimals: USDC.token.decimals, ...placed }
  return {
    asynchronous: {
      ...usdc,
      address: asynchronous,
      kind: 'asynchronous',
      name: 'Demo Asynchronous Vault',
      symbol: 'davUSDC',
    },
    made: { ...usdc, address: made, kind: 'metamorpho', name, symbol },
    found: { ...found, ...placed },
    factory,
    reward,
    rewards: [],
  }
}

function live(play: Play, day: Day, guests: Omit<Guests, 'onDay' | 'vaults'>): void {
  const { admin, users } = play.world.actors
  const people = PARTICIPANTS.flatMap(n => users[n] ?? [])
  // Of their own, so that the scenario's wallets stay as the scenario has them.
  const funded = (user: Address, { asset, address }: DeployedVault, amount: bigint): Call[] => [
    calls.mintToken(admin, asset.address, user, amount),
    calls.approve(user, asset.address, address, amount),
  ]
  const at = (slot: number, ...list: Call[]) => day.plan[Math.min(slot, day.plan.length - 1)]?.push(...list)
  const since = day.index - OPENS
  const { asynchronous, made, found } = guests

  const visitor = people[since % people.length] ?? admin
  if (since % 6 === 1) {
    const assets = BigInt(4_000 + 137 * since) * 10n ** 18n
    at(3, ...funded(visitor, found, assets), calls.deposit(visitor, found.address, assets))
  }
  if (since % 5 === 1 && since < 60) {
    const assets = BigInt(9_000 + 211 * since) * 10n ** 6n
    at(4, ...funded(visitor, made, assets), calls.deposit(visitor, made.address, assets))
  }
  if (since > 2) {
    at(5, calls.mintToken(admin, found.asset.address, found.address, 3n * 10n ** 18n + BigInt(since)))
    at(5, calls.mintToken(admin, asynchronous.asset.address, asynchronous.address, 150_000_000n))
  }
  request(play, { day, since, people, vault: asynchronous, funded, at })
  reward(play, { day, people: people.slice(0, 4), guests, at })
}

interface Turn {
  day: Day
  people: Address[]
  at(slot: number, ...list: Call[]): void
}

/** Every sixth day somebody asks to deposit, and gets his shares two days later; one asks to redeem. Two stay open. */
function request(
  play: Play,
  turn: Turn & {
    since: number
    vault: DeployedVault
    funded(user: Address, vault: DeployedVault, amount: bigint): Call[]
  },
): void {
  const { day, since, people, vault, funded, at } = turn
  const { admin } = play.world.actors
  const { abi } = artifact('GuestAsync')
  const left = play.days - 1 - day.index
  const asking = (user: Address, assets: bigint) => [
    ...funded(user, vault, assets),
    call(user, vault.address, abi, 'requestDeposit', [assets, user, user]),
  ]
  // The first is large enough for a benchmark of dollar vaults.
  const assetsOf = (round: number) => BigInt(round === 0 ? 1_200_000 : 5_000 + 731 * round) * 10n ** 6n
  const round = Math.floor(since / 6)
  const user = people[round % people.length] ?? admin
  if (left >= 8) {
    if (since % 6 === 0) at(6, ...asking(user, assetsOf(round)))
    if (since % 6 === 1) at(6, call(admin, vault.address, abi, 'fulfil', [user]))
    if (since % 6 === 2)
      at(6, {
        ...call(user, vault.address, parseAbi(['function deposit(uint256,address,address)']), 'deposit', [
          assetsOf(round),
          user,
          user,
        ]),
      })
  }
  const [pending = admin, claimable = admin] = people
  const redeemed = 1_500n * 10n ** 6n
  if (left === 7) at(6, call(pending, vault.address, abi, 'requestRedeem', [redeemed, pending, pending]))
  if (left === 6) at(6, call(admin, vault.address, abi, 'fulfil', [pending]))
  if (left === 5) at(6, call(pending, vault.address, abi, 'redeem', [redeemed, pending, pending]))
  if (left === 2) at(6, ...asking(claimable, 3_300n * 10n ** 6n))
  if (left === 1)
    at(6, call(admin, vault.address, abi, 'fulfil', [claimable]), ...asking(pending, 2_200n * 10n ** 6n))
}

/** Two rounds of rewards, by Merkle roots; the first user claims after the first, so that all have something left. */
function reward(
  play: Play,
  { day, people, guests, at }: Turn & { guests: Pick<Guests, 'reward' | 'rewards'> },
): void {
  const { admin } = play.world.actors
  const { abi } = artifact('MerklLike')
  const left = play.days - 1 - day.index
  const { address } = guests.reward
  const rooted = (times: bigint) => {
    const amounts = people.map((user, i) => ({ user, amount: BigInt(40 + 15 * i) * times * 10n ** 18n }))
    const { root, proofs } = merkleTree(
      amounts.map(({ user, amount }) =>
        keccak256(
          encodeAbiParameters(
            [{ type: 'address' }, { type: 'address' }, { type: 'uint256' }],
            [user, address, amount],
          ),
        ),
      ),
    )
    guests.rewards.splice(0, Number.POSITIVE_INFINITY)
    guests.rewards.push(...amounts.map((each, i) => ({ ...each, proof: proofs[i] ?? [] })))
    at(7, call(admin, merklDistributor, abi, 'update', [root, day.start]))
  }
  if (left === 12) rooted(1n)
  const [first] = guests.rewards
  if (left === 10 && first)
    at(
      7,
      call(first.user, merklDistributor, abi, 'claim', [
        [first.user],
        [address],
        [first.amount],
        [first.proof],
      ]),
    )
  if (left === 4) rooted(2n)
}

/** Pairs are hashed smaller first; a layer of odd length ends with itself. */
function merkleTree(leaves: readonly Hex[]): { root: Hex; proofs: Hex[][] } {
  const proofs: Hex[][] = leaves.map(() => [])
  let layer = [...leaves]
  let places = leaves.map((_, i) => i)
  while (layer.length > 1) {
    const here = layer
    places = places.map((place, leaf) => {
      const sibling = here[place ^ 1]
      if (sibling) proofs[leaf]?.push(sibling)
      return place >> 1
    })
    layer = []
    for (let i = 0; i < here.length; i += 2) {
      const [a = zeroHash, b] = [here[i], here[i + 1]]
      layer.push(b ? keccak256(BigInt(a) < BigInt(b) ? concatHex([a, b]) : concatHex([b, a])) : a)
    }
  }
  return { root: layer[0] ?? pad('0x'), proofs }
}
