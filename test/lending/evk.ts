import type { Address } from 'viem'
import { expect } from 'vitest'
import {
  accrueEvk,
  assetsOfShares,
  type EvkVault,
  evkLiquidity,
  liquidationLtv,
  owedAssets,
  owedLater,
} from '../../abi/euler/math.ts'
import { type EvkMarket, eulerRouterAbi, evcAbi, evkAbi, USD } from '../chain/evk.ts'
import { big, lastRows, type Walk } from './rows.ts'

/** Of the interest; a constant of EvkLike. */
const FEE_BPS = 1_000n
const WHOLE = 10n ** 18n

const secondsOf = (row: Record<string, string> | undefined) =>
  Date.parse(`${row?.['timestamp']?.replace(' ', 'T')}Z`) / 1000
const lower = (address: unknown) => String(address).toLowerCase()

/**
 * Vaults' totals, rates and fees, debts and shares of accounts, LTVs, what is enabled, and, where no price has moved since
 * it was read, what the lender weighs in a liquidation. Gives how many accounts with a debt were weighed.
 */
export async function compareEvk(
  { node, pipeline, everyone, counted }: Walk,
  { lender, collateral, connector, router }: EvkMarket,
  block: number,
  time: number,
): Promise<number> {
  const blockNumber = BigInt(block)
  const read = (address: Address, functionName: string, args: unknown[] = []) =>
    node.client.readContract({ address, abi: evkAbi, functionName, args, blockNumber } as Parameters<
      typeof node.client.readContract
    >[0])
  const same = (found: unknown[], expected: unknown[], what: string) => {
    expect(found, `${what} at ${block}`).toEqual(expected)
    counted.values += found.length
  }
  const rows = (table: string, keys: string, columns: string) =>
    lastRows(pipeline, table, keys, columns, block)
  const statuses = await rows(
    'evk_status',
    'vault',
    'total_shares, total_borrows, accumulated_fees, cash, accumulator_ray, interest_rate_ray, timestamp',
  )
  const totals = await rows('evk_total', 'vault', 'owed, accumulator_ray')
  const debts = await rows('evk_debt', 'account, vault', 'owed, accumulator_ray')
  const shares = await rows('balance', 'vault, holder', 'balance')
  const prices = await rows('oracle_price', 'market, asset', 'price')
  const [ltv] = await rows(
    'evk_ltv',
    'vault, collateral',
    'borrow_ltv_bps, liquidation_ltv_bps, initial_liquidation_ltv_bps, target_at, ramp_seconds',
  )
  const enabled = await rows('evk_enabled', 'account, role, vault', 'enabled')

  const vaultAt = async (vault: Address): Promise<EvkVault> => {
    const status = statuses.find(row => row['vault'] === vault)
    const stored = {
      accumulator: big(status?.['accumulator_ray']),
      interestRate: big(status?.['interest_rate_ray']),
      owed: big(totals.find(row => row['vault'] === vault)?.['owed']),
      cash: big(status?.['cash']),
      totalShares: big(status?.['total_shares']),
      accumulatedFees: big(status?.['accumulated_fees']),
      updatedAt: secondsOf(status),
    }
    // The log rounds what the read has with its fraction.
    expect(owedAssets(stored.owed)).toBe(big(status?.['total_borrows']))
    const at = status ? accrueEvk(stored, FEE_BPS, time) : stored
    if (status)
      same(
        [at.accumulator, at.interestRate, at.cash, owedAssets(at.owed), at.totalShares, at.accumulatedFees],
        await Promise.all(
          [
            'interestAccumulator',
            'interestRate',
            'cash',
            'totalBorrows',
            'totalSupply',
            'accumulatedFees',
          ].map(name => read(vault, name)),
        ),
        `vault ${vault}`,
      )
    return at
  }
  const lends = await vaultAt(lender.address)
  const secures = await vaultAt(collateral.address)
  const ramp = {
    liquidationBps: Number(ltv?.['liquidation_ltv_bps']),
    initialBps: Number(ltv?.['initial_liquidation_ltv_bps']),
    targetAt: Number(ltv?.['target_at']),
    rampSeconds: Number(ltv?.['ramp_seconds']),
  }
  const liquidationBps = liquidationLtv(ramp, time)
  same(
    [Number(ltv?.['borrow_ltv_bps']), liquidationBps],
    [
      await read(lender.address, 'LTVBorrow', [collateral.address]),
      await read(lender.address, 'LTVLiquidation', [collateral.address]),
    ],
    'LTV',
  )

  const market = lender.address
  const priceOf = (asset: string) =>
    big(prices.find(row => row['market'] === market && row['asset'] === asset)?.['price'])
  const price = { loan: priceOf(lender.token.address), collateral: priceOf(collateral.address) }
  const quote = (of: Address) =>
    node.client.readContract({
      address: router,
      abi: eulerRouterAbi,
      functionName: 'getQuote',
      args: [WHOLE, of, USD],
      blockNumber,
    })
  const isCurrent =
    (price.loan * WHOLE) / 10n ** 36n === (await quote(lender.token.address)) &&
    (price.collateral * WHOLE) / 10n ** 36n === (await quote(collateral.token.address))

  const vaultsOf = (account: string, role: string) =>
    enabled
      .filter(row => row['account'] === account && row['role'] === role && row['enabled'] === '1')
      .map(row => row['vault'])
  const listed = async (functionName: 'getControllers' | 'getCollaterals', account: Address) =>
    (
      await node.client.readContract({
        address: connector,
        abi: evcAbi,
        functionName,
        args: [account],
        blockNumber,
      })
    )
      .map(lower)
      .sort()
  let weighed = 0
  await Promise.all(
    everyone.map(async account => {
      const debt = debts.find(row => row['account'] === account && row['vault'] === lender.address)
      const owed = owedAssets(
        owedLater(big(debt?.['owed']), big(debt?.['accumulator_ray']), lends.accumulator),
      )
      const sharesIn = (vault: string) =>
        big(shares.find(row => row['holder'] === account && row['vault'] === vault)?.['balance'])
      const [lent, held] = [sharesIn(lender.address), sharesIn(collateral.address)]
      const isSecured = vaultsOf(account, 'collateral').includes(collateral.address)
      same(
        [
          owed,
          lent,
          assetsOfShares(lent, lends),
          held,
          assetsOfShares(held, secures),
          vaultsOf(account, 'controller').sort(),
          vaultsOf(account, 'collateral').sort(),
        ],
        [
          await read(lender.address, 'debtOf', [account]),
          await read(lender.address, 'balanceOf', [account]),
          await read(lender.address, 'convertToAssets', [lent]),
          await read(collateral.address, 'balanceOf', [account]),
          await read(collateral.address, 'convertToAssets', [held]),
          await listed('getControllers', account),
          await listed('getCollaterals', account),
        ],
        account,
      )
      // Without a controller the vault refuses to weigh an account.
      if (!isCurrent || owed === 0n) return
      weighed++
      const worth = { assets: assetsOfShares(held, secures), price: price.collateral, liquidationBps }
      const { limit, liability } = evkLiquidity({ assets: owed, price: price.loan }, isSecured ? [worth] : [])
      same(
        [limit, liability],
        (await read(lender.address, 'accountLiquidity', [account, true])) as bigint[],
        `liquidity of ${account}`,
      )
    }),
  )
  return weighed
}
