import { expect, it } from 'vitest'
import { idOf, networkPart } from '../../../read-api/http/payments.ts'

/** Callers that pay, and callers that do not: each has one name, however it is written. */

it.each([
  ['192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
  ['2001:db8::1', '2001:db8:0:0'],
  ['2001:db8::ffff:2:3:4', '2001:db8:0:0'],
  ['2001:db8::1:2:3:4', '2001:db8:0:0'],
  ['2001:db8:1:2::', '2001:db8:1:2'],
  ['::1', '0:0:0:0'],
])('%s is counted as %s', (ip, network) => {
  expect(networkPart(ip)).toBe(network)
})

const paid = (payload: Record<string, unknown>) => idOf({ payload } as never).id

it('a payment by Permit2 is one payment, whatever else is written beside it and however its nonce is', () => {
  const permit2Authorization = { from: '0xAb', nonce: '7', deadline: '99' }
  const once = paid({ permit2Authorization })
  expect(paid({ permit2Authorization, authorization: { from: '0xcd', nonce: '1' } })).toBe(once)
  for (const nonce of ['07', '0x7', '0x07'])
    expect(paid({ permit2Authorization: { from: '0xab', nonce } })).toBe(once)
  expect(paid({ permit2Authorization: { from: '0xab', nonce: '8' } })).not.toBe(once)
  expect(paid({ authorization: { from: '0xab', nonce: '7' } })).toBe(once)
})
