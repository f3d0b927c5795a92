import {
  decodeFarmStake,
  decodeFarmTotals,
  FARM_STAKE_SIZE,
  farmVaultOf,
  STAKE_AT,
  wholeStake,
} from '../../../abi/kamino/farm.ts'
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
import type { SvmAccount, SvmFarms, SvmProgram, Told, VaultState } from '../program.ts'

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
const GIVE = discriminator('global', 'transfer_ownership')
/** By the farm's authority; and anybody's gift to all. */
const TAKE_FROM_ALL = discriminator('global', 'withdraw_from_farm_vault')
const ADD_TO_ALL = discriminator('global', 'deposit_to_farm_vault')

const farms: SvmFarms = {
  programs: [FARMS_PROGRAM],
  silent: [GIVE],
  decode(instruction, transaction) {
    const at = (place: number) => accountAt(instruction.accounts, place)
    const moved = (from: Key, to: Key) =>
      sumOf(movementsBelow(instruction, transaction), { kind: 'transfer', from, to })
    const mintIn = (farmVault: Key) => {
      const held = transaction.balances.find(({ account }) => account === farmVault)
      return (held?.after ?? held?.before)?.mint
    }
    switch (instruction.data.toString('hex', 0, 8)) {
      case STAKE: {
        const change = moved(at(4), at(3))
        const stakes = change ? [{ stakeAccount: at(1), owner: at(0), change }] : []
        return { mint: mintIn(at(3)), farm: at(2), stakes }
      }
      // What is unstaked stays its owner's until it is taken out.
      case TAKE_OUT: {
        const change = moved(at(4), at(3))
        const stakes = change ? [{ stakeAccount: at(1), owner: at(0), change: -change }] : []
        return { mint: mintIn(at(4)), farm: at(2), stakes }
      }
      // Into a new account of the other owner.
      case GIVE: {
        const stakes = [
          { stakeAccount: at(3), owner: at(0), change: 0n },
          { stakeAccount: at(4), owner: at(2), change: 0n },
        ]
        return { mint: undefined, farm: at(5), stakes }
      }
      case TAKE_FROM_ALL:
        return { mint: mintIn(at(3)), farm: at(1), stakes: [], isRevalued: true }
      case ADD_TO_ALL:
        return { mint: mintIn(at(2)), farm: at(1), stakes: [], isRevalued: true }
      default:
        return undefined
    }
  },
  stakesOf: farm => ({
    program: FARMS_PROGRAM,
    size: FARM_STAKE_SIZE,
    of: { at: STAKE_AT.farm, key: farm },
    ownerAt: STAKE_AT.owner,
  }),
  read({ mint, farm, owner, stakeAccount }, account, farmAccount) {
    if (!account) return 0n
    const stake = decodeFarmStake(stakeAccount, account.owner, account.data)
    const totals = farmAccount && decodeFarmTotals(farmAccount.owner, farmAccount.data)
    if (stake?.farm !== farm)
      throw new TypeError(`the account ${stakeAccount} is no stake in the farm ${farm}`)
    if (totals?.mint !== mint) throw new TypeError(`the account ${farm} is no farm of the mint ${mint}`)
    return stake.owner === owner ? wholeStake(stake, totals) : 0n
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
    const farm = state?.farm ? [state.farm] : []
    return state ? [CLOCK, ...state.allocations.map(({ reserve }) => reserve), ...farm] : []
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
      ...farmOf(state, wanted[state.allocations.length]),
    }
  },
}

/** Where the shares are staked. A vault may name a farm of other shares: that one is none of its. */
function farmOf(
  { farm, sharesMint }: KaminoVault,
  account: SvmAccount | undefined,
): Pick<VaultState, 'farm'> {
  const totals = account && decodeFarmTotals(account.owner, account.data)
  if (!farm || totals?.mint !== sharesMint) return {}
  return { farm: { farm, farmVault: farmVaultOf(farm, sharesMint) } }
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
