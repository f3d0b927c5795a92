import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decodeEventData, encodeEventData } from '../../../db/events/event-json.ts'
import type { EventType } from '../../../db/events/vocabulary.ts'
import { vocabulary } from '../../../db/events/vocabulary.ts'

const address = fc
  .uint8Array({ minLength: 20, maxLength: 20 })
  .map(bytes => `0x${Buffer.from(bytes).toString('hex')}`)
const uint = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n })

test('what goes in comes back: 256 bits, either sign, any text but NUL and lone surrogates', () => {
  fc.assert(
    fc.property(address, address, uint, uint, (sender, owner, assets, shares) => {
      const data = { sender, owner, assets, shares, ledger: 'self' as const }
      expect(decodeEventData('Deposited', JSON.parse(encodeEventData(data)))).toEqual(data)
    }),
  )
  fc.assert(
    fc.property(
      address,
      fc.bigInt({ min: -(2n ** 255n), max: 2n ** 255n - 1n }),
      fc.nat(),
      (feed, answer, reportedAt) => {
        const data = { source: 'x', feed, answer, decimals: 8, reportedAt }
        expect(decodeEventData('PriceReported', JSON.parse(encodeEventData(data)))).toEqual(data)
      },
    ),
  )
  fc.assert(
    fc.property(address, fc.string({ unit: 'binary' }), (vault, reason) => {
      const stored = decodeEventData('VaultRejected', JSON.parse(encodeEventData({ vault, reason })))
      expect(stored.reason).toBe(reason.toWellFormed().replaceAll('\0', ''))
    }),
  )
})

test('an absent field stays absent', () => {
  const vault = `0x${'00'.repeat(20)}`
  const json = encodeEventData({
    vault,
    reason: 'hourly',
    totalSupply: undefined,
    decimals: 6,
    assetDecimals: 6,
  })
  expect(JSON.parse(json)).toEqual({ vault, reason: 'hourly', decimals: 6, assetDecimals: 6 })
})

test('the vocabulary speaks in the past tense and has no nested amounts, which storing would turn into text for good', () => {
  for (const [type, schema] of Object.entries(vocabulary)) {
    expect(type, type).toMatch(/(ed|rewn|awn|aid|ent|ought)$/)
    for (const [field, value] of Object.entries(schema.shape)) {
      expect(['object', 'array', 'record'], `${type as EventType}.${field}`).not.toContain(value.def.type)
    }
  }
})
