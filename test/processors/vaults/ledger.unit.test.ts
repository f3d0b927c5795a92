import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { DomainEvent } from '../../../db/events/vocabulary.ts'
import { settleLedgers } from '../../../processors/vaults/ledger.ts'

const VAULT = `0x${'e'.repeat(40)}`
const ZERO = `0x${'0'.repeat(40)}`
const [ALICE, BOB, ROUTER, FEES] = ['a', 'b', 'c', 'f'].map(c => `0x${c.repeat(40)}`) as [
  string,
  string,
  string,
  string,
]

const at = (logIndex: number) => ({ contract: VAULT, logIndex, transactionHash: `0x${'1'.repeat(64)}` })
const deposit = (logIndex: number, owner: string, shares: bigint): DomainEvent => ({
  type: 'Deposited',
  ...at(logIndex),
  data: { sender: ROUTER, owner, assets: shares * 2n, shares, ledger: 'self' },
})
const redeem = (logIndex: number, owner: string, shares: bigint): DomainEvent => ({
  type: 'Redeemed',
  ...at(logIndex),
  data: { sender: ROUTER, receiver: owner, owner, assets: shares * 2n, shares, ledger: 'self' },
})
const transfer = (logIndex: number, from: string, to: string, shares: bigint): DomainEvent => ({
  type: 'ShareTransferred',
  ...at(logIndex),
  data: { from, to, shares },
})
const ledgers = (events: DomainEvent[]) =>
  settleLedgers(events).flatMap(e => (e.type === 'Deposited' || e.type === 'Redeemed' ? [e.data.ledger] : []))

describe('a deposit or redemption moves its shares', () => {
  test.each<[string, DomainEvent[], ('transfer' | 'self')[]]>([
    ['by its mint', [transfer(0, ZERO, ALICE, 5n), deposit(1, ALICE, 5n)], ['transfer']],
    [
      'by its mint, when that comes after it',
      [deposit(0, ALICE, 5n), transfer(1, ZERO, ALICE, 5n)],
      ['transfer'],
    ],
    ['by its burn', [transfer(0, ALICE, ZERO, 5n), redeem(1, ALICE, 5n)], ['transfer']],
    [
      'itself, where there is no transfer (sDAI)',
      [deposit(0, ALICE, 5n), redeem(1, ALICE, 5n)],
      ['self', 'self'],
    ],
    [
      'each by a mint of its own: two equal deposits, two mints',
      [
        transfer(0, ZERO, ALICE, 5n),
        deposit(1, ALICE, 5n),
        transfer(2, ZERO, ALICE, 5n),
        deposit(3, ALICE, 5n),
      ],
      ['transfer', 'transfer'],
    ],
    [
      'by a mint only once: two equal deposits, one mint',
      [transfer(0, ZERO, ALICE, 5n), deposit(1, ALICE, 5n), deposit(2, ALICE, 5n)],
      ['transfer', 'self'],
    ],
    [
      'itself, when the only mint is a fee to somebody else',
      [transfer(0, ZERO, FEES, 1n), deposit(1, ALICE, 5n)],
      ['self'],
    ],
    [
      'by its mint beside fee mints, of the same transaction and even of the same size',
      [transfer(0, ZERO, FEES, 5n), transfer(1, ZERO, ALICE, 5n), deposit(2, ALICE, 5n)],
      ['transfer'],
    ],
    [
      'by a mint to another receiver than it names',
      [transfer(0, ZERO, BOB, 5n), deposit(1, ALICE, 5n)],
      ['transfer'],
    ],
    [
      'by a mint less a fee in shares',
      [transfer(0, ZERO, ALICE, 4n), transfer(1, ZERO, FEES, 1n), deposit(2, ALICE, 5n)],
      ['transfer'],
    ],
    [
      'by a transfer of shares that the vault held for it (ERC-7540)',
      [transfer(0, VAULT, ALICE, 5n), deposit(1, ALICE, 5n)],
      ['transfer'],
    ],
    ['not by a transfer between others', [transfer(0, BOB, ALICE, 5n), deposit(1, ALICE, 5n)], ['self']],
    [
      'not by the mint of another deposit that fits better',
      [transfer(0, ZERO, BOB, 5n), deposit(1, ALICE, 5n), deposit(2, BOB, 5n)],
      ['self', 'transfer'],
    ],
    [
      'a deposit and a redemption of one transaction each by their own',
      [
        transfer(0, ZERO, ALICE, 5n),
        deposit(1, ALICE, 5n),
        transfer(2, ALICE, ZERO, 5n),
        redeem(3, ALICE, 5n),
      ],
      ['transfer', 'transfer'],
    ],
  ])('%s', (_, events, expected) => {
    expect(ledgers(events)).toEqual(expected)
  })
})

test('keeps every event, in order, and changes nothing but the ledger', () => {
  const who = fc.constantFrom(ALICE, BOB, ZERO, FEES, VAULT)
  const shares = fc.bigInt({ min: 0n, max: 3n })
  const event = fc.oneof(
    fc.tuple(who, shares).map(([o, s]) => deposit(0, o, s)),
    fc.tuple(who, shares).map(([o, s]) => redeem(0, o, s)),
    fc.tuple(who, who, shares).map(([f, t, s]) => transfer(0, f, t, s)),
  )
  fc.assert(
    fc.property(fc.array(event, { maxLength: 12 }), list => {
      const events = list.map((e, logIndex) => ({ ...e, logIndex })) as DomainEvent[]
      const before = structuredClone(events)
      const settled = settleLedgers(events)
      expect(events).toEqual(before)
      expect(settled.map(e => ({ ...e, data: { ...e.data, ledger: undefined } }))).toEqual(
        events.map(e => ({ ...e, data: { ...e.data, ledger: undefined } })),
      )
      const moved = settled.filter(e => 'ledger' in e.data && e.data.ledger === 'transfer').length
      expect(moved).toBeLessThanOrEqual(events.filter(e => e.type === 'ShareTransferred').length)
    }),
  )
})

test('what is claimed is left as it is, and takes no transfer from another', () => {
  const claim = redeem(1, ALICE, 5n)
  const told = { ...claim, data: { ...claim.data, ledger: 'transfer' } } as DomainEvent
  expect(ledgers([transfer(0, ALICE, ZERO, 5n), told, redeem(2, ALICE, 5n)])).toEqual([
    'transfer',
    'transfer',
  ])
})
