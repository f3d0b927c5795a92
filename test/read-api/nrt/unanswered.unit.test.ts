import { type Address, decodeFunctionData, zeroAddress } from 'viem'
import { expect, test } from 'vitest'
import { aaveAbi } from '../../../read-api/protocols/aave-v3/abis.ts'
import { aaveV3 } from '../../../read-api/protocols/aave-v3/borrow.ts'
import { cometAbi, cometMarketAbi } from '../../../read-api/protocols/compound-v3/abis.ts'
import { compoundV3 } from '../../../read-api/protocols/compound-v3/borrow.ts'
import { evkAbi } from '../../../read-api/protocols/euler-v2/abis.ts'
import { eulerEvk } from '../../../read-api/protocols/euler-v2/borrow.ts'
import { erc20Abi, erc4626Abi } from '../../../read-api/transactions/abis.ts'
import type { BorrowFamily } from '../../../read-api/transactions/borrow/family.ts'
import type { ReadViews } from '../../../read-api/transactions/family.ts'

/** A total that is not answered is not known: zero would be another answer. */

const address = (byte: string) => `0x${byte.repeat(20)}` as Address
const [ROOT, TOKEN] = [address('9a'), address('d0')] as const
const abi = [...aaveAbi, ...cometAbi, ...cometMarketAbi, ...erc20Abi, ...erc4626Abi, ...evkAbi]

const reading = (answers: Record<string, unknown>) =>
  (async (views: Record<string, { data: `0x${string}` }>) => ({
    block: { number: 1n, timestamp: 1_700_000_000 },
    values: Object.fromEntries(
      Object.entries(views).map(([key, { data }]) => [
        key,
        answers[decodeFunctionData({ abi, data }).functionName],
      ]),
    ),
  })) as unknown as ReadViews

const reserve = {
  currentLiquidityRate: 0n,
  currentVariableBorrowRate: 0n,
  aTokenAddress: address('d1'),
  variableDebtTokenAddress: address('d2'),
}
const comet = {
  baseToken: TOKEN,
  baseTokenPriceFeed: address('c5'),
  baseScale: 10n ** 6n,
  numAssets: 0,
  totalsBasic: { baseSupplyIndex: 1n, baseBorrowIndex: 1n, lastAccrualTime: 1_700_000_000, pauseFlags: 0 },
}
const families: [string, BorrowFamily, Record<string, unknown>, Record<string, bigint>][] = [
  ['Aave v3', aaveV3, { getReserveData: reserve }, { totalSupply: 5n }],
  ['Compound v3', compoundV3, comet, { totalSupply: 5n, totalBorrow: 5n }],
  ['Euler v2', eulerEvk, { totalAssets: 5n }, { totalBorrows: 5n }],
]

const figures = (
  family: BorrowFamily,
  answers: Record<string, unknown>,
  side: 'loan' | 'collateral' = 'loan',
) => {
  const asset = { id: 'asset', side, info: { address: TOKEN, symbol: 'USDX', decimals: 6 } }
  const market = {
    protocol: family.protocol,
    chainId: 1,
    id: ROOT,
    root: ROOT,
    assets: [asset],
    vaults: { asset: ROOT },
  }
  return family.figures(market, asset, reading(answers))
}

test.each(families)('%s', async (_, family, answers, totals) => {
  expect(await figures(family, { ...answers, ...totals })).toMatchObject({ supplied: 5n, borrowed: 5n })
  await expect(figures(family, answers)).rejects.toThrow(/does not answer/)
})

test('of the collateral of a Comet', async () => {
  await expect(figures(compoundV3, comet, 'collateral')).rejects.toThrow(/does not answer/)
})

test('of a reserve that was dropped', async () => {
  const dropped = { ...reserve, aTokenAddress: zeroAddress, variableDebtTokenAddress: zeroAddress }
  await expect(figures(aaveV3, { getReserveData: dropped })).rejects.toThrow(/lists no reserve of USDX/)
})
