import { decodeFarmStake, farmVaultOf, stakedIn } from '../../../abi/kamino/farm.ts'
import { booksAt, liquidityOf, ONE } from '../../../abi/kamino/math.ts'
import { decodeReserve, type KaminoReserve } from '../../../abi/kamino/reserve.ts'
import {
  decodeVault,
  FARMS_PROGRAM,
  globalConfig,
  type KaminoVault,
  VAULT_PROGRAM,
} from '../../../abi/kamino/vault.ts'
import { decodeClock } from '../../../abi/svm/clock.ts'
import { discriminator } from '../../../abi/svm/discriminator.ts'
import { CLOCK, type Key } from '../../../abi/svm/programs.ts'
import { movementsBelow, sumOf } from '../amounts.ts'
import { accountAt, ownerOf, type SvmInstruction, type SvmTransaction } from '../block.ts'
import type { SvmFarms, SvmProgram, Told } from '../program.ts'

/** Places of accounts. @see npm @kamino-finance/klend-sdk 8.0.2, kvault.json */
interface Shape {
  kind: 'deposit' | 'withdrawal'
  authority: number
  shareMint: number
  shares: number
  /** Absent where what is paid is no asset: shares of a reserve. */
  tokens?: number
  asset?: number
}
const [USER, VAULT] = [0, 1]
const DEPOSIT: Shape = { kind: 'deposit', asset: 3, authority: 4, shareMint: 5, tokens: 6, shares: 7 }
const WITHDRAWAL: Shape = { kind: 'withdrawal', authority: 4, tokens: 5, asset: 6, shares: 7, shareMint: 8 }
/** Before the program had settings of its own, which are account 2 now. */
const OLD_WITHDRAWAL: Shape = {
  kind: 'withdrawal',
  authority: 3,
  tokens: 4,
  asset: 5,
  shares: 6,
  shareMint: 7,
}
const IN_KIND: Shape = { kind: 'withdrawal', authority: 3, shares: 8, shareMint: 9 }
const SHAPES = new Map<string, Shape>([
  ...['deposit', 'buy'].map(name => [discriminator('global', name), DEPOSIT] as const),
  ...['withdraw', 'sell', 'withdraw_from_available'].map(
    name => [discriminator('global', name), WITHDRAWAL] as const,
  ),
  [discriminator('global', 'redeem_in_kind'), IN_KIND],
])
const SETTINGS = globalConfig()

/** @see npm @kamino-finance/farms-sdk 4.0.1, instructions */
const STAKE = discriminator('global', 'stake')
const TAKE_OUT = discriminator('global', 'withdraw_unstaked_deposits')

const farms: SvmFarms = {
  programs: [FARMS_PROGRAM],
  // What is unstaked stays its owner's until it is taken out.
  decode(instruction, transaction) {
    const tag = instruction.data.toString('hex', 0, 8)
    if (tag !== STAKE && tag !== TAKE_OUT) return undefined
    const at = (place: number) => accountAt(instruction.accounts, place)
    const [tokens, farmVault] = tag === STAKE ? [at(4), at(3)] : [at(3), at(4)]
    const [from, to] = tag === STAKE ? [tokens, farmVault] : [farmVault, tokens]
    const moved = sumOf(movementsBelow(instruction, transaction), { kind: 'transfer', from, to })
    const held = transaction.balances.find(({ account }) => account === farmVault)
    const mint = (held?.after ?? held?.before)?.mint
    if (!moved || !mint) return undefined
    return {
      mint,
      farm: at(2),
      stakeAccount: at(1),
      owner: at(0),
      change: tag === STAKE ? moved : -moved,
    }
  },
  read({ farm, owner, stakeAccount }, account) {
    if (!account) return 0n
    const stake = decodeFarmStake(stakeAccount, account.owner, account.data)
    if (stake?.farm !== farm || stake.owner !== owner)
      throw new TypeError(`the account ${stakeAccount} is no stake of ${owner} in the farm ${farm}`)
    return stakedIn(stake)
  },
}

const kamino: SvmProgram = {
  name: 'kamino',
  programs: [VAULT_PROGRAM],
  farms,
  decode(instruction, transaction) {
    const { accounts, program } = instruction
    const published = SHAPES.get(instruction.data.toString('hex', 0, 8))
    if (!published) return undefined
    const shape = published === WITHDRAWAL && accountAt(accounts, 2) !== SETTINGS ? OLD_WITHDRAWAL : published
    const vault = accountAt(accounts, VAULT)
    return {
      vault,
      accounts:
        shape.asset === undefined
          ? undefined
          : {
              program,
              shareMint: accountAt(accounts, shape.shareMint),
              asset: accountAt(accounts, shape.asset),
              authority: accountAt(accounts, shape.authority),
            },
      events: [flowOf(shape, vault, instruction, transaction)],
    }
  },
  readsFirst: true,
  wants(vault, _, account) {
    const state = account && decodeVault(vault, account.owner, account.data)
    return state ? [CLOCK, ...state.allocations.map(({ reserve }) => reserve)] : []
  },
  read({ vault, accounts, account, supply, wanted: [clock, ...wanted], slot }) {
    const state = decodeVault(vault, account.owner, account.data)
    if (!state) throw new TypeError('the account is no vault, or names accounts that are not derived from it')
    if (state.tokenMint !== accounts.asset || state.sharesMint !== accounts.shareMint)
      throw new TypeError(`the account names other mints, ${state.tokenMint} and ${state.sharesMint}`)
    if (state.authority !== accounts.authority)
      throw new TypeError(`${accounts.authority} is not derived from the vault`)
    const reserves = new Map(
      state.allocations.flatMap(({ reserve }, i) => {
        const found = wanted[i]
        const decoded = found && decodeReserve(found.owner, found.data)
        return decoded ? [[reserve as string, decoded] as const] : []
      }),
    )
    const time = decodeClock(clock?.data)?.time
    if (time === undefined) throw new TypeError('the node does not tell the time of the slot')
    const now = BigInt(slot)
    const { assetsSf, available, sharesIssued } = booksAt(state, reserves, now, time)
    return {
      totalSupply: supply,
      totalAssets: assetsSf / ONE,
      idleAssets: payableOf({ ...state, available }, reserves, now),
      ...(assetsSf > 0n && sharesIssued > 0n && { priceAssets: assetsSf, priceShares: sharesIssued * ONE }),
      ...(state.farm && {
        farm: { farm: state.farm, farmVault: farmVaultOf(state.farm, state.sharesMint) },
      }),
    }
  },
}

/** What lies idle, and what the reserves have that nobody borrows. */
function payableOf(state: KaminoVault, reserves: ReadonlyMap<string, KaminoReserve>, slot: bigint): bigint {
  return state.allocations.reduce((sum, { reserve: address, ctokens }) => {
    const reserve = reserves.get(address)
    const invested = reserve ? liquidityOf(ctokens, reserve, slot) / ONE : 0n
    return sum + (reserve && reserve.available < invested ? reserve.available : invested)
  }, state.available)
}

function flowOf(
  shape: Shape,
  vault: Key,
  instruction: SvmInstruction,
  transaction: SvmTransaction,
): Told['events'][number] {
  const { accounts, path } = instruction
  const movements = movementsBelow(instruction, transaction)
  const [user, mint, held] = [USER, shape.shareMint, shape.shares].map(place =>
    accountAt(accounts, place),
  ) as [Key, Key, Key]
  const tokens = shape.tokens === undefined ? undefined : accountAt(accounts, shape.tokens)
  const common = { instructionIndex: path[0] ?? 0, path: path.join('.') }
  const contract = { protocol: kamino.name, contract: vault }
  const owner = ownerOf(held, transaction)
  if (shape.kind === 'deposit') {
    const assets = tokens && sumOf(movements, { kind: 'transfer', from: tokens })
    const shares = sumOf(movements, { kind: 'mint', mint, to: held })
    if (shares === undefined) throw new TypeError('nothing was minted for the depositor')
    const data = { ...common, account: owner.after ?? owner.before ?? user, sender: user, shares }
    return { type: 'SvmDeposited', ...contract, data: { ...data, ...(assets !== undefined && { assets }) } }
  }
  const assets = tokens && sumOf(movements, { kind: 'transfer', to: tokens })
  const shares = sumOf(movements, { kind: 'burn', mint, from: held })
  if (shares === undefined) throw new TypeError('no share was burnt')
  const receiver = tokens && ownerOf(tokens, transaction)
  const data = {
    ...common,
    account: owner.before ?? owner.after ?? user,
    receiver: receiver?.after ?? receiver?.before ?? user,
    shares,
  }
  return { type: 'SvmWithdrawn', ...contract, data: { ...data, ...(assets !== undefined && { assets }) } }
}

export default kamino
