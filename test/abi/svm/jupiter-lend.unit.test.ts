import { getDepositContext, getLendingProgram, getWithdrawContext } from '@jup-ag/lend/earn'
import { type Connection, Keypair, PublicKey } from '@solana/web3.js'
import BN from 'bn.js'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { depositAssets, redeemShares } from '../../../abi/jupiter-lend/instructions.ts'
import {
  decodeLending,
  LENDING_PROGRAMS,
  lendingOf,
  liquidityOf,
  REWARDS_PROGRAM,
} from '../../../abi/jupiter-lend/lending.ts'
import {
  decodeReserve,
  decodeRewardsModel,
  decodeSupplyPosition,
  type RewardsModel,
  reserveOf,
  rewardsModelOf,
  supplyPositionOf,
  type TokenReserve,
} from '../../../abi/jupiter-lend/liquidity.ts'
import {
  assetsOfShares,
  sharePriceAt,
  sharesOfWithdrawal,
  supplyPriceAt,
  withdrawableAt,
} from '../../../abi/jupiter-lend/math.ts'
import { bytesOf, findProgramAddress } from '../../../abi/svm/addresses.ts'
import { type Key, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../../abi/svm/programs.ts'
import { anyKey, anyU64, described, instructionOf, ours, theirs } from './oracle.ts'

const [PROGRAM = '0x'] = LENDING_PROGRAMS
const anyTokenProgram = fc.constantFrom(TOKEN_PROGRAM, TOKEN_2022_PROGRAM)
/** A point of the curve: they take no other. */
const anyUser = fc
  .uint8Array({ minLength: 32, maxLength: 32 })
  .map(seed => ours(Keypair.fromSeed(seed).publicKey))
const big = (value: bigint) => new BN(value.toString())
const program = getLendingProgram({ connection: {} as Connection, signer: PublicKey.default })

it('deposits and redemptions have the bytes and accounts of @jup-ag/lend', async () => {
  await fc.assert(
    fc.asyncProperty(
      anyKey,
      anyUser,
      anyTokenProgram,
      anyU64,
      anyU64,
      async (mint, user, tokenProgram, of, least) => {
        const shareMint = findProgramAddress([Buffer.from('f_token_mint'), bytesOf(mint)], PROGRAM)
        const lending = lendingOf(PROGRAM, mint, shareMint)
        const liquidity = liquidityOf(PROGRAM)
        const at = {
          program: PROGRAM,
          lending,
          mint,
          shareMint,
          reserve: reserveOf(liquidity, mint),
          supplyPosition: supplyPositionOf(liquidity, mint, lending),
          rewardsModel: rewardsModelOf(REWARDS_PROGRAM, mint),
          tokenProgram,
        }
        // Which token program a mint is of is all that they ask of a node.
        const connection = {
          getAccountInfo: async () => ({ owner: theirs(tokenProgram) }),
        } as unknown as Connection
        const asked = { asset: theirs(mint), signer: theirs(user), connection }
        const [deposit, redemption] = await Promise.all([
          program.methods
            .depositWithMinAmountOut(big(of), big(least))
            .accounts(await getDepositContext(asked))
            .instruction(),
          program.methods
            .redeemWithMinAmountOut(big(of), big(least))
            .accounts(await getWithdrawContext(asked))
            .instruction(),
        ])
        expect(described(instructionOf(depositAssets(at, user, of, least)))).toEqual(described(deposit))
        expect(described(instructionOf(redeemShares(at, user, of, least)))).toEqual(described(redemption))
      },
    ),
    { numRuns: 60 },
  )
})

const words = fc.array(anyU64, { minLength: 10, maxLength: 10 })
const u16 = fc.integer({ min: 0, max: 65_535 })

it('accounts read as their coder writes them', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyKey, { minLength: 5, maxLength: 5 }), words, u16, async (keys, n, small) => {
      const [mint, shareMint, model, reserve, position] = keys as [Key, Key, Key, Key, Key]
      const [a = 0n, b = 0n, c = 0n, d = 0n, e = 0n, f = 0n, g = 0n, h = 0n] = n
      const encode = (name: string, value: unknown) => program.coder.accounts.encode(name, value)
      const lending = await encode('lending', {
        mint: theirs(mint),
        fTokenMint: theirs(shareMint),
        lendingId: small,
        decimals: 9,
        rewardsRateModel: theirs(model),
        liquidityExchangePrice: big(a),
        tokenExchangePrice: big(b),
        lastUpdateTimestamp: big(c),
        tokenReservesLiquidity: theirs(reserve),
        supplyPositionOnLiquidity: theirs(position),
        bump: 255,
      })
      expect(decodeLending(lending)).toEqual({
        mint,
        shareMint,
        decimals: 9,
        rewardsModel: model,
        liquidityPrice: a,
        price: b,
        updatedAt: c,
        reserve,
        supplyPosition: position,
      })
      const rewards = await encode('lendingRewardsRateModel', {
        mint: theirs(mint),
        startTvl: big(a),
        duration: big(b),
        startTime: big(c),
        yearlyReward: big(d),
        nextDuration: big(e),
        nextRewardAmount: big(f),
        bump: 1,
      })
      expect(decodeRewardsModel(rewards)).toEqual({
        mint,
        startTvl: a,
        duration: b,
        startTime: c,
        yearlyReward: d,
        nextDuration: e,
        nextRewardAmount: f,
      })
      const reserveBytes = await encode('tokenReserve', {
        mint: theirs(mint),
        vault: theirs(shareMint),
        borrowRate: small,
        feeOnInterest: 1,
        lastUtilization: 2,
        lastUpdateTimestamp: big(a),
        supplyExchangePrice: big(b),
        borrowExchangePrice: big(c),
        maxUtilization: 3,
        totalSupplyWithInterest: big(d),
        totalSupplyInterestFree: big(e),
        totalBorrowWithInterest: big(f),
        totalBorrowInterestFree: big(g),
        totalClaimAmount: big(h),
        interactingProtocol: theirs(model),
        interactingTimestamp: big(a),
        interactingBalance: big(b),
      })
      expect(decodeReserve(reserveBytes)).toEqual({
        mint,
        vault: shareMint,
        borrowRate: BigInt(small),
        feeOnInterest: 1n,
        utilization: 2n,
        updatedAt: a,
        supplyPrice: b,
        supplyWithInterest: d,
        supplyInterestFree: e,
        borrowWithInterest: f,
        borrowInterestFree: g,
      })
      const held = await encode('userSupplyPosition', {
        protocol: theirs(model),
        mint: theirs(mint),
        withInterest: 1,
        amount: big(a),
        withdrawalLimit: big(b * 2n ** 64n + c),
        lastUpdate: big(d),
        expandPct: small,
        expandDuration: big(e),
        baseWithdrawalLimit: big(f),
        status: 0,
      })
      expect(decodeSupplyPosition(held)).toEqual({
        withInterest: true,
        amount: a,
        withdrawalLimit: b * 2n ** 64n + c,
        updatedAt: d,
        expandPercent: BigInt(small),
        expandDuration: e,
      })
      for (const decode of [decodeLending, decodeReserve, decodeRewardsModel, decodeSupplyPosition])
        expect(decode(lending.subarray(0, 60))).toBeUndefined()
      expect(decodeReserve(lending)).toBeUndefined()
    }),
    { numRuns: 60 },
  )
})

const HALF = 15_768_000n
const YEAR = 2n * HALF
const price = 10n ** 12n

/** The two worked examples of the published source (token_reserve.rs): half a year at 40 %. */
const example: TokenReserve = {
  mint: ours(PublicKey.default),
  vault: ours(PublicKey.default),
  borrowRate: 4_000n,
  feeOnInterest: 1_000n,
  utilization: 6_000n,
  updatedAt: 1_000n,
  supplyPrice: price,
  supplyWithInterest: 80n,
  supplyInterestFree: 20n,
  borrowWithInterest: 50n,
  borrowInterestFree: 10n,
}

it('a supply grows as the published examples say', () => {
  const at = (of: Partial<TokenReserve>, seconds = HALF) =>
    supplyPriceAt({ ...example, ...of }, 1_000n + seconds)
  // "supplyRawInterest worth = 80 * 1.1125 = 89"; a ratio of borrowers in hundredths of a percent is a little less exact.
  expect(Number(at({})) / 1e12).toBeCloseTo(1.1125, 4)
  // "20 and 80, no fee: supplyExchangePrice would have to go from 1 to 1,5"
  const mostlyFree = { supplyWithInterest: 20n, supplyInterestFree: 80n, feeOnInterest: 0n }
  expect(Number(at(mostlyFree)) / 1e12).toBeCloseTo(1.5, 3)
  expect(at({}, 0n)).toBe(price)
  expect(at({ borrowWithInterest: 0n })).toBe(price)
  expect(at({}, -1n)).toBeUndefined()
})

it('a share grows by the supply, and by rewards of its phase and the next', () => {
  const still = { ...example, borrowRate: 0n, updatedAt: 0n }
  const lending = { price, liquidityPrice: price, updatedAt: 0n }
  const model: RewardsModel = {
    mint: example.mint,
    startTvl: 100n,
    startTime: HALF,
    duration: HALF,
    yearlyReward: 50n,
    nextDuration: YEAR,
    nextRewardAmount: 100n,
  }
  const at = (now: bigint, of: Partial<RewardsModel> = {}, supply = 1_000n, reserve = still) =>
    sharePriceAt(lending, supply, reserve, { ...model, ...of }, now)
  expect(at(HALF)).toBe(price)
  // 5 % a year for half a year, then 10 % a year.
  expect(at(YEAR)).toBe(1_025_000_000_000n)
  expect(at(YEAR + HALF)).toBe(1_075_000_000_000n)
  expect(at(9n * YEAR)).toBe(1_125_000_000_000n)
  expect(at(YEAR, { startTvl: 1_001n })).toBe(price)
  // No more than half of it a year.
  expect(at(YEAR, { yearlyReward: 10n ** 6n })).toBe(1_250_000_000_000n)
  expect(at(YEAR, {}, 1_000n, { ...still, supplyPrice: 1_200_000_000_000n })).toBe(1_225_000_000_000n)
  expect(at(YEAR, {}, 1_000n, { ...still, supplyPrice: price - 1n })).toBeUndefined()
  expect(at(YEAR, {}, 0n)).toBe(price)
})

it('what has to stay in the liquidity layer grows less as time goes by', () => {
  const position = {
    withInterest: true,
    amount: 1_000n,
    withdrawalLimit: 900n,
    updatedAt: 0n,
    expandPercent: 2_000n,
    expandDuration: 100n,
  }
  const at = (now: bigint, of = {}) => withdrawableAt({ ...position, ...of }, 2n * price, now)
  expect([0n, 25n, 50n, 1_000n].map(now => at(now))).toEqual([200n, 300n, 400n, 400n])
  expect(at(0n, { withdrawalLimit: 0n })).toBe(2_000n)
  expect(at(0n, { withInterest: false })).toBe(100n)
})

it('the fewest shares that pay an amount pay it, and one less does not', () => {
  const anyPrice = fc.bigInt({ min: 1n, max: 10n ** 15n })
  fc.assert(
    fc.property(fc.bigInt({ min: 1n, max: 10n ** 15n }), anyPrice, (assets, of) => {
      const shares = sharesOfWithdrawal(assets, of)
      expect(assetsOfShares(shares, of)).toBeGreaterThanOrEqual(assets)
      expect(assetsOfShares(shares - 1n, of)).toBeLessThan(assets)
    }),
  )
})
