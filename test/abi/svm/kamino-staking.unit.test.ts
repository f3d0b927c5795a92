import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { deposit, type KaminoAt, withdraw, withdrawFromAvailable } from '../../../abi/kamino/instructions.ts'
import { decodeFarm, openStake, stake, takeUnstaked, unstake } from '../../../abi/kamino/staking.ts'
import { FARMS_PROGRAM, VAULT_PROGRAM } from '../../../abi/kamino/vault.ts'
import { bytesOf } from '../../../abi/svm/addresses.ts'
import type { Instruction } from '../../../abi/svm/instruction.ts'
import { type Key, keyOf, TOKEN_2022_PROGRAM } from '../../../abi/svm/programs.ts'
import { toBase58 } from '../../../db/base58.ts'
import cases from './kamino-cases.json' with { type: 'json' }

/** Parts of a stake that are a token base unit where nothing was taken out of the farm. */
const UNIT = 10n ** 18n

/** What Kamino's own packages made of random keys and amounts. */
const named = (name: string): Key => `0x${createHash('sha256').update(name).digest('hex')}`

const described = ({ program, accounts, data }: Instruction) => ({
  program: toBase58(program),
  accounts: accounts.map(
    ({ key, isSigner, isWritable }) => `${toBase58(key)} ${isSigner ? 's' : ''}${isWritable ? 'w' : ''}`,
  ),
  data: Buffer.from(data).toString('hex'),
})

it.each(cases.kvault.map((each, i) => ({ ...each, i })))(
  'a deposit and withdrawals of a vault with $reserves reserves have the bytes and accounts that Kamino gives them',
  ({ i, reserves: count, amount, ...told }) => {
    const n = (what: string) => named(`case ${i} ${what}`)
    const keys = Array.from({ length: count }, (_, r) => n(`reserve ${r}`))
    const at = {
      vault: n('vault'),
      state: {
        authority: n('authority'),
        tokenMint: n('tokenMint'),
        tokenVault: n('tokenVault'),
        tokenProgram: n('tokenProgram'),
        sharesMint: n('sharesMint'),
        allocations: keys.map(reserve => ({ reserve, ctokenVault: n('unused'), ctokens: 0n })),
      },
      reserves: new Map(
        keys.map((key, r) => [
          key,
          {
            lendingMarket: n(`market ${r % 3}`),
            supplyVault: n(`supply ${r}`),
            ctokenMint: n(`ctoken ${r}`),
          },
        ]),
      ),
    } as unknown as KaminoAt
    const of = { user: n('user'), tokens: n('tokens'), shares: n('shares') }
    expect(described(deposit(at, of, BigInt(amount)))).toEqual(told.deposit)
    expect(described(withdrawFromAvailable(at, of, BigInt(amount)))).toEqual(told.withdrawFromAvailable)
    const last = keys.at(-1)
    if (last) expect(described(withdraw(at, of, last, BigInt(amount)))).toEqual(told.withdraw)
    expect(last === undefined).toBe(told.withdraw === undefined)
  },
)

it.each(cases.farms.map((each, i) => ({ ...each, i })))(
  'a stake of $amount is opened, paid in, ended and taken out as Kamino does, with the prices of an oracle: $hasPrices',
  ({ i, amount, hasPrices, ...told }) => {
    const n = (what: string) => named(`farm case ${i} ${what}`)
    const at = { farm: n('farm'), mint: n('mint'), prices: hasPrices ? n('prices') : undefined }
    expect(described(openStake(at, n('user')))).toEqual(told.open)
    expect(described(stake(at, n('user'), BigInt(amount)))).toEqual(told.stake)
    expect(described(unstake(at, n('user'), BigInt(amount) * UNIT))).toEqual(told.unstake)
    expect(described(takeUnstaked(at, n('user')))).toEqual(told.takeOut)
  },
)

describe('a farm', () => {
  const at = keyOf(cases.farm.address)
  const bytes = Buffer.alloc(cases.farm.size)
  for (const [start, hex] of cases.farm.bytes) bytes.write(String(hex), Number(start), 'hex')
  const changed = (place: number, of: Uint8Array) => {
    const copy = Buffer.from(bytes)
    copy.set(of, place)
    return copy
  }

  it("reads as Kamino's package wrote it", () => {
    expect(decodeFarm(at, FARMS_PROGRAM, bytes)).toEqual({
      farm: named('farm'),
      mint: named('shares of the farm'),
      prices: named('prices'),
      isFrozen: false,
      isDelegated: false,
      canBeTaken: true,
      warmup: 60,
      cooldown: 3_600,
      isLocked: true,
      cap: 5_000_000_000n,
      activeAmount: 4_000_000_000n,
      activeScaled: 4_000_000_000n * UNIT,
      pendingAmount: 5n,
      pendingScaled: 77n,
    })
    const plain = decodeFarm(at, FARMS_PROGRAM, changed(7_536, new Uint8Array(32)))
    expect(plain?.prices).toBeUndefined()
    expect(decodeFarm(at, FARMS_PROGRAM, changed(7_368, new Uint8Array(32)))?.canBeTaken).toBe(false)
    expect(decodeFarm(at, FARMS_PROGRAM, changed(7_361, Uint8Array.of(1)))?.isFrozen).toBe(true)
    expect(decodeFarm(at, FARMS_PROGRAM, changed(7_362, Uint8Array.of(1)))?.isDelegated).toBe(true)
  })

  it.each([
    ['vault', 7_256, bytesOf(named('liar'))],
    ['authority', 7_288, bytesOf(named('liar'))],
    ['mint', 72, bytesOf(named('liar'))],
    ['token program', 112, bytesOf(TOKEN_2022_PROGRAM)],
    ['kind', 0, Uint8Array.of(1)],
  ])('with another %s is none', (_, place, of) => {
    expect(decodeFarm(at, FARMS_PROGRAM, changed(place, of))).toBeUndefined()
  })

  it('of another program or address, or cut off, is none', () => {
    expect(decodeFarm(at, VAULT_PROGRAM, bytes)).toBeUndefined()
    expect(decodeFarm(named('another'), FARMS_PROGRAM, bytes)).toBeUndefined()
    expect(decodeFarm(at, FARMS_PROGRAM, bytes.subarray(1))).toBeUndefined()
  })
})

it('an amount of 128 bits is not cut off', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), amount => {
      const { data } = unstake({ farm: named('a'), prices: undefined }, named('b'), amount * UNIT)
      const [low = 0n, high = 0n] = [8, 16].map(place => Buffer.from(data).readBigUInt64LE(place))
      expect(low + (high << 64n)).toBe(amount * UNIT)
    }),
  )
})
