import { describe, expect, test } from 'vitest'
import { attributionSuffix, withSuffix } from '../../db/attribution.ts'
import type { DomainEvent } from '../../db/events/vocabulary.ts'
import { attribute, toAttribute } from '../../processors/handling/attribute.ts'

const at = (n: number) => `0x${n.toString(16).padStart(40, '0')}`
const [user, router, outer, inner, adapter] = [1, 2, 3, 4, 5].map(at) as [
  string,
  string,
  string,
  string,
  string,
]
const hash = `0x${'7'.repeat(64)}`
const input = withSuffix('0x6e553f65', attributionSuffix('0a1b2c3d'))
const codes = ['0a1b2c3d', 'vaultlog']

const deposited = (contract: string, owner: string, transactionHash = hash): DomainEvent => ({
  type: 'Deposited',
  contract,
  logIndex: 0,
  transactionHash,
  data: { sender: owner, owner, assets: 5n, shares: 5n, ledger: 'transfer' },
})
const moved: DomainEvent = {
  type: 'ShareTransferred',
  contract: outer,
  logIndex: 1,
  transactionHash: hash,
  data: { from: user, to: user, shares: 5n },
}
const marked = (events: readonly DomainEvent[], to: string | undefined) =>
  attribute(events, hash, { to, input }).map(({ data }) => ('codes' in data ? data.codes : undefined))

describe('a suffix marks what the transaction was made for', () => {
  test('a call of the vault itself: its deposit, not what it passes on, nor by way of an adapter', () => {
    const events = [deposited(inner, adapter), deposited(inner, outer), deposited(outer, user), moved]
    expect(marked(events, outer)).toEqual([undefined, undefined, codes, undefined])
  })

  test('a call by way of another contract: all but what a vault did that acts in it itself', () => {
    const events = [deposited(inner, outer), deposited(outer, user), deposited(inner, user)]
    expect(marked(events, router)).toEqual([undefined, codes, codes])
    expect(marked(events, undefined)).toEqual([undefined, codes, codes])
  })

  test('nothing of another transaction, nothing where there is no suffix, and nothing in place', () => {
    const events = [deposited(outer, user, `0x${'8'.repeat(64)}`), deposited(outer, user)]
    const before = structuredClone(events)
    expect(marked(events, outer)).toEqual([undefined, codes])
    expect(attribute(events, hash, { to: outer, input: '0x6e553f65' })).toEqual(before)
    expect(events).toEqual(before)
  })

  test('transactions are asked for once, and only where something can be marked', () => {
    expect(toAttribute([moved, deposited(outer, user), deposited(inner, outer)])).toEqual([hash])
    expect(toAttribute([moved])).toEqual([])
  })
})
