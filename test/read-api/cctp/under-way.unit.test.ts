import { pad, toHex } from 'viem'
import { expect, test } from 'vitest'
import { domains } from '../../../abi/cctp-v2/domains.ts'
import type { TransferMessage } from '../../../abi/cctp-v2/message.ts'
import { type Transfer, transitOf, underWay } from '../../../read-api/protocols/cctp-v2/transit.ts'

const [source] = domains
const word = (n: number) => pad(toHex(n))

/** The nth oldest of transfers that are alike; `nonce`: of its message, where that is known. */
function alike(place: number, nonces: readonly number[], nonce?: number, isReceived?: boolean): Transfer {
  if (!source) throw new TypeError('no domains')
  const account = `0x${'ab'.repeat(20)}` as const
  return {
    burn: {
      source,
      destinationDomain: 6,
      transaction: word(place),
      logIndex: 0,
      token: account,
      depositor: account,
      recipient: account,
      amount: 1n,
      messageHash: word(0),
      group: 'alike',
      received: nonces.length,
      nonces: nonces.map(word),
      place,
    },
    ...(nonce === undefined
      ? {}
      : {
          attested: {
            message: '0x',
            attestation: '0x',
            parsed: { nonce: word(nonce) } as TransferMessage,
          },
        }),
    ...(isReceived === undefined ? {} : { isReceived }),
  }
}
const places = (transfers: readonly Transfer[]) => transfers.map(({ burn }) => burn.place)

test('without nonces the oldest are taken for received, in whatever order they come', () => {
  expect(places(underWay([alike(3, [7, 8]), alike(1, [7, 8]), alike(2, [7, 8])]))).toEqual([3])
  expect(places(underWay([alike(2, []), alike(1, [])]))).toEqual([2, 1])
})

test('one whose nonce was received is it, and the others stay', () => {
  const all = [alike(1, [7], 6, false), alike(2, [7], 7, true), alike(3, [7])]
  expect(places(underWay(all))).toEqual([1, 3])
})

test('what is known not to be received is never taken for it', () => {
  const all = [alike(1, [7], 6, false), alike(2, [7]), alike(3, [7])]
  expect(places(underWay(all))).toEqual([1, 3])
})

test('what the destination has taken already, before its receipt is stored, is gone besides', () => {
  const all = [alike(1, [7]), alike(2, [7], 9, true), alike(3, [7])]
  expect(places(underWay(all))).toEqual([3])
})

test('where the oldest are cut off, they are those that were received', () => {
  // Five burns, three receipts; the list has the newest three: of these one was received.
  const nonces = [7, 8, 9]
  expect(places(underWay([alike(5, nonces), alike(4, nonces), alike(3, nonces)]))).toEqual([5, 4])
})

test('a key of 32 bytes goes out as it is, an address checksummed', () => {
  const transfer = alike(1, [])
  const wire = (recipient: `0x${string}`) =>
    transitOf({ burn: { ...transfer.burn, recipient } }).mintRecipient
  expect(wire(`0x${'5a'.repeat(32)}`)).toBe(`0x${'5a'.repeat(32)}`)
  expect(wire(`0x${'ab'.repeat(20)}`)).toBe('0xABaBaBaBABabABabAbAbABAbABabababaBaBABaB')
})
