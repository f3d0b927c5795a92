import { type Address, maxUint256 } from 'viem'
import { expect } from 'vitest'
import {
  type AaveHolding,
  aaveAccount,
  normalizedDebt,
  normalizedIncome,
  rayMul,
} from '../../abi/aave-v3/math.ts'
import { aaveAbi } from '../chain/abis.ts'
import { viewAbi } from '../chain/lending-walk.ts'
import { big, lastRows, type Walk } from './rows.ts'

/** Reserves, balances and accounts of Aave v3 at a block. */
export async function compareAave(
  { node, world, pipeline, everyone, counted }: Walk,
  block: number,
  time: number,
): Promise<void> {
  const { pool, dataProvider, reserves } = world.aave
  const at = { blockNumber: BigInt(block) }
  const balances = await lastRows(pipeline, 'aave_balance', 'account, token', 'scaled', block)
  const totals = await lastRows(pipeline, 'aave_total', 'token', 'scaled', block)
  const indexes = await lastRows(
    pipeline,
    'aave_index',
    'asset',
    'liquidity_rate, variable_borrow_rate, liquidity_index, variable_borrow_index, timestamp',
    block,
  )
  const liquidity = await lastRows(pipeline, 'aave_liquidity', 'asset', 'available', block)
  const settings = await lastRows(pipeline, 'lending_setting', 'market, key', 'value', block)
  const choices = await lastRows(pipeline, 'aave_choice', 'account, market', 'value', block)
  const prices = await lastRows(pipeline, 'feed_price', 'feed', 'answer', block)
  const read = (token: Address, functionName: 'scaledTotalSupply' | 'totalSupply') =>
    node.client.readContract({ address: token, abi: viewAbi, functionName, ...at })
  const holdings = new Map<Address, AaveHolding[]>(everyone.map(user => [user, []]))
  for (const { asset, feed, aToken, variableDebtToken } of reserves) {
    const data = await node.client.readContract({
      address: dataProvider,
      abi: aaveAbi,
      functionName: 'getReserveData',
      args: [asset.address],
      ...at,
    })
    const row = indexes.find(index => index['asset'] === asset.address)
    const index = {
      liquidityRate: big(row?.['liquidity_rate']),
      variableBorrowRate: big(row?.['variable_borrow_rate']),
      liquidityIndex: big(row?.['liquidity_index']),
      variableBorrowIndex: big(row?.['variable_borrow_index']),
      updatedAt: Date.parse(`${row?.['timestamp']?.replace(' ', 'T')}Z`) / 1000,
    }
    expect(
      [
        index.liquidityRate,
        index.variableBorrowRate,
        index.liquidityIndex,
        index.variableBorrowIndex,
        index.updatedAt,
      ],
      `${asset.symbol} at ${block}`,
    ).toEqual([data[5], data[6], data[9], data[10], data[11]])
    const income = normalizedIncome(index, time)
    const debt = normalizedDebt(index, time)
    const total = (token: string) => big(totals.find(t => t['token'] === token)?.['scaled'])
    expect([total(aToken), total(variableDebtToken)], `${asset.symbol} totals at ${block}`).toEqual([
      await read(aToken, 'scaledTotalSupply'),
      await read(variableDebtToken, 'scaledTotalSupply'),
    ])
    const available = liquidity.find(of => of['asset'] === asset.address)?.['available']
    expect(big(available), `${asset.symbol} to be had at ${block}`).toBe(
      await node.client.readContract({
        address: asset.address,
        abi: viewAbi,
        functionName: 'balanceOf',
        args: [aToken],
        ...at,
      }),
    )
    expect([rayMul(total(aToken), income), rayMul(total(variableDebtToken), debt)]).toEqual([
      data[2],
      data[4],
    ])
    counted.values += 10
    const setting = (key: string, market: string = asset.address) =>
      settings.find(s => s['market'] === market && s['key'] === key)?.['value']
    for (const user of everyone) {
      const scaled = (token: Address) =>
        big(balances.find(b => b['account'] === user && b['token'] === token)?.['scaled'])
      for (const [token, by] of [
        [aToken, income],
        [variableDebtToken, debt],
      ] as const) {
        const view = (functionName: 'scaledBalanceOf' | 'balanceOf') =>
          node.client.readContract({ address: token, abi: viewAbi, functionName, args: [user], ...at })
        expect([scaled(token), rayMul(scaled(token), by)], `${asset.symbol} of ${user} at ${block}`).toEqual([
          await view('scaledBalanceOf'),
          await view('balanceOf'),
        ])
        counted.values += 2
      }
      const choice = (market: string) =>
        Number(choices.find(c => c['account'] === user && c['market'] === market)?.['value'] ?? 0)
      const category = choice('')
      const inEMode = category !== 0 && Number(setting('eModeCategory') ?? 0) === category
      holdings.get(user)?.push({
        supplied: rayMul(scaled(aToken), income),
        borrowed: rayMul(scaled(variableDebtToken), debt),
        isCollateral: choice(asset.address) === 1,
        price: big(prices.find(p => p['feed'] === feed.proxy)?.['answer']),
        decimals: asset.decimals,
        liquidationThresholdBps: big(setting('liquidationThresholdBps')),
        ltvBps: big(setting('ltvBps')),
        ...(inEMode
          ? {
              eMode: {
                ltvBps: big(setting('ltvBps', `emode:${category}`)),
                liquidationThresholdBps: big(setting('liquidationThresholdBps', `emode:${category}`)),
              },
            }
          : {}),
      })
    }
  }
  for (const user of everyone) {
    const view = await node.client.readContract({
      address: pool,
      abi: aaveAbi,
      functionName: 'getUserAccountData',
      args: [user],
      ...at,
    })
    const account = aaveAccount(holdings.get(user) ?? [])
    expect(
      [
        account.totalCollateralBase,
        account.totalDebtBase,
        account.liquidationThresholdBps,
        account.ltvBps,
        account.healthFactorWad ?? maxUint256,
      ],
      `account of ${user} at ${block}`,
    ).toEqual([view[0], view[1], view[3], view[4], view[5]])
    counted.values += 5
  }
}
