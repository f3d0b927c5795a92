import { type Address, zeroAddress } from 'viem'
import {
  type AaveHolding,
  aaveAccount,
  ceilDiv,
  isDecoupledRevision,
  isDirectedRevision,
  termsOf,
} from '../../../abi/aave-v3/math.ts'
import { RAY } from '../../../db/units.ts'
import { type View, type Views, view } from '../../chain/view.ts'
import { SECONDS_PER_YEAR } from '../../lending/market.ts'
import { erc20Abi } from '../../transactions/abis.ts'
import { LANDING_SECONDS } from '../../transactions/borrow/bounds.ts'
import type { MarketRef } from '../../transactions/borrow/family.ts'
import type { ReadViews } from '../../transactions/family.ts'
import { aaveAbi, aaveAccountAbi } from './abis.ts'

export interface AaveRef extends MarketRef {
  readonly protocol: 'aave-v3'
  readonly reserves: readonly { readonly asset: string; readonly aToken: string }[]
}

/** The configuration word of a reserve; caps and ceilings as it has them. @see ReserveConfiguration.sol of @aave/core-v3 */
export function configurationOf(word: bigint) {
  const bits = (at: bigint, length: bigint) => (word >> at) & ((1n << length) - 1n)
  const flag = (at: bigint) => bits(at, 1n) === 1n
  return {
    ltvBps: bits(0n, 16n),
    liquidationThresholdBps: bits(16n, 16n),
    decimals: Number(bits(48n, 8n)),
    isActive: flag(56n),
    isFrozen: flag(57n),
    isBorrowingEnabled: flag(58n),
    isPaused: flag(60n),
    isBorrowableInIsolation: flag(61n),
    isSiloed: flag(62n),
    /** Whole tokens; zero: none. */
    borrowCap: bits(80n, 36n),
    supplyCap: bits(116n, 36n),
    /** Up to v3.1; from v3.2 on categories have bitmaps instead. */
    eModeCategory: bits(168n, 8n),
    /** Of the base currency, with two decimals; zero: not an isolated collateral. */
    debtCeiling: bits(212n, 40n),
    /** From v3.1 on: what the pool lends is bound to what was supplied; GHO was minted instead, until v3.4. */
    isVirtualAccounting: flag(252n),
  }
}

export interface ReserveData {
  configuration: bigint
  liquidityIndex: bigint
  currentLiquidityRate: bigint
  variableBorrowIndex: bigint
  currentVariableBorrowRate: bigint
  id: number
  aTokenAddress: Address
  stableDebtTokenAddress: Address
  variableDebtTokenAddress: Address
  accruedToTreasury: bigint
  isolationModeTotalDebt: bigint
}

/** One reserve as an account stands with it. Amounts in base units with interest up to the block. */
export interface HeldReserve {
  asset: Address
  data: ReserveData
  configuration: ReturnType<typeof configurationOf>
  supplied: bigint
  /** At the variable rate. */
  variable: bigint
  stable: bigint
  isCollateral: boolean
  /** In the oracle's base currency; undefined where the oracle does not answer. */
  price: bigint | undefined
  /** Those of its eMode where they go before its own. */
  terms: ReturnType<typeof termsOf>
  isBorrowingEnabled: boolean
  isBorrowableInEMode: boolean
}

export interface HeldAccount {
  /** The category of eMode; zero: none. */
  category: bigint
  /** The code of the pool is v3.5 or later. */
  isDirected: boolean
  /** The one that is asked about, and those that the account has anything to do with. */
  reserves: readonly HeldReserve[]
}

/**
 * What an account has in a pool, at one block; in three reads, since the oracle and eModes have to be found first. `also`:
 * what else is read of the reserve that is asked about, in the same calls.
 */
export async function readAccount<const V extends Views>(
  { root, reserves }: AaveRef,
  asked: string,
  user: Address,
  read: ReadViews,
  also: (data: ReserveData) => V,
) {
  const pool = root as Address
  const views: Record<string, View<unknown>> = {
    provider: view(aaveAccountAbi, pool, 'ADDRESSES_PROVIDER', []),
    flags: view(aaveAccountAbi, pool, 'getUserConfiguration', [user]),
    category: view(aaveAccountAbi, pool, 'getUserEMode', [user]),
    revision: view(aaveAccountAbi, pool, 'POOL_REVISION', []),
  }
  for (const { asset, aToken } of reserves) {
    views[`data ${asset}`] = view(aaveAbi, pool, 'getReserveData', [asset as Address])
    views[`supplied ${asset}`] = view(erc20Abi, aToken as Address, 'balanceOf', [user])
  }
  const { block, values: first } = await read(views)
  const flags = (first['flags'] as bigint | undefined) ?? 0n
  const category = (first['category'] as bigint | undefined) ?? 0n
  const revision = Number((first['revision'] as bigint | undefined) ?? 0n)
  const isDecoupled = isDecoupledRevision(revision)
  const touched = reserves.flatMap(({ asset }) => {
    const data = first[`data ${asset}`] as ReserveData | undefined
    const supplied = (first[`supplied ${asset}`] as bigint | undefined) ?? 0n
    // A reserve that was dropped has no tokens, and its id is that of another.
    if (!data || data.aTokenAddress === zeroAddress) return []
    const bits = flags >> BigInt(data.id * 2)
    const [isBorrowing, isCollateral] = [(bits & 1n) === 1n, (bits & 2n) === 2n]
    const isHeld = supplied > 0n || isBorrowing || isCollateral || asset === asked
    return isHeld ? [{ asset: asset as Address, data, supplied, isBorrowing, isCollateral }] : []
  })

  const mode = Number(category)
  const more: Record<string, View<unknown>> = {
    oracle: view(
      aaveAccountAbi,
      (first['provider'] as Address | undefined) ?? zeroAddress,
      'getPriceOracle',
      [],
    ),
    category: view(aaveAccountAbi, pool, 'getEModeCategoryData', [mode]),
    collateralBitmap: view(aaveAccountAbi, pool, 'getEModeCategoryCollateralBitmap', [mode]),
    borrowableBitmap: view(aaveAccountAbi, pool, 'getEModeCategoryBorrowableBitmap', [mode]),
    ltvZeroBitmap: view(aaveAccountAbi, pool, 'getEModeCategoryLtvzeroBitmap', [mode]),
  }
  for (const { asset, data, isBorrowing } of touched) {
    if (!isBorrowing) continue
    more[`variable ${asset}`] = view(erc20Abi, data.variableDebtTokenAddress, 'balanceOf', [user])
    more[`stable ${asset}`] = view(erc20Abi, data.stableDebtTokenAddress, 'balanceOf', [user])
  }
  const target = touched.find(({ asset }) => asset === asked)
  const [{ values: second }, extra] = await Promise.all([read(more), target && read(also(target.data))])
  const oracle = (second['oracle'] as Address | undefined) ?? zeroAddress
  const modes = second['category'] as
    | { ltv: number; liquidationThreshold: number; priceSource: Address }
    | undefined
  const source = category !== 0n && modes && modes.priceSource !== zeroAddress ? modes.priceSource : undefined

  const asking: Record<string, View<unknown>> = {}
  if (source) asking['source'] = view(aaveAccountAbi, oracle, 'getAssetPrice', [source])
  for (const { asset } of touched) asking[asset] = view(aaveAccountAbi, oracle, 'getAssetPrice', [asset])
  const { values: prices } = await read(asking)

  const held = touched.map(({ asset, data, supplied, isCollateral }): HeldReserve => {
    const configuration = configurationOf(data.configuration)
    const isOfCategory = category !== 0n && configuration.eModeCategory === category
    const isIn = (bitmap: unknown) =>
      typeof bitmap === 'bigint' ? category !== 0n && ((bitmap >> BigInt(data.id)) & 1n) === 1n : isOfCategory
    const ltvZero = second['ltvZeroBitmap']
    const eMode =
      modes && isIn(second['collateralBitmap'])
        ? {
            ltvBps: ltvZero !== undefined && isIn(ltvZero) ? 0n : BigInt(modes.ltv),
            liquidationThresholdBps: BigInt(modes.liquidationThreshold),
          }
        : undefined
    return {
      asset,
      data,
      configuration,
      supplied,
      variable: (second[`variable ${asset}`] as bigint | undefined) ?? 0n,
      stable: (second[`stable ${asset}`] as bigint | undefined) ?? 0n,
      isCollateral,
      price: prices[source && isOfCategory ? 'source' : asset] as bigint | undefined,
      terms: termsOf({ ...configuration, ...(eMode ? { eMode } : {}), isDecoupled }),
      isBorrowingEnabled: configuration.isBorrowingEnabled || (isDecoupled && category !== 0n),
      isBorrowableInEMode: category === 0n || isIn(second['borrowableBitmap']),
    }
  })
  const account: HeldAccount = { category, isDirected: isDirectedRevision(revision), reserves: held }
  return { block, account, extra: extra?.values }
}

export const owedOf = ({ variable, stable }: HeldReserve) => variable + stable

/** What a debt grows to at the present rate, rounded up: a little more than the pool reckons. */
export function grown(debt: bigint, { data }: HeldReserve, seconds: number): bigint {
  if (debt === 0n || seconds === 0) return debt
  const year = RAY * BigInt(SECONDS_PER_YEAR)
  const interest = (debt * data.currentVariableBorrowRate * BigInt(seconds)) / year
  // Beyond the first term of the series there is less than the square of it.
  return debt + interest + (interest * interest) / debt + 2n
}

interface Change {
  /** Reserves that are made collateral first. */
  enabling?: readonly Address[]
  withdraw?: { asset: Address; amount: bigint }
}

/** calculateUserAccountData after a change, with the interest on debts until it lands. */
export function accountAfter({ reserves, isDirected }: HeldAccount, { enabling = [], withdraw }: Change) {
  const holdings = reserves.map((reserve): AaveHolding => {
    const { asset, configuration, terms } = reserve
    const taken = withdraw?.asset === asset ? withdraw.amount : 0n
    // What is burned since v3.5 is whole scaled units that are worth the amount or more.
    const least = taken > 0n && isDirected ? taken + reserve.data.liquidityIndex / RAY + 1n : taken
    return {
      supplied: reserve.supplied > least ? reserve.supplied - least : 0n,
      borrowed: grown(owedOf(reserve), reserve, LANDING_SECONDS),
      isCollateral: reserve.isCollateral || enabling.includes(asset),
      price: reserve.price ?? 0n,
      decimals: configuration.decimals,
      isDirected,
      ...terms,
    }
  })
  return { ...aaveAccount(holdings), isDirected }
}

/**
 * @see ValidationLogic.validateBorrow and, since v3.5, validateHFAndLtv: whether collateral covers `amount` more. Rounded up
 * as since v3.5, which up to v3.4 is a unit of the oracle's currency too much at most.
 */
export function covers(
  account: ReturnType<typeof accountAfter>,
  { price, configuration, data }: HeldReserve,
  amount: bigint,
): boolean {
  if (price === undefined || account.totalCollateralBase === 0n || account.ltvBps === 0n) return false
  if (account.healthFactorWad !== undefined && account.healthFactorWad <= 10n ** 18n) return false
  // What is minted since v3.5 is whole scaled units that are worth the amount or more.
  const owed = account.isDirected ? amount + data.variableBorrowIndex / RAY + 2n : amount
  const more = ceilDiv(price * owed, 10n ** BigInt(configuration.decimals))
  return ceilDiv((account.totalDebtBase + more) * 10_000n, account.ltvBps) <= account.totalCollateralBase
}

/** The one isolated collateral of an account, where it is in isolation mode. */
export function isolatedBy({ reserves }: HeldAccount, enabling: readonly Address[]): HeldReserve | undefined {
  const [only, ...others] = reserves.filter(
    ({ asset, isCollateral }) => isCollateral || enabling.includes(asset),
  )
  return only && others.length === 0 && only.configuration.debtCeiling !== 0n ? only : undefined
}

/** @see ValidationLogic.validateUseAsCollateral */
export function mayBeCollateral(account: HeldAccount, { configuration, terms }: HeldReserve): boolean {
  if (terms.ltvBps === 0n) return false
  if (!account.reserves.some(({ isCollateral }) => isCollateral)) return true
  return isolatedBy(account, []) === undefined && configuration.debtCeiling === 0n
}
