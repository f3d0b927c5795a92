import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { deposit, type KaminoAt, withdraw, withdrawFromAvailable } from '../../../abi/kamino/instructions.ts'
import type { KaminoReserve } from '../../../abi/kamino/reserve.ts'
import type { KaminoVault } from '../../../abi/kamino/vault.ts'
import type { Instruction } from '../../../abi/svm/instruction.ts'
import { type Key, keyOf, TOKEN_PROGRAM } from '../../../abi/svm/programs.ts'
import type { SvmInstruction, SvmTransaction } from '../../../processors/svm/block.ts'
import kamino from '../../../processors/svm/programs/kamino.ts'
import { anyKey } from '../../abi/svm/oracle.ts'

/** Instructions as Kamino's own packages make them, with what the program does below them. */

const VAULTS = keyOf('KvauGMspG5k6rtzrqqn7WNn3oZdyKqLKwK2XWQ8FLjd')
const FARMS = keyOf('FarmsPZpWu9i7Kky8tPN37rs2TpmMrAZrC7S7vJa91Hr')
const anyKeys = fc.uniqueArray(anyKey, { minLength: 14, maxLength: 14 })
const anyAmount = fc.bigInt({ min: 1n, max: 2n ** 63n })

function inside({ program, accounts, data }: Instruction): SvmInstruction {
  return { path: [2], place: 3, program, accounts: accounts.map(({ key }) => key), data: Buffer.from(data) }
}

const token = (number: number, accounts: Key[], amount: bigint, place: number): SvmInstruction => {
  const data = Buffer.alloc(number > 9 ? 10 : 9)
  data[0] = number
  data.writeBigUInt64LE(amount, 1)
  return { path: [2, place], place: 4 + place, program: TOKEN_PROGRAM, accounts, data }
}

const transactionOf = (instructions: SvmInstruction[], ...held: [Key, Key, Key][]): SvmTransaction => ({
  index: 0,
  signature: '',
  instructions,
  balances: held.map(([account, mint, owner]) => ({
    account,
    before: { mint, owner, amount: 1n },
    after: { mint, owner, amount: 2n },
  })),
})

function worldOf(keys: Key[]) {
  const [
    vault,
    authority,
    mint,
    tokenVault,
    shareMint,
    user,
    tokens,
    shares,
    reserve,
    market,
    supply,
    ctokens,
  ] = keys as [Key, Key, Key, Key, Key, Key, Key, Key, Key, Key, Key, Key]
  const state = {
    authority,
    tokenMint: mint,
    tokenVault,
    tokenProgram: TOKEN_PROGRAM,
    sharesMint: shareMint,
    allocations: [{ reserve, ctokenVault: ctokens, ctokens: 1n }],
  } as unknown as KaminoVault
  const reserves = new Map([
    [reserve as string, { lendingMarket: market, supplyVault: supply, ctokenMint: mint } as KaminoReserve],
  ])
  const at: KaminoAt = { vault, state, reserves }
  return { vault, authority, mint, tokenVault, shareMint, user, tokens, shares, reserve, supply, at }
}

const named = (instruction: SvmInstruction, name: string): SvmInstruction => ({
  ...instruction,
  data: Buffer.concat([
    createHash('sha256').update(`global:${name}`).digest().subarray(0, 8),
    instruction.data.subarray(8),
  ]),
})

it.each(['deposit', 'buy'])(
  'a %s is what left the wallet and what was minted for it, whatever was asked for',
  name =>
    fc.assert(
      fc.property(anyKeys, anyAmount, anyAmount, (keys, assets, minted) => {
        const { vault, authority, mint, tokenVault, shareMint, user, tokens, shares, at } = worldOf(keys)
        const asked = named(inside(deposit(at, { user, tokens, shares }, 2n ** 64n - 1n)), name)
        const below = [
          token(12, [tokens, mint, tokenVault], assets, 0),
          token(7, [shareMint, shares, authority], minted, 1),
        ]
        const data = { account: user, sender: user, assets, shares: minted, instructionIndex: 2, path: '2' }
        expect(kamino.decode(asked, transactionOf([asked, ...below], [shares, shareMint, user]))).toEqual({
          vault,
          accounts: { program: asked.program, shareMint, asset: mint, authority },
          events: [{ type: 'SvmDeposited', protocol: 'kamino', contract: vault, data }],
        })
      }),
    ),
)

it('a withdrawal is what was burnt and what came to the wallet, from wherever', () =>
  fc.assert(
    fc.property(anyKeys, anyAmount, anyAmount, (keys, assets, burnt) => {
      const world = worldOf(keys)
      const { vault, authority, mint, tokenVault, shareMint, user, tokens, shares, reserve, supply, at } =
        world
      const of = { user, tokens, shares }
      const both = inside(withdraw(at, of, reserve, 5n))
      const idle = inside(withdrawFromAvailable(at, of, 5n))
      // Older versions of the program had no settings of its own.
      const old = { ...idle, accounts: idle.accounts.filter((_, i) => i !== 2) }
      for (const asked of [both, named(both, 'sell'), idle, old]) {
        const below = [
          token(8, [shares, shareMint, user], burnt, 0),
          token(12, [supply, mint, tokenVault], 77n, 1),
          token(12, [tokenVault, mint, tokens], assets, 2),
        ]
        const data = { account: user, receiver: user, assets, shares: burnt, instructionIndex: 2, path: '2' }
        expect(kamino.decode(asked, transactionOf([asked, ...below], [shares, shareMint, user]))).toEqual({
          vault,
          accounts: { program: asked.program, shareMint, asset: mint, authority },
          events: [{ type: 'SvmWithdrawn', protocol: 'kamino', contract: vault, data }],
        })
      }
      expect(() => kamino.decode(idle, transactionOf([idle]))).toThrow('no share was burnt')
    }),
  ))

it('shares that were redeemed for those of a reserve are gone, for no known amount of assets', () =>
  fc.assert(
    fc.property(anyKeys, anyAmount, (keys, burnt) => {
      const [user, vault, settings, authority, reserve, ctokens, mine, ctokenMint, shares, shareMint] =
        keys as [Key, Key, ...Key[]]
      const accounts = [
        user,
        vault,
        settings,
        authority,
        reserve,
        ctokens,
        mine,
        ctokenMint,
        shares,
        shareMint,
      ] as Key[]
      const asked = named(
        { path: [2], place: 3, program: VAULTS, accounts, data: Buffer.alloc(16) },
        'redeem_in_kind',
      )
      const below = [token(8, [shares as Key, shareMint as Key, user], burnt, 0)]
      expect(kamino.decode(asked, transactionOf([asked, ...below]))).toEqual({
        vault,
        accounts: undefined,
        events: [
          {
            type: 'SvmWithdrawn',
            protocol: 'kamino',
            contract: vault,
            data: { account: user, receiver: user, shares: burnt, instructionIndex: 2, path: '2' },
          },
        ],
      })
    }),
  ))

it('a stake is what went into the farm or came out of it, its owner’s all the time', () =>
  fc.assert(
    fc.property(anyKeys, anyAmount, (keys, moved) => {
      const [owner, stakeAccount, farm, farmVault, tokens, mint, authority] = keys as [
        Key,
        Key,
        Key,
        Key,
        Key,
        Key,
        Key,
      ]
      const act = (name: string, accounts: Key[]) =>
        named({ path: [2], place: 3, program: FARMS, accounts, data: Buffer.alloc(16) }, name)
      const told = (asked: SvmInstruction, ...below: SvmInstruction[]) =>
        kamino.farms?.decode(asked, transactionOf([asked, ...below], [farmVault, mint, authority]))
      const stake = act('stake', [owner, stakeAccount, farm, farmVault, tokens, mint, FARMS, TOKEN_PROGRAM])
      const acts = (...stakes: object[]) => ({ mint, farm, stakes })
      expect(told(stake, token(3, [tokens, farmVault, owner], moved, 0))).toEqual(
        acts({ stakeAccount, owner, change: moved }),
      )
      expect(told(stake)).toEqual(acts())
      const out = act('withdraw_unstaked_deposits', [owner, stakeAccount, farm, tokens, farmVault, authority])
      expect(told(out, token(3, [farmVault, tokens, authority], moved, 0))).toEqual(
        acts({ stakeAccount, owner, change: -moved }),
      )
      expect(told(act('unstake', [owner, stakeAccount, farm, FARMS]))).toBeUndefined()
      const [heir, heirs] = [tokens, authority]
      expect(
        told(act('transfer_ownership', [owner, owner, heir, stakeAccount, heirs, farm, FARMS, FARMS, FARMS])),
      ).toEqual({
        mint: undefined,
        farm,
        stakes: [
          { stakeAccount, owner, change: 0n },
          { stakeAccount: heirs, owner: heir, change: 0n },
        ],
      })
      const taken = act('withdraw_from_farm_vault', [owner, farm, tokens, farmVault, authority])
      expect(told(taken, token(3, [farmVault, tokens, authority], moved, 0))).toEqual({
        ...acts(),
        isRevalued: true,
      })
      const given = act('deposit_to_farm_vault', [owner, farm, farmVault, tokens])
      expect(told(given, token(3, [tokens, farmVault, owner], moved, 0))).toEqual({
        ...acts(),
        isRevalued: true,
      })
    }),
  ))
