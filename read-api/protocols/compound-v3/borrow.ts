import { type Address, encodeFunctionData, maxUint256 } from 'viem'
import { type View, view } from '../../chain/view.ts'
import { toWhole } from '../../http/amounts.ts'
import { RefusedError } from '../../http/errors.ts'
import { yearlyOfWad } from '../../lending/market.ts'
import { erc20Abi } from '../../transactions/abis.ts'
import {
  amountWithin,
  type Bound,
  closed,
  hasNone,
  LANDING_SECONDS,
  largest,
  payingPlan,
  refuseShortWallet,
  repayment,
  tightest,
  tokenOf,
  walletBound,
} from '../../transactions/borrow/bounds.ts'
import {
  answeredBy,
  type BorrowRequest,
  defineBorrowFamily,
  type MarketRef,
} from '../../transactions/borrow/family.ts'
import type { Plan, PlannedAction, ReadViews } from '../../transactions/family.ts'
import { singlePlan, units } from '../../transactions/wallet.ts'
import { cometAbi, cometMarketAbi } from './abis.ts'

export interface CometRef extends MarketRef {
  readonly protocol: 'compound-v3'
}

const wad = 10n ** 18n
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

/**
 * Compound v3. A market lends one base asset against several collateral assets. An account's base balance is lent or
 * owed, never both: what is supplied while it owes repays, what is withdrawn beyond the supply borrows.
 */
export const compoundV3 = defineBorrowFamily<CometRef>({
  protocol: 'compound-v3',

  async figures({ root }, asset, read) {
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
    const index = (stored: bigint, rate = 0n) => toWhole(stored + (stored * rate * elapsed) / wad, 15)
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

  async look({ root }, asset, user, read) {
    const comet = root as Address
    const token = tokenOf(asset)
    const market = await readMarket(comet, read)
    const { block, base, least, scale, totals, borrowRate = 0n, collaterals } = market
    const views: Record<string, View<unknown>> = {
      lent: view(erc20Abi, comet, 'balanceOf', [user]),
      owed: view(cometAbi, comet, 'borrowBalanceOf', [user]),
      wallet: view(erc20Abi, token.address, 'balanceOf', [user]),
      allowance: view(erc20Abi, token.address, 'allowance', [user, comet]),
      cash: view(erc20Abi, base, 'balanceOf', [comet]),
      basePrice: view(cometMarketAbi, comet, 'getPrice', [market.baseFeed]),
      total: view(cometMarketAbi, comet, 'totalsCollateral', [token.address]),
    }
    for (const { asset: of, priceFeed } of collaterals) {
      views[`held ${of}`] = view(cometMarketAbi, comet, 'collateralBalanceOf', [user, of])
      views[`price ${of}`] = view(cometMarketAbi, comet, 'getPrice', [priceFeed])
    }
    const { values } = await read(views)
    const amount = (key: string) => (values[key] as bigint | undefined) ?? 0n
    const [lent, debt, wallet, allowance, cash] = [
      amount('lent'),
      amount('owed'),
      amount('wallet'),
      amount('allowance'),
      amount('cash'),
    ]
    const isBase = token.address === base
    const own = collaterals.find(of => of.asset.toLowerCase() === token.address)
    if (!isBase && !own) throw new RefusedError(`The market ${comet} takes no ${token.symbol}.`)
    const supplied = isBase ? lent : amount(`held ${own?.asset}`)

    const owedIn = (seconds: number) =>
      debt === 0n ? 0n : debt + (debt * borrowRate * BigInt(seconds)) / wad + debt / 10n ** 15n + 1n

    /** isBorrowCollateralized, with the interest until it lands: `more` borrowed, `less` of this collateral. */
    const isCovered = (more: bigint, less: bigint): boolean => {
      const owes = owedIn(LANDING_SECONDS) + more
      if (owes === 0n) return true
      let liquidity = -((owes * amount('basePrice') + scale - 1n) / scale)
      if (values['basePrice'] === undefined) return false
      for (const of of collaterals) {
        const held = amount(`held ${of.asset}`) - (of === own ? less : 0n)
        const value = (held * amount(`price ${of.asset}`)) / of.scale
        liquidity += (value * of.borrowCollateralFactor) / wad
      }
      return liquidity >= 0n
    }

    const isPaused = (flag: number) => (totals.pauseFlags & flag) !== 0
    const supplyClosed = isPaused(supplyPaused) ? 'Supply is paused, and with it repayment.' : undefined
    const withdrawClosed = isPaused(withdrawPaused)
      ? 'Withdrawals are paused, and with them loans.'
      : undefined
    const cashBound: Bound = { most: cash, because: `The market holds ${units(cash, token)}.` }

    const room = own && own.supplyCap > amount('total') ? own.supplyCap - amount('total') : 0n
    const supplyBound = tightest(
      walletBound(wallet, asset),
      ...closed(supplyClosed),
      ...closed(
        isBase && debt > 0n
          ? `The wallet owes ${units(debt, token)} to this market: what is supplied would repay that. Use repay.`
          : undefined,
      ),
      ...(own ? [{ most: room, because: `The supply cap leaves room for ${units(room, token)}.` }] : []),
    )
    const withdrawBound = tightest(
      { most: supplied, because: `The wallet has supplied ${units(supplied, token)}.` },
      ...closed(withdrawClosed),
      ...(isBase
        ? [cashBound]
        : [
            {
              most: debt === 0n ? supplied : largest(supplied, less => isCovered(0n, less)),
              because: 'With less collateral the position would not be healthy.',
            },
          ]),
    )
    const anyBorrow = tightest(
      { most: maxUint256, because: '' },
      ...closed(withdrawClosed),
      ...closed(
        lent > 0n
          ? `The wallet has supplied ${units(lent, token)} to this market: what is borrowed would be taken from that. Withdraw it first.`
          : undefined,
      ),
      cashBound,
      {
        most: isBase ? largest(cash, more => isCovered(more, 0n)) : 0n,
        because: 'With more debt the position would not be healthy.',
      },
    )
    const needed = least > debt ? least - debt : 0n
    const tooSmall = `A loan from this market has to be at least ${units(least, token)}.`
    const borrowBound =
      anyBorrow.most < needed && anyBorrow.most > 0n
        ? { most: 0n, because: `${tooSmall} ${anyBorrow.because}` }
        : anyBorrow
    const owes: Bound = { most: debt, because: `The wallet owes ${units(debt, token)}.` }
    const repayBound = tightest(owes, ...closed(supplyClosed), walletBound(wallet, asset))

    const call = (name: string, functionName: 'supply' | 'withdraw', value: bigint): PlannedAction => ({
      name,
      to: comet,
      data: encodeFunctionData({ abi: cometAbi, functionName, args: [token.address, value] }),
    })

    const build = (request: BorrowRequest): Plan => {
      const { action, amount: asked } = request
      if (!isBase && (action === 'borrow' || action === 'repay'))
        throw hasNone(asset, action, ['supply', 'withdraw'])
      const pay = (need: bigint, value: bigint, last: PlannedAction) =>
        payingPlan(asset, comet, allowance, { needed: need, value, reset: request.resetAllowance }, [last])
      if (action === 'supply') {
        const value = amountWithin(request, token, wallet, supplyBound)
        return pay(value, value, call('supply', 'supply', value))
      }
      if (action === 'withdraw') {
        const value = amountWithin(request, token, supplied, withdrawBound)
        // The base balance grows until the transaction lands: only the market can name all of it.
        const all = isBase && asked === 'all'
        return singlePlan(call('withdraw', 'withdraw', all ? maxUint256 : value), [token])
      }
      if (action === 'borrow') {
        const value = amountWithin(request, token, borrowBound.most, borrowBound)
        if (value < needed) throw new RefusedError(tooSmall)
        return singlePlan(call('borrow', 'withdraw', value), [token])
      }
      if (asked !== 'all') {
        const value = amountWithin(request, token, debt, repayBound)
        return pay(value, value, call('repay', 'supply', value))
      }
      amountWithin(request, token, debt, tightest(owes, ...closed(supplyClosed)))
      const { needed: need, approved } = repayment(owedIn)
      refuseShortWallet(wallet, debt, need, asset)
      return pay(need, approved, call('repay', 'supply', maxUint256))
    }

    return {
      block,
      balances: { supplied, borrowed: isBase ? debt : 0n, wallet, allowance },
      limits: {
        maxWithdraw: withdrawBound.most,
        maxBorrow: isBase ? borrowBound.most : 0n,
        maxRepay: isBase ? repayBound.most : 0n,
      },
      steps: {
        supply: ['approve', 'supply'],
        withdraw: ['withdraw'],
        borrow: isBase ? ['borrow'] : [],
        repay: isBase ? ['approve', 'repay'] : [],
      },
      build,
    }
  },
})
