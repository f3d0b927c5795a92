import { type Address, encodeFunctionData, maxUint256 } from 'viem'
import { WAD } from '../../../db/units.ts'
import { type View, view } from '../../chain/view.ts'
import { toWhole } from '../../http/amounts.ts'
import { RefusedError } from '../../http/errors.ts'
import { yearlyOfWad } from '../../lending/market.ts'
import { erc20Abi } from '../../transactions/abis.ts'
import {
  type Bound,
  capped,
  closed,
  LANDING_SECONDS,
  largest,
  owedBound,
  suppliedBound,
  tightest,
  tokenOf,
} from '../../transactions/borrow/bounds.ts'
import {
  answeredBy,
  type BorrowPosition,
  type MarketAssetRef,
  type MarketRef,
} from '../../transactions/borrow/family.ts'
import { defineBorrowFamily } from '../../transactions/borrow/standing.ts'
import type { PlannedAction, ReadViews } from '../../transactions/family.ts'
import { units } from '../../transactions/wallet.ts'
import { cometAbi, cometMarketAbi } from './abis.ts'

export interface CometRef extends MarketRef {
  readonly protocol: 'compound-v3'
}

/** Bits of pauseFlags. @see CometCore.sol */
const supplyPaused = 1
const withdrawPaused = 4

interface Collateral {
  asset: Address
  priceFeed: Address
  scale: bigint
  borrowCollateralFactor: bigint
  supplyCap: bigint
}

/**
 * Compound v3. A market lends one base asset against several collateral assets. An account's base balance is lent or
 * owed, never both: what is supplied while it owes repays, what is withdrawn beyond the supply borrows.
 */
export const compoundV3 = defineBorrowFamily({
  protocol: 'compound-v3',

  async figures({ root }: CometRef, asset, read) {
    const comet = root as Address
    const { block, totals, supplied, borrowed, supplyRate, borrowRate } = await readMarket(comet, read)
    if (asset.side === 'collateral') {
      const { values } = await read({
        total: view(cometMarketAbi, comet, 'totalsCollateral', [asset.info.address as Address]),
      })
      return {
        block,
        supplyRate: 0,
        borrowRate: 0,
        supplied: answeredBy(comet, values.total),
        borrowed: 0n,
        supplyIndex: 1,
        borrowIndex: 1,
      }
    }
    const elapsed = BigInt(block.timestamp - totals.lastAccrualTime)
    const index = (stored: bigint, rate = 0n) => toWhole(stored + (stored * rate * elapsed) / WAD, 15)
    return {
      block,
      supplyRate: supplyRate === undefined ? undefined : yearlyOfWad(supplyRate),
      borrowRate: borrowRate === undefined ? undefined : yearlyOfWad(borrowRate),
      supplied: answeredBy(comet, supplied),
      borrowed: answeredBy(comet, borrowed),
      supplyIndex: index(totals.baseSupplyIndex, supplyRate),
      borrowIndex: index(totals.baseBorrowIndex, borrowRate),
    }
  },

  read: readPosition,

  bounds: position => ({
    supply: supplyBound(position),
    withdraw: withdrawBound(position),
    borrow: borrowBound(position),
    repay: tightest(owedBound(position), ...closed(supplyPause(position))),
  }),

  steps: ({ isBase }) => ({
    supply: ['approve', 'supply'],
    withdraw: ['withdraw'],
    borrow: isBase ? ['borrow'] : [],
    repay: isBase ? ['approve', 'repay'] : [],
  }),

  actions: {
    supply: (position, { value }) => [call(position, 'supply', 'supply', value)],

    withdraw(position, { value, isAll }) {
      // The base balance grows until the transaction lands: only the market can name all of it.
      const amount = position.isBase && isAll ? maxUint256 : value
      return [call(position, 'withdraw', 'withdraw', amount)]
    },

    borrow(position, { value }) {
      if (value < leastLoan(position)) throw new RefusedError(tooSmall(position))
      return [call(position, 'borrow', 'withdraw', value)]
    },

    repay: (position, { value, isAll }) => [call(position, 'repay', 'supply', isAll ? maxUint256 : value)],
  },
})

/** What the market says of itself: its state, and the collateral assets it takes. */
async function readMarket(comet: Address, read: ReadViews) {
  const { block, values } = await read({
    base: view(cometAbi, comet, 'baseToken', []),
    baseFeed: view(cometMarketAbi, comet, 'baseTokenPriceFeed', []),
    scale: view(cometMarketAbi, comet, 'baseScale', []),
    least: view(cometMarketAbi, comet, 'baseBorrowMin', []),
    totals: view(cometMarketAbi, comet, 'totalsBasic', []),
    count: view(cometMarketAbi, comet, 'numAssets', []),
    utilization: view(cometMarketAbi, comet, 'getUtilization', []),
    supplied: view(cometMarketAbi, comet, 'totalSupply', []),
    borrowed: view(cometMarketAbi, comet, 'totalBorrow', []),
  })
  const { base, baseFeed, scale, totals, utilization = 0n } = values
  if (!base || !baseFeed || !scale || !totals)
    throw new RefusedError(`The contract ${comet} is no Compound v3 market.`)
  const more: Record<string, View<unknown>> = {
    supplyRate: view(cometMarketAbi, comet, 'getSupplyRate', [utilization]),
    borrowRate: view(cometMarketAbi, comet, 'getBorrowRate', [utilization]),
  }
  for (let n = 0; n < (values.count ?? 0); n++)
    more[`asset ${n}`] = view(cometMarketAbi, comet, 'getAssetInfo', [n])
  const { values: second } = await read(more)
  const { supplyRate, borrowRate, ...assets } = second
  return {
    block,
    base: base.toLowerCase() as Address,
    baseFeed,
    scale,
    totals,
    least: values.least ?? 0n,
    supplied: values.supplied,
    borrowed: values.borrowed,
    /** Per second, scaled by 1e18. */
    supplyRate: supplyRate as bigint | undefined,
    borrowRate: borrowRate as bigint | undefined,
    collaterals: Object.values(assets).filter(of => of !== undefined) as Collateral[],
  }
}

type Market = Awaited<ReturnType<typeof readMarket>>

interface HeldCollateral extends Collateral {
  held: bigint
  price: bigint
}

interface Position extends BorrowPosition {
  market: Market
  /** Of the base asset, whichever asset this is the position of. */
  lent: bigint
  debt: bigint
  cash: bigint
  basePrice: bigint | undefined
  collaterals: readonly HeldCollateral[]
  isBase: boolean
  /** The asset, where it is a collateral, and what all accounts have supplied of it. */
  own: HeldCollateral | undefined
  ownTotal: bigint
}

async function readPosition(
  { root }: CometRef,
  asset: MarketAssetRef,
  user: Address,
  read: ReadViews,
): Promise<Position> {
  const comet = root as Address
  const token = tokenOf(asset)
  const market = await readMarket(comet, read)
  const { block, base, borrowRate = 0n } = market
  const views: Record<string, View<unknown>> = {
    lent: view(erc20Abi, comet, 'balanceOf', [user]),
    owed: view(cometAbi, comet, 'borrowBalanceOf', [user]),
    wallet: view(erc20Abi, token.address, 'balanceOf', [user]),
    allowance: view(erc20Abi, token.address, 'allowance', [user, comet]),
    cash: view(erc20Abi, base, 'balanceOf', [comet]),
    basePrice: view(cometMarketAbi, comet, 'getPrice', [market.baseFeed]),
    total: view(cometMarketAbi, comet, 'totalsCollateral', [token.address]),
  }
  for (const { asset: of, priceFeed } of market.collaterals) {
    views[`held ${of}`] = view(cometMarketAbi, comet, 'collateralBalanceOf', [user, of])
    views[`price ${of}`] = view(cometMarketAbi, comet, 'getPrice', [priceFeed])
  }
  const { values } = await read(views)
  const amount = (key: string) => (values[key] as bigint | undefined) ?? 0n
  const collaterals = market.collaterals.map(
    (of): HeldCollateral => ({ ...of, held: amount(`held ${of.asset}`), price: amount(`price ${of.asset}`) }),
  )
  const isBase = token.address === base
  const own = collaterals.find(of => of.asset.toLowerCase() === token.address)
  if (!isBase && !own) throw new RefusedError(`The market ${comet} takes no ${token.symbol}.`)
  const [lent, debt] = [amount('lent'), amount('owed')]
  return {
    block,
    user,
    asset,
    token,
    contract: comet,
    balances: {
      supplied: isBase ? lent : (own?.held ?? 0n),
      borrowed: isBase ? debt : 0n,
      wallet: amount('wallet'),
      allowance: amount('allowance'),
    },
    owedIn: seconds =>
      debt === 0n ? 0n : debt + (debt * borrowRate * BigInt(seconds)) / WAD + debt / 10n ** 15n + 1n,
    market,
    lent,
    debt,
    cash: amount('cash'),
    basePrice: values['basePrice'] as bigint | undefined,
    collaterals,
    isBase,
    own,
    ownTotal: amount('total'),
  }
}

const isPaused = ({ market }: Position, flag: number): boolean => (market.totals.pauseFlags & flag) !== 0

const supplyPause = (position: Position): string | undefined =>
  isPaused(position, supplyPaused) ? 'Supply is paused, and with it repayment.' : undefined

const withdrawPause = (position: Position): string | undefined =>
  isPaused(position, withdrawPaused) ? 'Withdrawals are paused, and with them loans.' : undefined

const cashBound = ({ cash, token }: Position): Bound => ({
  most: cash,
  because: `The market holds ${units(cash, token)}.`,
})

function supplyBound(position: Position): Bound {
  const { isBase, debt, token, own, ownTotal } = position
  return tightest(
    ...closed(supplyPause(position)),
    ...closed(
      isBase && debt > 0n
        ? `The wallet owes ${units(debt, token)} to this market: what is supplied would repay that. Use repay.`
        : undefined,
    ),
    ...capped('supply', own?.supplyCap, ownTotal, token),
  )
}

function withdrawBound(position: Position): Bound {
  const { isBase, debt, balances } = position
  const covered = (): Bound => ({
    most: debt === 0n ? balances.supplied : largest(balances.supplied, less => isCovered(position, { less })),
    because: 'With less collateral the position would not be healthy.',
  })
  return tightest(
    suppliedBound(position),
    ...closed(withdrawPause(position)),
    isBase ? cashBound(position) : covered(),
  )
}

function borrowBound(position: Position): Bound {
  const { isBase, lent, cash, token } = position
  const bound = tightest(
    ...closed(withdrawPause(position)),
    ...closed(
      lent > 0n
        ? `The wallet has supplied ${units(lent, token)} to this market: what is borrowed would be taken from that. Withdraw it first.`
        : undefined,
    ),
    cashBound(position),
    {
      most: isBase ? largest(cash, more => isCovered(position, { more })) : 0n,
      because: 'With more debt the position would not be healthy.',
    },
  )
  return bound.most > 0n && bound.most < leastLoan(position)
    ? { most: 0n, because: `${tooSmall(position)} ${bound.because}` }
    : bound
}

/** What has to be borrowed at least: a debt may not be smaller than the market's minimum. */
const leastLoan = ({ market: { least }, debt }: Position): bigint => (least > debt ? least - debt : 0n)

const tooSmall = ({ market: { least }, token }: Position): string =>
  `A loan from this market has to be at least ${units(least, token)}.`

/** isBorrowCollateralized, with the interest until it lands: `more` borrowed, `less` of this collateral. */
function isCovered(
  { market: { scale }, collaterals, own, basePrice, owedIn }: Position,
  { more = 0n, less = 0n }: { more?: bigint; less?: bigint },
): boolean {
  const owes = owedIn(LANDING_SECONDS) + more
  if (owes === 0n) return true
  if (basePrice === undefined) return false
  let liquidity = -((owes * basePrice + scale - 1n) / scale)
  for (const of of collaterals) {
    const value = ((of.held - (of === own ? less : 0n)) * of.price) / of.scale
    liquidity += (value * of.borrowCollateralFactor) / WAD
  }
  return liquidity >= 0n
}

function call(
  { contract, token }: Position,
  name: string,
  functionName: 'supply' | 'withdraw',
  value: bigint,
): PlannedAction {
  const args = [token.address, value] as const
  return { name, to: contract, data: encodeFunctionData({ abi: cometAbi, functionName, args }) }
}
