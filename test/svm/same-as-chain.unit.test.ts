import type { Address, Instruction, KeyPairSigner } from '@solana/kit'
import { describe, expect, it } from 'vitest'
import { decodeLending } from '../../abi/jupiter-lend/lending.ts'
import { decodeReserve, decodeRewardsModel, decodeSupplyPosition } from '../../abi/jupiter-lend/liquidity.ts'
import {
  sharePriceAt,
  sharesOfDeposit,
  sharesOfWithdrawal,
  supplyPriceAt,
  withdrawableAt,
} from '../../abi/jupiter-lend/math.ts'
import { seededRandom } from '../chain/random.ts'
import { TestChain } from './chain.ts'
import { LENDING_PROGRAM, LIQUIDITY_PROGRAM, TestLending } from './lend.ts'
import { standsOnChainsOwn } from './programs/dumps.ts'
import { type PoolOptions, STAKE_POOL_PROGRAM, TestPool } from './stake-pool.ts'

/** Our programs beside the chain's own: the same acts on two chains, and what came of each. */

const ALL = 2n ** 64n - 1n
const DAY = 86_400
const ours = () => undefined
const chains = () => [new TestChain({ dumps: ours }), new TestChain()]

/** Draws an act and its amount; what each side says of it has to be equal. */
async function compare<Side extends { chain: TestChain; wallet: KeyPairSigner }>(
  sides: readonly Side[],
  acts: readonly ((side: Side, amount: bigint) => Promise<Instruction[]> | Instruction[] | undefined)[],
  told: (side: Side) => unknown,
): Promise<Set<string>> {
  const { below, pick } = seededRandom(3)
  const outcomes = new Set<string>()
  for (let step = 0; step < 250; step++) {
    const place = below(acts.length)
    const amount = pick([0n, BigInt(below(20)), BigInt(below(1_000)), BigInt(below(2 ** 31)) * 20n]) ?? 0n
    const found = []
    for (const side of sides) {
      const instructions = await acts[place]?.(side, amount)
      const failed = instructions && (await side.chain.send(side.wallet, instructions)).failed
      found.push({ failed, logged: instructions && figuresOf(side.chain), ...(told(side) as object) })
    }
    expect(found[0], `step ${step}: act ${place} of ${amount}`).toEqual(found[1])
    outcomes.add(`${place} ${found[0]?.failed}`)
  }
  return outcomes
}

/** The last two numbers of what programs wrote to the log: addresses differ. */
function figuresOf(chain: TestChain): string[] {
  const [{ meta } = { meta: { logMessages: [] as string[] } }] = chain.head.transactions as {
    meta: { logMessages: string[] }
  }[]
  return meta.logMessages
    .filter(line => line.startsWith('Program data: '))
    .map(line => Buffer.from(line.slice('Program data: '.length), 'base64'))
    .map(data => `${data.toString('hex', 0, 8)} ${data.toString('hex', data.length - 16)}`)
}

const bytesOf = (chain: TestChain, at: Address): Buffer => {
  const found = chain.svm.getAccount(at)
  return found.exists ? Buffer.from(found.data) : Buffer.alloc(0)
}

describe('a stake pool', () => {
  standsOnChainsOwn(STAKE_POOL_PROGRAM)
  const fee = (numerator: bigint, denominator: bigint) => ({ numerator, denominator })
  const pools: [string, PoolOptions][] = [
    ['without fees', {}],
    [
      'with all fees',
      { depositFee: fee(1n, 1_000n), withdrawalFee: fee(3n, 1_000n), epochFee: fee(1n, 20n), referral: 33 },
    ],
    ['that gives its fees away', { depositFee: fee(7n, 100n), epochFee: fee(0n, 5n), referral: 100 }],
  ]

  it.for(pools)('%s', async ([, options]) => {
    const sides = []
    for (const chain of chains()) {
      const [pool, wallet] = [await TestPool.create(chain, options), await chain.wallet()]
      await chain.send(wallet, [await pool.openAccount(wallet.address, wallet)])
      sides.push({ chain, pool, wallet, held: () => pool.balanceOf(wallet.address) })
    }
    const outcomes = await compare(
      sides,
      [
        async ({ pool, wallet }, amount) => [await pool.depositSol(wallet, amount)],
        async ({ pool, wallet }, amount) => [await pool.depositSol(wallet, amount)],
        async ({ pool, wallet }, amount) => [await pool.depositSol(wallet, amount, { least: amount })],
        async ({ pool, wallet }, amount) => [await pool.withdrawSol(wallet, amount)],
        async ({ pool, wallet, held }, amount) => [
          await pool.withdrawSol(wallet, (await held()) / (1n + (amount % 4n))),
        ],
        ({ pool }, amount) => void pool.earn(amount),
        ({ chain }) => void chain.nextEpoch(),
        ({ pool }) => [pool.update()],
        ({ pool }) => [pool.update()],
      ],
      ({ chain, pool, wallet }) => ({
        // All that is no address.
        pool: bytesOf(chain, pool.pool).subarray(258),
        fees: bytesOf(chain, pool.feeAccount).subarray(64),
        mint: bytesOf(chain, pool.mint).subarray(36),
        lamports: [pool.reserve, wallet.address].map(at => chain.svm.getBalance(at)),
      }),
    )
    expect(outcomes.size).toBeGreaterThan(15)
  })
})

describe('a lending vault', () => {
  standsOnChainsOwn(LENDING_PROGRAM)
  it.for([
    ['of a token', {}],
    ['of a token of which a transfer comes to keep a part', { hasFee: true }],
  ] as const)('%s', async ([, options]) => {
    const sides = []
    for (const chain of chains()) {
      const [lending, wallet] = [await TestLending.create(chain, options), await chain.wallet()]
      const [assets, shares] = await Promise.all(
        [lending.mint, lending.shareMint].map(mint => lending.tokenAccountOf(wallet.address, mint)),
      )
      if (!assets || !shares) return expect.unreachable()
      lending.fund(assets, lending.mint, wallet.address, 10n ** 13n)
      lending.fund(shares, lending.shareMint, wallet.address, 0n)
      await chain.send(wallet, [lending.deposit(wallet, assets, shares, 10n ** 10n)])
      sides.push({ chain, lending, wallet, assets, shares, fee: 0, supplyPrice: 10n ** 12n })
    }
    const outcomes = await compare(
      sides,
      [
        ({ lending, wallet, assets, shares }, amount) => [lending.deposit(wallet, assets, shares, amount)],
        ({ lending, wallet, assets, shares }, amount) => [
          lending.deposit(wallet, assets, shares, amount * 3n, amount * 3n - 2n > 0n ? amount * 3n - 2n : 0n),
        ],
        ({ lending, wallet, assets, shares }, amount) => [
          lending.take('redeem', wallet, shares, assets, amount === 0n ? ALL : amount),
        ],
        ({ lending, wallet, assets, shares }, amount) => [
          lending.take('redeem', wallet, shares, assets, amount, amount),
        ],
        ({ lending, wallet, assets, shares }, amount) => [
          lending.take('withdraw', wallet, shares, assets, amount === 0n ? ALL : amount),
        ],
        ({ lending }) => [lending.update()],
        ({ chain }, amount) => void chain.mine([], 1 + Number(amount % 100_000n)),
        side => {
          // Seldom it is behind.
          const { lending, chain, supplyPrice } = side
          side.supplyPrice += BigInt(chain.time % 1_000_003) * (chain.time % 7 === 0 ? -1n : 1n)
          lending.setReserve({ supplyPrice })
        },
        ({ chain, lending }, amount) =>
          void lending.setRewards({
            startTvl: (amount % 50n) + (amount === 0n ? 0n : 1n),
            startTime: BigInt(chain.time - DAY) + (amount % 200_000n),
            duration: BigInt(DAY),
            yearlyReward: amount,
            ...(amount % 2n === 0n && { nextDuration: amount % 400_000n, nextRewardAmount: amount / 100n }),
          }),
        ({ lending }, amount) => void lending.setPosition({ amount: amount * 300n, limit: amount * 299n }),
        ({ lending }, amount) => void lending.setLying(amount * 50n),
        side => {
          side.fee = side.fee === 0 ? 100 : 0
          if ('hasFee' in options) side.lending.setTransferFee(side.fee)
        },
      ],
      ({ chain, lending: { is }, assets, shares }) => ({
        lending: bytesOf(chain, is.lending).subarray(107, 131),
        reserve: bytesOf(chain, is.reserve).subarray(72),
        position: bytesOf(chain, is.position).subarray(72),
        held: [assets, shares, is.vault].map(at => bytesOf(chain, at).subarray(64, 72)),
        mint: bytesOf(chain, is.shareMint).subarray(36),
      }),
    )
    expect(outcomes.size).toBeGreaterThan(25)
  })

  it('has the prices, shares and limits that we reckon of its accounts', async () => {
    const chain = new TestChain()
    const [lending, wallet] = [await TestLending.create(chain), await chain.wallet()]
    const { is } = lending
    const held = (mint: Address) => lending.tokenAccountOf(wallet.address, mint)
    const [assets, shares] = [await held(lending.mint), await held(lending.shareMint)]
    lending.fund(assets, lending.mint, wallet.address, 10n ** 18n)
    lending.fund(shares, lending.shareMint, wallet.address, 0n)
    await chain.send(wallet, [lending.deposit(wallet, assets, shares, 10n ** 17n)])
    const { below, chance } = seededRandom(5)
    const u64 = (most: number) => BigInt(below(2 ** 24)) * BigInt(below(most))
    const found = { limited: 0, failed: 0, grown: 0 }
    for (let step = 0; step < 150; step++) {
      const time = BigInt(chain.time)
      lending.setReserve({ supplyPrice: 10n ** 12n + u64(2 ** 14) })
      const reserve = bytesOf(chain, is.reserve)
      for (const [at, value] of [
        [72, below(20_000)],
        [74, below(10_001)],
        [76, below(10_001)],
      ] as const)
        reserve.writeUInt16LE(value, at)
      reserve.writeBigUInt64LE(time - u64(4), 78)
      // Nobody borrows much more than was lent.
      for (const at of [104, 112])
        reserve.writeBigUInt64LE(10n ** 12n + (chance(0.5) ? 0n : u64(2 ** 26)), at)
      for (const at of [120, 128]) reserve.writeBigUInt64LE(chance(0.2) ? 0n : u64(2 ** 15), at)
      chain.setAccount(is.reserve, LIQUIDITY_PROGRAM, reserve)
      const price = 10n ** 12n + u64(2 ** 14)
      lending.setPrice(price)
      const account = bytesOf(chain, is.lending)
      account.writeBigUInt64LE(time - u64(4), 123)
      // Seldom what it was told before is more than what is so now.
      if (chance(0.2)) account.writeBigUInt64LE(2n * 10n ** 12n, 107)
      chain.setAccount(is.lending, LENDING_PROGRAM, account)
      lending.setRewards({
        startTime: chance(0.2) ? 0n : time - 2n * u64(4) + u64(4),
        duration: u64(4),
        yearlyReward: u64(2 ** 30),
        ...(chance(0.5) && { nextDuration: 1n + u64(4), nextRewardAmount: u64(2 ** 20) }),
      })
      const amount = u64(2 ** 28)
      lending.setPosition({ amount, limit: chance(0.3) ? 0n : (amount * BigInt(90 + below(10))) / 100n })
      const position = bytesOf(chain, is.position)
      position.writeBigUInt64LE(time - u64(2), 97)
      position.writeUInt16LE(below(10_001), 105)
      position.writeBigUInt64LE(1n + u64(8), 107)
      chain.setAccount(is.position, LIQUIDITY_PROGRAM, position)
      lending.setLying(10n ** 18n)

      const books = decodeReserve(reserve)
      const rewards = decodeRewardsModel(bytesOf(chain, is.model))
      const place = decodeSupplyPosition(position)
      const vault = decodeLending(account)
      if (!books || !rewards || !place || !vault) return expect.unreachable()
      // A transaction is of a second later.
      const then = time + 1n
      const supplyPrice = supplyPriceAt(books, then)
      const expected = sharePriceAt(vault, lending.supply(), books, rewards, then)
      if (supplyPrice === undefined) return expect.unreachable()
      if (expected === undefined) {
        expect((await chain.send(wallet, [lending.update()])).failed).toContain('6006')
        found.failed++
        continue
      }
      if (expected > price) found.grown++
      const most = withdrawableAt(place, supplyPrice, then)
      const act = await chain.transaction(wallet, [lending.take('withdraw', wallet, shares, assets, most)])
      const beyond = await chain.transaction(wallet, [
        lending.take('withdraw', wallet, shares, assets, most + 3n),
      ])
      const deposited = 10n + BigInt(below(1_000))
      const deposit = await chain.transaction(wallet, [lending.deposit(wallet, assets, shares, deposited)])
      const before = [lending.amountOf(assets), lending.supply()] as const
      const [tooMuch, sent] = chain.mine([beyond, act])
      const between = [lending.amountOf(assets), lending.supply()] as const
      expect(tooMuch?.failed, `step ${step}`).toMatch(/60(00|28)/)
      expect([sent?.failed, lending.price()], `step ${step}`).toEqual([undefined, expected])
      expect([between[0] - before[0], before[1] - between[1]]).toEqual([
        most,
        sharesOfWithdrawal(most, expected),
      ])
      expect(chain.mine([deposit], 0)[0]?.failed).toBeUndefined()
      expect(lending.supply() - between[1]).toBe(sharesOfDeposit(deposited, supplyPrice, expected))
      if (place.withdrawalLimit > 0n) found.limited++
    }
    for (const times of Object.values(found)) expect(times).toBeGreaterThan(15)
  })
})
