import { zeroAddress } from 'viem'
import { expect } from 'vitest'
import { accrueEvk, liquidationLtv, owedAssets, owedLater } from '../../db/lending/evk-math.ts'
import { type EvkMarket, evkAbi } from '../chain/evk.ts'
import { big, lastRows, type Walk } from './rows.ts'

/** Of the interest; a constant of EvkLike. */
const FEE_BPS = 1_000n

const secondsOf = (row: Record<string, string> | undefined) =>
  Date.parse(`${row?.['timestamp']?.replace(' ', 'T')}Z`) / 1000

/** A lending vault's totals, rates and fees, debts of accounts, LTVs and what is enabled, at a block. */
export async function compareEvk(
  { node, pipeline, everyone, counted }: Walk,
  { lender, collateral, connector }: EvkMarket,
  block: number,
  time: number,
): Promise<void> {
  const read = (functionName: string, args: unknown[] = [], address = lender.address) =>
    node.client.readContract({
      address,
      abi: evkAbi,
      functionName,
      args,
      blockNumber: BigInt(block),
    } as Parameters<typeof node.client.readContract>[0])
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
  const [ltv] = await rows(
    'evk_ltv',
    'vault, collateral',
    'borrow_ltv_bps, liquidation_ltv_bps, initial_liquidation_ltv_bps, target_at, ramp_seconds',
  )
  const enabled = await rows('evk_enabled', 'account, role, vault', 'enabled')
  const status = statuses.find(row => row['vault'] === lender.address)
  const total = totals.find(row => row['vault'] === lender.address)
  const stored = {
    accumulator: big(status?.['accumulator_ray']),
    interestRate: big(status?.['interest_rate_ray']),
    owed: big(total?.['owed']),
    cash: big(status?.['cash']),
    totalShares: big(status?.['total_shares']),
    accumulatedFees: big(status?.['accumulated_fees']),
    updatedAt: secondsOf(status),
  }
  // The log rounds what the read has with its fraction.
  expect(owedAssets(stored.owed)).toBe(big(status?.['total_borrows']))
  const vault = accrueEvk(stored, FEE_BPS, time)
  same(
    [
      vault.accumulator,
      vault.interestRate,
      vault.cash,
      owedAssets(vault.owed),
      vault.totalShares,
      vault.accumulatedFees,
    ],
    await Promise.all(
      ['interestAccumulator', 'interestRate', 'cash', 'totalBorrows', 'totalSupply', 'accumulatedFees'].map(
        name => read(name),
      ),
    ),
    'vault',
  )
  const ramp = {
    liquidationBps: Number(ltv?.['liquidation_ltv_bps']),
    initialBps: Number(ltv?.['initial_liquidation_ltv_bps']),
    targetAt: Number(ltv?.['target_at']),
    rampSeconds: Number(ltv?.['ramp_seconds']),
  }
  same(
    [Number(ltv?.['borrow_ltv_bps']), liquidationLtv(ramp, time)],
    [await read('LTVBorrow', [collateral.address]), await read('LTVLiquidation', [collateral.address])],
    'LTV',
  )
  const vaultsOf = (account: string, role: string) =>
    enabled
      .filter(row => row['account'] === account && row['role'] === role && row['enabled'] === '1')
      .map(row => row['vault'])
  await Promise.all(
    everyone.map(async account => {
      const debt = debts.find(row => row['account'] === account && row['vault'] === lender.address)
      const owed = owedLater(big(debt?.['owed']), big(debt?.['accumulator_ray']), vault.accumulator)
      const lower = (address: unknown) => String(address).toLowerCase()
      same(
        [
          owedAssets(owed),
          vaultsOf(account, 'controller')[0] ?? zeroAddress,
          vaultsOf(account, 'collateral').sort(),
        ],
        [
          await read('debtOf', [account]),
          lower(await read('controllerOf', [account], connector)),
          ((await read('collateralsOf', [account], connector)) as string[]).map(lower).sort(),
        ],
        account,
      )
    }),
  )
}
