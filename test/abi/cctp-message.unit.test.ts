import fc from 'fast-check'
import { concat, encodePacked, keccak256, slice } from 'viem'
import { describe, expect, test } from 'vitest'
import { domains } from '../../abi/cctp-v2/domains.ts'
import {
  accountOf,
  asWord,
  emittedHash,
  encodeBody,
  encodeMessage,
  FORWARD_HOOK,
  parseBody,
  parseMessage,
  transferKey,
  ZERO_WORD,
} from '../../abi/cctp-v2/message.ts'
import { anyMessage } from './cctp-message.ts'

describe('a message', () => {
  test('is read as it was written, and has the layout of MessageV2.sol and BurnMessageV2.sol', () => {
    fc.assert(
      fc.property(anyMessage(), message => {
        const { body } = message
        // Solidity's abi.encodePacked of the fields in the order of the sources.
        const packed = concat([
          encodePacked(
            ['uint32', 'uint32', 'uint32', 'bytes32', 'bytes32', 'bytes32', 'bytes32', 'uint32', 'uint32'],
            [
              message.version,
              message.sourceDomain,
              message.destinationDomain,
              message.nonce,
              message.sender,
              message.recipient,
              message.destinationCaller,
              message.minFinalityThreshold,
              message.finalityThresholdExecuted,
            ],
          ),
          encodePacked(
            ['uint32', 'bytes32', 'bytes32', 'uint256', 'bytes32', 'uint256', 'uint256', 'uint256', 'bytes'],
            [
              body.version,
              body.burnToken,
              body.mintRecipient,
              body.amount,
              body.messageSender,
              body.maxFee,
              body.feeExecuted,
              body.expirationBlock,
              body.hookData,
            ],
          ),
        ])
        expect(encodeMessage(message)).toBe(packed)
        expect(parseMessage(packed)).toEqual(message)
        expect(parseBody(slice(packed, 148))).toEqual(body)
      }),
    )
  })

  test('one that is too short, or of another version, is none', () => {
    fc.assert(
      fc.property(anyMessage(), fc.integer({ min: 1, max: 375 }), (message, length) => {
        const bytes = encodeMessage(message)
        expect(parseMessage(slice(bytes, 0, length))).toBeUndefined()
        expect(parseMessage(encodeMessage({ ...message, version: 0 }))).toBeUndefined()
        expect(
          parseMessage(encodeMessage({ ...message, body: { ...message.body, version: 2 } })),
        ).toBeUndefined()
      }),
    )
    expect(parseMessage('0x')).toBeUndefined()
  })

  test('what is filled in later changes neither its hash nor its key; anything else does', () => {
    fc.assert(
      fc.property(anyMessage(), anyMessage(), (message, other) => {
        const { nonce, finalityThresholdExecuted } = other
        const { feeExecuted, expirationBlock } = other.body
        const filled = {
          ...message,
          nonce,
          finalityThresholdExecuted,
          body: { ...message.body, feeExecuted, expirationBlock },
        }
        expect(emittedHash(filled)).toBe(emittedHash(message))
        expect(transferKey(filled.body)).toBe(transferKey(message.body))
        const asEmitted = {
          ...message,
          nonce: ZERO_WORD,
          finalityThresholdExecuted: 0,
          body: { ...message.body, feeExecuted: 0n, expirationBlock: 0n },
        }
        expect(emittedHash(message)).toBe(keccak256(encodeMessage(asEmitted)))
        expect(transferKey(message.body)).toBe(keccak256(encodeBody(asEmitted.body)))
        for (const field of ['sourceDomain', 'destinationDomain', 'sender', 'recipient'] as const)
          if (message[field] !== other[field])
            expect(emittedHash({ ...message, [field]: other[field] })).not.toBe(emittedHash(message))
        for (const field of ['burnToken', 'mintRecipient', 'amount', 'messageSender', 'maxFee'] as const)
          if (message.body[field] !== other.body[field])
            expect(transferKey({ ...message.body, [field]: other.body[field] })).not.toBe(
              transferKey(message.body),
            )
      }),
    )
  })
})

test('the hook that asks for forwarding is cctp-forward in 24 bytes, version 0 and no length', () => {
  const magic = Buffer.alloc(32)
  magic.write('cctp-forward')
  expect(FORWARD_HOOK).toBe(`0x${magic.toString('hex')}`)
})

test('accounts of 20 bytes stand at the end of 32', () => {
  const account = `0x${'ab'.repeat(20)}` as const
  expect(accountOf(asWord(account))).toBe(account)
  expect(asWord(account)).toBe(`0x${'00'.repeat(12)}${'ab'.repeat(20)}`)
  const key = `0x01${'cd'.repeat(31)}` as const
  expect(accountOf(key)).toBe(key)
})

test('the table has no network, number or token twice', () => {
  expect(domains.length).toBe(13)
  for (const field of ['network', 'domain', 'usdc', 'chainId'] as const)
    expect(new Set(domains.map(of => of[field])).size).toBe(13)
})
