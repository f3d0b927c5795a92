import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  decodeFarmStake,
  type FarmTotals,
  farmStakeOf,
  partsFor,
  stakedIn,
  wholeStake,
} from '../../../abi/kamino/farm.ts'
import {
  decodeEvent,
  deposit,
  type KaminoAt,
  withdraw,
  withdrawFromAvailable,
} from '../../../abi/kamino/instructions.ts'
import {
  borrowRate,
  compounded,
  liquidityOf,
  ONE,
  suppliedAt,
  supplyRate,
  utilizationOf,
  vaultAssets,
} from '../../../abi/kamino/math.ts'
import { decodeReserve, type KaminoReserve } from '../../../abi/kamino/reserve.ts'
import {
  ctokenVaultOf,
  decodeVault,
  FARMS_PROGRAM,
  LENDING_PROGRAM,
  VAULT_PROGRAM,
} from '../../../abi/kamino/vault.ts'
import { bytesOf } from '../../../abi/svm/addresses.ts'
import type { Instruction } from '../../../abi/svm/instruction.ts'
import { type Key, keyOf, TOKEN_PROGRAM } from '../../../abi/svm/programs.ts'
import { toBase58 } from '../../../db/base58.ts'
import expected from './kamino-expected.json' with { type: 'json' }

/** What Kamino's own packages made of accounts, instructions and interest. */
const named = (name: string): Key => `0x${createHash('sha256').update(name).digest('hex')}`

function bytesFrom({ size, bytes }: { size: number; bytes: (string | number)[][] }): Buffer {
  const data = Buffer.alloc(size)
  for (const [at, hex] of bytes) data.write(String(hex), Number(at), 'hex')
  return data
}

const vaultAt = keyOf(expected.vault.address)
const vaultBytes = bytesFrom(expected.vault)
const reserveBytes = bytesFrom(expected.reserve)
const RESERVES = [named('reserve 1'), named('reserve 2'), named('reserve 3')] as const

function vaultOf(data: Uint8Array = vaultBytes) {
  const vault = decodeVault(vaultAt, VAULT_PROGRAM, data)
  if (!vault) throw new TypeError('no vault')
  return vault
}

function reserveOf(): KaminoReserve {
  const reserve = decodeReserve(LENDING_PROGRAM, reserveBytes)
  if (!reserve) throw new TypeError('no reserve')
  return reserve
}

const changed = (data: Buffer, at: number, bytes: Uint8Array) => {
  const copy = Buffer.from(data)
  copy.set(bytes, at)
  return copy
}

describe('a vault', () => {
  it("reads as Kamino's package wrote it", () => {
    expect(vaultOf()).toMatchObject({
      tokenMint: named('mint'),
      tokenProgram: TOKEN_PROGRAM,
      available: 123_456_789_012n,
      sharesIssued: 2n ** 64n - 1n,
      pendingFeesSf: 2n ** 70n + 12_345n,
      minDeposit: 1_000n,
      minWithdrawal: 2_000n,
      name: 'Steady é USDCevil',
      lookupTable: named('table'),
      farm: named('farm'),
      penalty: 11n,
      penaltyBps: 12n,
    })
    expect(vaultOf().allocations.map(({ reserve, ctokens }) => [reserve, ctokens])).toEqual([
      [RESERVES[0], 1_000_000_007n],
      [RESERVES[1], 2_000_000_014n],
      [RESERVES[2], 3_000_000_021n],
    ])
  })

  it('that is of another program, cut off, of another kind or address is none', () => {
    expect(decodeVault(vaultAt, LENDING_PROGRAM, vaultBytes)).toBeUndefined()
    expect(decodeVault(vaultAt, VAULT_PROGRAM, vaultBytes.subarray(0, -1))).toBeUndefined()
    expect(decodeVault(vaultAt, VAULT_PROGRAM, Buffer.alloc(0))).toBeUndefined()
    expect(decodeVault(vaultAt, VAULT_PROGRAM, changed(vaultBytes, 0, Uint8Array.of(1)))).toBeUndefined()
    expect(decodeVault(named('another'), VAULT_PROGRAM, vaultBytes)).toBeUndefined()
  })

  it.each([
    ['authority', 40],
    ['token vault', 120],
    ['share mint', 184],
    ['reserve', 312],
    ['cToken vault', 312 + 32],
  ])('with a %s that is not derived from it is none', (_, at) => {
    const data = changed(vaultBytes, at, bytesOf(named('liar')))
    expect(decodeVault(vaultAt, VAULT_PROGRAM, data)).toBeUndefined()
  })

  it('that names a reserve twice is none: it would be counted twice', () => {
    const [first] = vaultOf().allocations
    if (!first) throw new TypeError('no allocation')
    const twice = Buffer.concat([bytesOf(first.reserve), bytesOf(first.ctokenVault)])
    expect(decodeVault(vaultAt, VAULT_PROGRAM, changed(vaultBytes, 312 + 2_160, twice))).toBeUndefined()
  })

  it('may have 25 reserves', () => {
    const full = Buffer.from(vaultBytes)
    const reserves = Array.from({ length: 25 }, (_, i) => named(`of 25: ${i}`))
    for (const [i, reserve] of reserves.entries()) {
      full.set(bytesOf(reserve), 312 + i * 2_160)
      full.set(bytesOf(ctokenVaultOf(vaultAt, reserve)), 312 + i * 2_160 + 32)
    }
    expect(vaultOf(full).allocations.map(({ reserve }) => reserve)).toEqual(reserves)
  })
})

describe('a reserve', () => {
  it("reads as Kamino's package wrote it", () => {
    const { curve, ...rest } = reserveOf()
    expect(rest).toEqual({
      slot: 300_000_000n,
      lendingMarket: named('market 1'),
      tokenMint: named('mint'),
      supplyVault: named('supply'),
      available: 2_500_000_000_000n,
      borrowedSf: 7_500_000_000_000n * ONE + 77n,
      protocolFeesSf: 12_345n * ONE + 3n,
      referrerFeesSf: 99n * ONE,
      pendingReferrerFeesSf: 5n * ONE + 1n,
      ctokenMint: named('ctoken'),
      ctokenSupply: 9_100_000_000_000n,
      hostFixedRateBps: 25,
      takeRatePct: 15,
    })
    const points = curve.map(({ utilizationBps, rateBps }) => [utilizationBps, rateBps])
    expect(points.slice(0, 5)).toEqual([
      [0, 1],
      [7_000, 500],
      [8_500, 900],
      [9_500, 4_000],
      [10_000, 9_000],
    ])
    expect(points.slice(5)).toEqual(Array(6).fill([10_000, 9_000]))
  })

  it('that another program owns, or that is cut off, is none', () => {
    expect(decodeReserve(VAULT_PROGRAM, reserveBytes)).toBeUndefined()
    expect(decodeReserve(LENDING_PROGRAM, reserveBytes.subarray(1))).toBeUndefined()
    expect(decodeReserve(LENDING_PROGRAM, changed(reserveBytes, 7, Uint8Array.of(1)))).toBeUndefined()
  })
})

it('what a wallet staked is its own, whether it counts already, waits, or is to be taken out', () => {
  const at = keyOf(expected.stake.address)
  const data = bytesFrom(expected.stake)
  const stake = decodeFarmStake(at, FARMS_PROGRAM, data)
  expect(stake).toMatchObject({ farm: named('farm'), owner: named('user') })
  expect(farmStakeOf(named('farm'), named('user'))).toBe(at)
  // 1,234,567.5 + 1 + 2.5
  const unit = 10n ** 18n
  const all = {
    mint: named('share'),
    activeAmount: 9_000_000n,
    activeScaled: 9_000_000n * unit,
    pendingAmount: 50n,
    pendingScaled: 50n * unit,
  }
  const staked = (totals: FarmTotals) => stake && [stakedIn(stake, totals), wholeStake(stake, totals)]
  expect(staked(all)).toEqual([{ active: 1_234_567n, waiting: 1n, unstaked: 2n }, 1_234_570n])
  // The farm's authority took a fifth of all: 987,654 + 0.8 + 2
  const less = { ...all, activeAmount: 7_200_000n, pendingAmount: 40n }
  expect(staked(less)).toEqual([{ active: 987_654n, waiting: 0n, unstaked: 2n }, 987_656n])
  expect([partsFor(1n, all), partsFor(800n, less), partsFor(1n, less)]).toEqual([
    unit,
    1_000n * unit,
    (unit * 5n) / 4n,
  ])
  expect(() => partsFor(1n, { ...all, activeAmount: 0n })).toThrow('nothing is left')
  expect(decodeFarmStake(named('elsewhere'), FARMS_PROGRAM, data)).toBeUndefined()
  expect(decodeFarmStake(at, VAULT_PROGRAM, data)).toBeUndefined()
  // It stays where it was when it is given to another owner.
  const given = changed(data, 48, bytesOf(named('heir')))
  expect(decodeFarmStake(at, FARMS_PROGRAM, given)?.owner).toBe(named('heir'))
  const moved = changed(data, 480, bytesOf(named('heir')))
  expect(decodeFarmStake(at, FARMS_PROGRAM, moved)).toBeUndefined()
})

describe('instructions', () => {
  const reserves = new Map<string, KaminoReserve>(
    RESERVES.map((key, i) => [key, { ...reserveOf(), lendingMarket: named(`market ${i === 1 ? 2 : 1}`) }]),
  )
  const at: KaminoAt = { vault: vaultAt, state: vaultOf(), reserves }
  const of = { user: named('user'), tokens: named('tokens'), shares: named('shares') }
  const described = ({ program, accounts, data }: Instruction) => ({
    program: toBase58(program),
    accounts: accounts.map(
      ({ key, isSigner, isWritable }) => `${toBase58(key)} ${isSigner ? 's' : ''}${isWritable ? 'w' : ''}`,
    ),
    data: Buffer.from(data).toString('hex'),
  })

  it('have the bytes and the accounts that Kamino gives them', () => {
    expect(described(deposit(at, of, 987_654_321n))).toEqual(expected.instructions.deposit)
    expect(described(withdrawFromAvailable(at, of, 555n))).toEqual(
      expected.instructions.withdrawFromAvailable,
    )
    expect(described(withdraw(at, of, RESERVES[1], 2n ** 64n - 1n))).toEqual(expected.instructions.withdraw)
  })

  it('name no reserve that was not read', () => {
    expect(() => withdraw(at, of, named('another'), 1n)).toThrow(RangeError)
    expect(() => deposit({ ...at, reserves: new Map() }, of, 1n)).toThrow(RangeError)
  })

  it('tell what came of them, or break off', () => {
    const words = (...of: bigint[]) => of.map(each => Buffer.from(new BigUint64Array([each]).buffer))
    const told = Buffer.concat([
      Buffer.from('e445a52e51cb9a1d14bf0fe7c4316526', 'hex'),
      ...words(4n, 3n, 2n, 1n),
    ])
    expect(decodeEvent(told)).toEqual({
      type: 'withdrawal',
      shares: 4n,
      available: 3n,
      ctokens: 2n,
      invested: 1n,
    })
    const paid = Buffer.concat([Buffer.from('e445a52e51cb9a1d7b40dc0458677fcc', 'hex'), ...words(9n, 8n, 7n)])
    expect(decodeEvent(paid)).toEqual({ type: 'deposit', shares: 9n, assets: 8n, crankFunds: 7n })
    expect(() => decodeEvent(told.subarray(0, 40))).toThrow(RangeError)
    expect(decodeEvent(Buffer.alloc(32))).toBeUndefined()
    expect(decodeEvent(Buffer.alloc(3))).toBeUndefined()
  })
})

/** A decimal number, as a fraction of 60 bits. */
function fractionOf(text: string): bigint {
  const [whole = '', part = ''] = text.split('.')
  return (BigInt(whole + part) * ONE) / 10n ** BigInt(part.length)
}

describe('interest', () => {
  it.each(expected.supplied)(
    "$supplied after $slots slots, as Kamino's package reckons it",
    ({ reserve: of, slots, ...told }) => {
      const reserve: KaminoReserve = {
        ...reserveOf(),
        slot: BigInt(of.slot),
        available: BigInt(of.available),
        borrowedSf: BigInt(of.borrowedSf),
        protocolFeesSf: BigInt(of.protocolFeesSf),
        referrerFeesSf: BigInt(of.referrerFeesSf),
        pendingReferrerFeesSf: BigInt(of.pendingReferrerFeesSf),
        ctokenSupply: BigInt(of.ctokenSupply),
        hostFixedRateBps: of.hostFixedRateBps,
        takeRatePct: of.takeRatePct,
        curve: of.curve.map(([utilizationBps = 0, rateBps = 0]) => ({ utilizationBps, rateBps })),
      }
      const slot = reserve.slot + BigInt(slots)
      const [supplied, theirs] = [suppliedAt(reserve, slot), fractionOf(told.supplied)]
      // The package has 60 digits but takes rates as floats; the program cuts a power of the rate off at its last bit, and that grows with the slots.
      const bit = BigInt(slots + 4) ** 2n
      const most = (reserve.borrowedSf * bit) / ONE + theirs / 10n ** 14n + 1n
      expect(distance(supplied, theirs)).toBeLessThanOrEqual(most)
      // One part in ten million at most, or the bound would prove nothing.
      expect(most).toBeLessThan(theirs / 10n ** 7n)
      const liquidity = liquidityOf(1_000_000n, reserve, slot)
      const share = fractionOf(told.perMillion)
      expect(distance(liquidity, share)).toBeLessThanOrEqual((share * most) / theirs + 1n)
    },
  )

  const distance = (a: bigint, b: bigint) => (a > b ? a - b : b - a)
  const anySlots = fc.bigInt({ min: 0n, max: 10_000_000n })

  it('never takes from suppliers, and is none before the reserve was updated', () => {
    fc.assert(
      fc.property(anySlots, anySlots, (a, b) => {
        const reserve = reserveOf()
        const [early, late] = a < b ? [a, b] : [b, a]
        const at = (slots: bigint) => suppliedAt(reserve, reserve.slot + slots)
        expect(at(late)).toBeGreaterThanOrEqual(at(early))
        expect(at(-early)).toBe(at(0n))
      }),
    )
  })

  it('grows without a jump where the series begins', () => {
    const rate = ONE / 5n
    const grown = Array.from({ length: 12 }, (_, slots) => compounded(rate, BigInt(slots)))
    const steps = grown.slice(1).map((each, i) => each - (grown[i] ?? 0n))
    for (const step of steps) expect(distance(step, rate / 63_072_000n)).toBeLessThan(200n)
    expect(grown[0]).toBe(ONE)
  })

  it('has a third term, which counts at rates that a curve can be set to', () => {
    // 500,000 % a year for 1,000 slots, as Kamino's package reckons it.
    const theirs = fractionOf('1.082496343053052584544285674996')
    const cut = 1_000n ** 3n
    expect(distance(compounded(5_000n * ONE, 1_000n), theirs)).toBeLessThan(cut)
    expect(cut).toBeLessThan(ONE / 10n ** 8n)
  })

  it('at the points of the curve is what they say, clamped at 100 %', () => {
    const { curve } = reserveOf()
    const percent = (of: bigint) => (of * ONE) / 100n
    expect(borrowRate(curve, 0n)).toBe(ONE / 10_000n)
    expect(borrowRate(curve, percent(70n))).toBe((500n * ONE) / 10_000n)
    expect(borrowRate(curve, percent(100n))).toBe((9_000n * ONE) / 10_000n)
    expect(borrowRate(curve, percent(140n))).toBe(borrowRate(curve, percent(100n)))
    // 69.996 % is met by the point at 70 %; 69.994 % is not.
    expect(borrowRate(curve, (69_996n * ONE) / 100_000n)).toBe((500n * ONE) / 10_000n)
    expect(borrowRate(curve, (69_994n * ONE) / 100_000n)).toBeLessThan((500n * ONE) / 10_000n)
    // Half way between 9 % and 40 %.
    expect(distance(borrowRate(curve, percent(90n)), percent(49n) / 2n)).toBeLessThan(4n)
    expect(() => borrowRate([], percent(50n))).toThrow(RangeError)
    expect(() =>
      borrowRate(
        [
          { utilizationBps: 0, rateBps: 5 },
          { utilizationBps: 10_000, rateBps: 1 },
        ],
        percent(50n),
      ),
    ).toThrow(RangeError)
  })

  it('of suppliers is what borrowers pay on their part, less what is taken', () => {
    const reserve = { ...reserveOf(), protocolFeesSf: 0n, referrerFeesSf: 0n, pendingReferrerFeesSf: 0n }
    const flat = {
      ...reserve,
      takeRatePct: 20,
      curve: [0, 10_000].map(utilizationBps => ({ utilizationBps, rateBps: 800 })),
    }
    expect(distance(utilizationOf(flat), (75n * ONE) / 100n)).toBeLessThan(4n)
    // 0.75 × 8 % × 0.8
    expect(distance(supplyRate(flat), (48n * ONE) / 1_000n)).toBeLessThan(8n)
  })
})

describe('what belongs to the holders', () => {
  const reserves = new Map<string, KaminoReserve>(RESERVES.map(key => [key, reserveOf()]))

  it('is what lies idle and what the reserves pay, less the fees that are due', () => {
    const { slot, ctokenSupply } = reserveOf()
    const supplied = suppliedAt(reserveOf(), slot)
    const invested = [1n, 2n, 3n].reduce((sum, i) => sum + (1_000_000_007n * i * supplied) / ctokenSupply, 0n)
    expect(vaultAssets(vaultOf(), reserves, slot)).toBe(
      123_456_789_012n * ONE + invested - (2n ** 70n + 12_345n),
    )
  })

  it('is not known where a reserve is missing or of another asset: a part of a sum is no sum', () => {
    expect(() => vaultAssets(vaultOf(), new Map(), 0n)).toThrow(/the reserve .* is none/)
    const strange = new Map(reserves).set(RESERVES[2], { ...reserveOf(), tokenMint: named('another mint') })
    expect(() => vaultAssets(vaultOf(), strange, 0n)).toThrow(/another asset/)
  })

  it('is not known where fees are more than assets, or a reserve claims more than a fraction holds', () => {
    const poor = { ...vaultOf(), available: 0n, allocations: [] }
    expect(() => vaultAssets(poor, reserves, 0n)).toThrow(RangeError)
    const rich = new Map(reserves).set(RESERVES[0], { ...reserveOf(), borrowedSf: 2n ** 128n - 1n })
    expect(() => vaultAssets(vaultOf(), rich, 0n)).toThrow(RangeError)
  })
})
