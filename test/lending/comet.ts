import type { Address } from 'viem'
import { expect } from 'vitest'
import {
  accrueComet,
  type CometTotals,
  cometAccount,
  cometAmounts,
  cometBalances,
  cometRate,
  cometUtilization,
} from '../../abi/compound-v3/math.ts'
import { type CometMarket, cometAbi } from '../chain/comet.ts'
import { big, lastRows, type Walk } from './rows.ts'

const RATES = 'kink_wad, rate_base_wad, rate_slope_low_wad, rate_slope_high_wad'.split(', ')

const EMPTY_SUPPLIES = `
  SELECT JSONExtractString(data, 'onBehalf') AS account FROM event
  WHERE type = 'Supplied' AND JSONExtractString(data, 'assets') = '0' AND block_number <= {block:UInt64}
    AND (stream, position) NOT IN (SELECT stream, position FROM retracted)`

/** Totals, rates, balances and what the market says of the health of accounts, at a block. */
export async function compareComet(
  { node, pipeline, everyone, counted }: Walk,
  comet: CometMarket,
  block: number,
  time: number,
): Promise<void> {
  const { address } = comet
  const read = (functionName: string, ...args: unknown[]) =>
    node.client.readContract({
      address,
      abi: cometAbi,
      functionName,
      args,
      blockNumber: BigInt(block),
    } as Parameters<typeof node.client.readContract>[0])
  const same = (found: unknown[], expected: unknown[], what: string) => {
    expect(found, `${what} at ${block}`).toEqual(expected)
    counted.values += found.length
  }
  const [config] = await lastRows(
    pipeline,
    'comet_market',
    'comet',
    `base_scale, ${['supply', 'borrow'].flatMap(side => RATES.map(name => `${side}_${name}`)).join(', ')}`,
    block,
  )
  const assets = await lastRows(
    pipeline,
    'comet_asset',
    'asset',
    'scale, borrow_collateral_factor_wad, liquidate_collateral_factor_wad',
    block,
  )
  const [state] = await lastRows(
    pipeline,
    'comet_state',
    'comet',
    'supply_index, borrow_index, supply_principal, borrow_principal, updated_at, reserves',
    block,
  )
  const principals = await lastRows(pipeline, 'comet_principal', 'account', 'principal', block)
  const shares = await lastRows(pipeline, 'balance', 'vault, holder', 'balance', block)
  const empty = await pipeline.rows<Record<string, unknown>>(EMPTY_SUPPLIES, { block })
  const collaterals = await lastRows(pipeline, 'comet_collateral', 'account, asset', 'balance', block)
  const collateralTotals = await lastRows(pipeline, 'comet_collateral_total', 'asset', 'total', block)
  const prices = await lastRows(pipeline, 'feed_price', 'feed', 'answer', block)
  const model = (side: 'supply' | 'borrow') => {
    const [kink = 0n, base = 0n, slopeLow = 0n, slopeHigh = 0n] = RATES.map(name =>
      big(config?.[`${side}_${name}`]),
    )
    return { kink, base, slopeLow, slopeHigh }
  }
  const rates = { supply: model('supply'), borrow: model('borrow') }
  const stored: CometTotals = {
    supplyIndex: big(state?.['supply_index']),
    borrowIndex: big(state?.['borrow_index']),
    supplyPrincipal: big(state?.['supply_principal']),
    borrowPrincipal: big(state?.['borrow_principal']),
    updatedAt: Number(state?.['updated_at']),
  }
  const totals = accrueComet(stored, rates, time)
  const utilization = cometUtilization(stored)
  const { supplied, borrowed } = cometAmounts(totals)
  same(
    [
      supplied,
      borrowed,
      utilization,
      cometRate(rates.supply, utilization),
      cometRate(rates.borrow, utilization),
    ],
    [
      await read('totalSupply'),
      await read('totalBorrow'),
      await read('getUtilization'),
      await read('getSupplyRate', utilization),
      await read('getBorrowRate', utilization),
    ],
    'totals',
  )
  const priceOf = ({ proxy }: { proxy: Address }) =>
    big(prices.find(price => price['feed'] === proxy)?.['answer'])
  for (const { token, feed } of comet.collaterals) {
    const total = collateralTotals.find(row => row['asset'] === token.address)
    same(
      [big(total?.['total']), priceOf(feed)],
      [await read('totalsCollateral', token.address), await read('getPrice', feed.proxy)],
      token.symbol,
    )
  }
  await Promise.all(
    everyone.map(async account => {
      const principal = big(principals.find(row => row['account'] === account)?.['principal'])
      const balances = cometBalances(principal, totals)
      const held = comet.collaterals.map(({ token, feed }) => {
        const row = collaterals.find(of => of['account'] === account && of['asset'] === token.address)
        const asset = assets.find(of => of['asset'] === token.address)
        return {
          balance: big(row?.['balance']),
          price: priceOf(feed),
          scale: big(asset?.['scale']),
          borrowCollateralFactor: big(asset?.['borrow_collateral_factor_wad']),
          liquidateCollateralFactor: big(asset?.['liquidate_collateral_factor_wad']),
        }
      })
      const base = { price: priceOf(comet.base.feed), scale: big(config?.['base_scale']) }
      const health = cometAccount(cometBalances(principal, stored).borrowed, base, held)
      const asVault = shares.find(row => row['vault'] === address && row['holder'] === account)
      // A supply of nothing rounds the lender's principal down by a unit that no log tells of.
      const untold = empty.filter(row => row['account'] === account).length
      const lost = big(asVault?.['balance']) - (principal > 0n ? principal : 0n)
      expect(lost >= 0n && lost <= BigInt(untold), `${account} at ${block} has ${lost} too many`).toBe(true)
      same(
        [
          balances.supplied,
          balances.borrowed,
          ...held.map(({ balance }) => balance),
          health.isBorrowCollateralized,
          health.isLiquidatable,
        ],
        [
          await read('balanceOf', account),
          await read('borrowBalanceOf', account),
          ...(await Promise.all(
            comet.collaterals.map(({ token }) => read('collateralBalanceOf', account, token.address)),
          )),
          await read('isBorrowCollateralized', account),
          await read('isLiquidatable', account),
        ],
        account,
      )
    }),
  )
}
