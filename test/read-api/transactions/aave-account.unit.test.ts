import fc from 'fast-check'
import { type Address, decodeFunctionData, zeroAddress } from 'viem'
import { expect, it } from 'vitest'
import { aaveAbi, aaveAccountAbi } from '../../../read-api/protocols/aave-v3/abis.ts'
import type { AaveRef } from '../../../read-api/protocols/aave-v3/account.ts'
import { aaveV3 } from '../../../read-api/protocols/aave-v3/borrow.ts'
import { erc20Abi } from '../../../read-api/transactions/abis.ts'
import type { ReadViews } from '../../../read-api/transactions/family.ts'

/** A pool made up of answers: Alice has supplied WETH, and looks at a loan of USDX. No code of v3.5 and later runs here. */

const address = (byte: string) => `0x${byte.repeat(20)}` as Address
const POOL = address('9a')
const ORACLE = address('9c')
const ALICE = address('a1')
const WETH = address('e0')
const USDX = address('d0')
const RAY = 10n ** 27n
const ceil = (a: bigint, b: bigint) => (a + b - 1n) / b

interface Pool {
  revision: bigint
  category: bigint
  /** Of WETH: basis points. */
  ltv: bigint
  threshold: bigint
  eMode?: { collateral: bigint; borrowable: bigint; ltvZero?: bigint }
  isBorrowing: boolean
  supplied: bigint
  price: { weth: bigint; usdx: bigint }
  /** Of what is owed, and of what is supplied. */
  index: bigint
  /** Of USDX. */
  owed?: bigint
}

const POOL_OF_TODAY: Pool = {
  revision: 10n,
  category: 3n,
  ltv: 0n,
  threshold: 0n,
  eMode: { collateral: 1n, borrowable: 2n, ltvZero: 0n },
  isBorrowing: false,
  supplied: 10n ** 18n,
  price: { weth: 3_000n * 10n ** 8n, usdx: 10n ** 8n },
  index: RAY,
}

function readingOf(pool: Pool): ReadViews {
  const isWeth = (of: unknown) => String(of).toLowerCase() === WETH
  const reserve = (asset: unknown) => ({
    configuration: isWeth(asset)
      ? pool.ltv | (pool.threshold << 16n) | (18n << 48n) | (1n << 56n)
      : (6n << 48n) | (1n << 56n) | (pool.isBorrowing ? 1n << 58n : 0n),
    liquidityIndex: pool.index,
    currentLiquidityRate: 0n,
    currentVariableBorrowRate: 0n,
    variableBorrowIndex: pool.index,
    id: isWeth(asset) ? 0 : 1,
    aTokenAddress: address(isWeth(asset) ? 'e1' : 'd1'),
    stableDebtTokenAddress: zeroAddress,
    variableDebtTokenAddress: address(isWeth(asset) ? 'e2' : 'd2'),
    accruedToTreasury: 0n,
    isolationModeTotalDebt: 0n,
  })
  const answer = (to: string, name: string, [first]: readonly unknown[]): unknown => {
    switch (name) {
      case 'ADDRESSES_PROVIDER':
      case 'getPriceOracle':
        return ORACLE
      case 'POOL_REVISION':
        return pool.revision
      case 'getUserConfiguration':
        return pool.owed ? 6n : 2n
      case 'getUserEMode':
        return pool.category
      case 'getReserveData':
        return reserve(first)
      case 'getEModeCategoryData':
        return { ltv: 9_000, liquidationThreshold: 9_300, priceSource: zeroAddress }
      case 'getEModeCategoryCollateralBitmap':
        return pool.eMode?.collateral
      case 'getEModeCategoryBorrowableBitmap':
        return pool.eMode?.borrowable
      case 'getEModeCategoryLtvzeroBitmap':
        return pool.eMode?.ltvZero
      case 'getAssetPrice':
        return isWeth(first) ? pool.price.weth : pool.price.usdx
      case 'balanceOf':
        // What the pool holds is enough for anything.
        if (to === address('e1')) return pool.supplied
        if (to === address('d2')) return pool.owed
        return String(first).toLowerCase() === ALICE ? 0n : 10n ** 30n
      case 'getVirtualUnderlyingBalance':
        return undefined
      default:
        return 0n
    }
  }
  const read = async (views: Record<string, { to: string; data: `0x${string}` }>) => ({
    block: { number: 1n, timestamp: 1_700_000_000 },
    values: Object.fromEntries(
      Object.entries(views).map(([key, { to, data }]) => {
        const abi = [...aaveAbi, ...aaveAccountAbi, ...erc20Abi]
        const { functionName, args } = decodeFunctionData({ abi, data })
        return [key, answer(to, functionName, args ?? [])]
      }),
    ),
  })
  return read as unknown as ReadViews
}

const usdx = { id: USDX, side: 'loan' as const, info: { address: USDX, symbol: 'USDX', decimals: 6 } }
const weth = { id: WETH, side: 'loan' as const, info: { address: WETH, symbol: 'WETH', decimals: 18 } }
const market = {
  protocol: 'aave-v3',
  chainId: 1,
  id: POOL,
  root: POOL,
  assets: [usdx, weth],
  reserves: [
    { asset: WETH, aToken: address('e1') },
    { asset: USDX, aToken: address('d1') },
  ],
} as unknown as AaveRef

const limits = async (pool: Partial<Pool>, asset = usdx) =>
  (await aaveV3.look(market, asset, ALICE, readingOf({ ...POOL_OF_TODAY, ...pool }))).limits
const most = async (pool: Partial<Pool>) => (await limits(pool)).maxBorrow

it('in an eMode, since v3.6 the eMode alone says what is collateral and what is lent', async () => {
  // 90 % of 3,000 USD, in which neither asset is anything outside of the eMode.
  const limit = await most({})
  expect([limit > 2_699_999_000n, limit <= 2_700_000_000n]).toEqual([true, true])
  expect(await most({ eMode: { collateral: 1n, borrowable: 0n, ltvZero: 0n } })).toBe(0n)
  expect(await most({ eMode: { collateral: 1n, borrowable: 2n, ltvZero: 1n } })).toBe(0n)
  expect(await most({ category: 0n })).toBe(0n)
})

it('up to v3.5 a reserve has to be collateral and lent outside of the eMode too', async () => {
  const before = { revision: 9n, eMode: { collateral: 1n, borrowable: 2n } }
  const own = { ltv: 100n, threshold: 200n, isBorrowing: true }
  expect(await most({ ...before, ...own })).toBeGreaterThan(2_699_999_000n)
  expect(await most({ ...before, ...own, isBorrowing: false })).toBe(0n)
  expect(await most({ ...before, ...own, ltv: 0n })).toBe(0n)
  expect(await most({ ...before, ...own, ltv: 0n, threshold: 0n })).toBe(0n)
})

it('the largest first loan is one that v3.5 finds covered, whatever it rounds', async () => {
  const price = fc.bigInt(1n, 10n ** 13n)
  const basis = fc.record({
    supplied: fc.bigInt(10n ** 15n, 10n ** 20n),
    weth: price,
    usdx: price,
    index: fc.bigInt(RAY, 3n * RAY),
    ltv: fc.bigInt(1n, 9_500n),
  })
  await fc.assert(
    fc.asyncProperty(basis, async ({ supplied, weth, usdx: loan, index, ltv }) => {
      const own = { revision: 9n, category: 0n, ltv, threshold: 9_600n, isBorrowing: true }
      const amount = await most({ ...own, supplied, index, price: { weth, usdx: loan } })
      if (amount === 0n) return
      // getVTokenMintScaledAmount, getVTokenBalance, mulDivCeil and percentDivCeil, as validateHFAndLtv of v3.5 has them.
      const scaled = ceil(amount * RAY, index)
      const debt = ceil(ceil(scaled * index, RAY) * loan, 10n ** 6n)
      const collateral = (supplied * weth) / 10n ** 18n
      expect(ceil(debt * 10_000n, ltv)).toBeLessThanOrEqual(collateral)
    }),
  )
})

it('the largest withdrawal leaves what v3.5 finds healthy, whatever it rounds', async () => {
  const basis = fc.record({
    scaled: fc.bigInt(2n, 10n ** 6n),
    // Of a whole one, so that a base unit is worth something.
    price: fc.bigInt(10n ** 18n, 10n ** 24n),
    index: fc.bigInt(RAY, 3n * RAY),
    threshold: fc.bigInt(5_000n, 9_500n),
    share: fc.bigInt(1n, 99n),
  })
  await fc.assert(
    fc.asyncProperty(basis, async ({ scaled, price, index, threshold, share }) => {
      const supplied = (scaled * index) / RAY
      const worth = (supplied * price) / 10n ** 18n
      const owed = (worth * threshold * share) / 1_000_000n
      if (owed === 0n) return
      const own = { revision: 9n, category: 0n, ltv: 1n, threshold, isBorrowing: true }
      // A base unit of USDX is one of the oracle's.
      const pool = { ...own, supplied, owed, index, price: { weth: price, usdx: 10n ** 6n } }
      const { maxWithdraw } = await limits(pool, weth)
      if (maxWithdraw === 0n) return
      // getATokenBurnScaledAmount and getATokenBalance; then the health factor, of 1 or more.
      const left = ((scaled - ceil(maxWithdraw * RAY, index)) * index) / RAY
      const collateral = (left * price) / 10n ** 18n
      expect(collateral * threshold).toBeGreaterThanOrEqual(owed * 10_000n)
    }),
  )
})
