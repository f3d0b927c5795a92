import {
  type Address,
  type ContractFunctionReturnType,
  encodeFunctionData,
  type Hex,
  zeroAddress,
} from 'viem'
import {
  accrueMorpho,
  type MorphoMarket,
  type MorphoPosition,
  morphoBalances,
  morphoMaxBorrow,
  toAssetsUp,
  toSharesDown,
  toSharesUp,
} from '../../../abi/morpho-blue/math.ts'
import { view } from '../../chain/view.ts'
import { RefusedError } from '../../http/errors.ts'
import { fractionOfWad, ratio, yearlyOfWad } from '../../lending/market.ts'
import { erc20Abi } from '../../transactions/abis.ts'
import {
  type Bound,
  LANDING_SECONDS,
  largest,
  owedBound,
  suppliedBound,
  tightest,
  tokenOf,
} from '../../transactions/borrow/bounds.ts'
import type { BorrowPosition, MarketAssetRef, MarketRef } from '../../transactions/borrow/family.ts'
import { defineBorrowFamily } from '../../transactions/borrow/standing.ts'
import type { PlannedAction, ReadViews } from '../../transactions/family.ts'
import { units } from '../../transactions/wallet.ts'
import { irmAbi, morphoAbi, morphoOracleAbi } from './abis.ts'
import type { MorphoParams } from './market.ts'

export interface MorphoRef extends MarketRef {
  readonly protocol: 'morpho-blue'
  /** The id is the hash of these. The zero address: none. */
  readonly params: MorphoParams
}

/**
 * Morpho Blue. What is lent and borrowed is the loan asset, what secures is the collateral asset. Everything is withdrawn
 * and repaid by shares: they do not change while interest accrues.
 */
export const morphoBlue = defineBorrowFamily({
  protocol: 'morpho-blue',

  async figures(market: MorphoRef, asset, read) {
    // The contract keeps no sum of the collateral of a market.
    if (asset.side === 'collateral') return undefined
    const { block, values } = await read({ stored: storedView(market) })
    const { rate, state } = await accrued(market, values.stored, block.timestamp, read)
    const { supplyAssets, supplyShares, borrowAssets, borrowShares, feeWad } = state
    const borrowRate = rate === undefined ? undefined : yearlyOfWad(rate)
    const index = (assets: bigint, shares: bigint) => ratio((assets + 1n) * 1_000_000n, shares + 1_000_000n)
    return {
      block,
      borrowRate,
      supplyRate:
        borrowRate === undefined
          ? undefined
          : borrowRate * ratio(borrowAssets, supplyAssets) * (1 - fractionOfWad(feeWad)),
      supplied: supplyAssets,
      borrowed: borrowAssets,
      supplyIndex: index(supplyAssets, supplyShares),
      borrowIndex: index(borrowAssets, borrowShares),
    }
  },

  read: readPosition,

  bounds: position => ({
    // There are no caps and no pauses.
    supply: tightest(),
    withdraw: withdrawBound(position),
    borrow: borrowBound(position),
    repay: owedBound(position),
  }),

  steps: position => ({
    supply: ['approve', 'supply'],
    withdraw: ['withdraw'],
    borrow: isLoan(position) ? ['borrow'] : [],
    repay: isLoan(position) ? ['approve', 'repay'] : [],
  }),

  // Amounts of a loan are of either kind: assets, or shares where assets are 0.
  actions: {
    supply(position, { value }) {
      const { user, params, state } = position
      if (!isLoan(position)) {
        const args = [params, value, user, '0x'] as const
        const data = encodeFunctionData({ abi: morphoAbi, functionName: 'supplyCollateral', args })
        return [call(position, 'supply', data)]
      }
      if (toSharesDown(value, state.supplyAssets, state.supplyShares) === 0n)
        throw new RefusedError('The amount is too small: it would give no shares of the market.')
      const args = [params, value, 0n, user, '0x'] as const
      const data = encodeFunctionData({ abi: morphoAbi, functionName: 'supply', args })
      return [call(position, 'supply', data)]
    },

    withdraw(position, { value, isAll }) {
      const { user, params, held } = position
      if (!isLoan(position)) {
        const args = [params, value, user, user] as const
        const data = encodeFunctionData({ abi: morphoAbi, functionName: 'withdrawCollateral', args })
        return [call(position, 'withdraw', data)]
      }
      const [assets, shares] = isAll ? [0n, held.supplyShares] : [value, 0n]
      const args = [params, assets, shares, user, user] as const
      const data = encodeFunctionData({ abi: morphoAbi, functionName: 'withdraw', args })
      return [call(position, 'withdraw', data)]
    },

    borrow(position, { value }) {
      const { user, params } = position
      const args = [params, value, 0n, user, user] as const
      const data = encodeFunctionData({ abi: morphoAbi, functionName: 'borrow', args })
      return [call(position, 'borrow', data)]
    },

    repay(position, { value, isAll }) {
      const { user, params, held } = position
      const [assets, shares] = isAll ? [0n, held.borrowShares] : [value, 0n]
      const args = [params, assets, shares, user, '0x'] as const
      const data = encodeFunctionData({ abi: morphoAbi, functionName: 'repay', args })
      return [call(position, 'repay', data)]
    },
  },

  // Repaid as an amount, the whole debt could come to more shares than are owed, and that reverts.
  repaysAll: ({ state, held }, value) =>
    toSharesDown(value, state.borrowAssets, state.borrowShares) >= held.borrowShares,
})

type Stored = ContractFunctionReturnType<typeof morphoAbi, 'view', 'market'>

const storedView = (market: MorphoRef) =>
  view(morphoAbi, market.root as Address, 'market', [market.id as Hex])

/** The totals with interest up to the block, and the rate (per second, 1e18) that they grow at from there. */
async function accrued(market: MorphoRef, stored: Stored | undefined, at: number, read: ReadViews) {
  const params = paramsOf(market)
  if (!stored || stored.lastUpdate === 0n) {
    throw new RefusedError(`The contract ${market.root} knows no market ${market.id}.`)
  }
  const rate =
    params.irm === zeroAddress
      ? 0n
      : (await read({ rate: view(irmAbi, params.irm, 'borrowRateView', [params, stored]) })).values.rate
  const totals: MorphoMarket = {
    supplyAssets: stored.totalSupplyAssets,
    supplyShares: stored.totalSupplyShares,
    borrowAssets: stored.totalBorrowAssets,
    borrowShares: stored.totalBorrowShares,
    lastUpdate: Number(stored.lastUpdate),
    feeWad: stored.fee,
  }
  return { rate, state: accrueMorpho(totals, rate ?? 0n, at).market }
}

const paramsOf = ({ params }: MorphoRef) => ({
  loanToken: params.loanToken as Address,
  collateralToken: params.collateralToken as Address,
  oracle: params.oracle as Address,
  irm: params.irm as Address,
  lltv: params.lltv,
})

interface Position extends BorrowPosition {
  params: ReturnType<typeof paramsOf>
  held: MorphoPosition
  price: bigint | undefined
  /** The market at the block, and when the transaction lands at the latest. */
  state: MorphoMarket
  landed: MorphoMarket
}

const isLoan = ({ asset }: Position): boolean => asset.side === 'loan'

async function readPosition(
  market: MorphoRef,
  asset: MarketAssetRef,
  user: Address,
  read: ReadViews,
): Promise<Position> {
  const morpho = market.root as Address
  const params = paramsOf(market)
  const token = tokenOf(asset)
  const { block, values } = await read({
    stored: storedView(market),
    position: view(morphoAbi, morpho, 'position', [market.id as Hex, user]),
    wallet: view(erc20Abi, token.address, 'balanceOf', [user]),
    allowance: view(erc20Abi, token.address, 'allowance', [user, morpho]),
    price: view(morphoOracleAbi, params.oracle, 'price', []),
  })
  const { rate = 0n, state } = await accrued(market, values.stored, block.timestamp, read)
  const { price, wallet = 0n, allowance = 0n } = values
  const [supplyShares = 0n, borrowShares = 0n, collateral = 0n] = values.position ?? []
  const held = { supplyShares, borrowShares, collateral }
  const stateIn = (seconds: number) => accrueMorpho(state, rate, block.timestamp + seconds).market
  const { supplied, borrowed } = morphoBalances(held, state)
  const own = asset.side === 'loan' ? { supplied, borrowed } : { supplied: collateral, borrowed: 0n }
  return {
    block,
    user,
    asset,
    token,
    contract: morpho,
    balances: { ...own, wallet, allowance },
    owedIn: seconds => morphoBalances(held, stateIn(seconds)).borrowed,
    params,
    held,
    price,
    state,
    landed: stateIn(LANDING_SECONDS),
  }
}

const cashOf = ({ state }: Position): bigint => state.supplyAssets - state.borrowAssets

const cashBound = (position: Position): Bound => ({
  most: cashOf(position),
  because: `The market has ${units(cashOf(position), position.token)} that are not lent out.`,
})

function withdrawBound(position: Position): Bound {
  const { held } = position
  if (isLoan(position)) return tightest(suppliedBound(position), cashBound(position))
  return tightest(suppliedBound(position), {
    most:
      held.borrowShares === 0n
        ? held.collateral
        : largest(held.collateral, less => isHealthy(position, { less })),
    because: `With less collateral the position would not be healthy.${noPrice(position)}`,
  })
}

function borrowBound(position: Position): Bound {
  return tightest(cashBound(position), {
    most: isLoan(position) ? largest(cashOf(position), more => isHealthy(position, { more })) : 0n,
    because: `With more debt the position would not be healthy.${noPrice(position)}`,
  })
}

const noPrice = ({ price }: Position): string =>
  price === undefined ? " The market's oracle does not answer." : ''

/** _isHealthy, with the interest until it lands: `more` borrowed, `less` collateral. */
function isHealthy(
  { held, landed, price, params }: Position,
  { more = 0n, less = 0n }: { more?: bigint; less?: bigint },
): boolean {
  const { borrowAssets, borrowShares } = landed
  const added = more === 0n ? 0n : toSharesUp(more, borrowAssets, borrowShares)
  const shares = held.borrowShares + added
  if (shares === 0n) return true
  const debt = toAssetsUp(shares, borrowAssets + more, borrowShares + added)
  return price !== undefined && debt <= morphoMaxBorrow(held.collateral - less, price, params.lltv)
}

const call = ({ contract }: Position, name: string, data: Hex): PlannedAction => ({
  name,
  to: contract,
  data,
})
