import fc from 'fast-check'
import { encodeAbiParameters, type Hex, keccak256, pad, toEventSelector } from 'viem'
import { expect, test } from 'vitest'
import { TOKEN_MESSENGER } from '../../abi/cctp-v2/domains.ts'
import { asWord, encodeBody, encodeMessage, type TransferMessage } from '../../abi/cctp-v2/message.ts'
import { vocabulary } from '../../db/events/vocabulary.ts'
import cctp from '../../processors/protocols/cctp-v2/index.ts'
import { anyMessage } from '../abi/cctp-message.ts'

const decoders = cctp.sources[0]?.decoders ?? []
const [sent, received] = decoders
const of = (data: Hex, topics: Hex[]) => ({
  address: `0x${'81'.repeat(20)}`,
  logIndex: 3,
  transactionHash: `0x${'7a'.repeat(32)}`,
  topics,
  data,
})
const messageSent = (message: Hex) =>
  of(encodeAbiParameters([{ type: 'bytes' }], [message]), [toEventSelector('MessageSent(bytes)')])
const messageReceived = ({ sourceDomain, sender, nonce, body }: TransferMessage, raw = encodeBody(body)) =>
  of(
    encodeAbiParameters(
      [{ type: 'uint32' }, { type: 'bytes32' }, { type: 'bytes' }],
      [sourceDomain, sender, raw],
    ),
    [
      toEventSelector('MessageReceived(address,uint32,bytes32,bytes32,uint32,bytes)'),
      pad('0x0000000000000000000000000000000000000009'),
      nonce,
      pad('0x7d0'),
    ],
  )
const messenger = asWord(TOKEN_MESSENGER)

test('a message of the messenger is a burn, with all that it says', () => {
  fc.assert(
    fc.property(anyMessage({ sender: messenger }), message => {
      const [event, ...more] = sent?.decode(messageSent(encodeMessage(message))) ?? []
      expect(more).toEqual([])
      if (event?.type !== 'BridgeSent') throw new TypeError('no burn')
      expect(vocabulary.BridgeSent.parse(event.data)).toEqual(event.data)
      const { amount, maxFee } = message.body
      expect(event.data).toMatchObject({
        amount,
        maxFee,
        sourceDomain: message.sourceDomain,
        destinationDomain: message.destinationDomain,
        minFinality: message.minFinalityThreshold,
      })
      expect(pad(event.data.recipient as Hex)).toBe(message.body.mintRecipient)
      expect(pad(event.data.depositor as Hex)).toBe(message.body.messageSender)
      expect(pad(event.data.token as Hex)).toBe(message.body.burnToken)
    }),
  )
})

test('as the chain emits it, the hash is that of the very bytes', () => {
  fc.assert(
    fc.property(anyMessage({ sender: messenger }), message => {
      const emitted = encodeMessage({
        ...message,
        nonce: pad('0x'),
        finalityThresholdExecuted: 0,
        body: { ...message.body, feeExecuted: 0n, expirationBlock: 0n },
      })
      const [event] = sent?.decode(messageSent(emitted)) ?? []
      expect(event?.data).toMatchObject({ messageHash: keccak256(emitted) })
    }),
  )
})

test('a receipt has the key of its burn, whatever was filled in since', () => {
  fc.assert(
    fc.property(anyMessage({ sender: messenger }), message => {
      const [burn] = sent?.decode(messageSent(encodeMessage(message))) ?? []
      const filled = { ...message, body: { ...message.body, feeExecuted: 5n, expirationBlock: 9n } }
      const [receipt] = received?.decode(messageReceived(filled)) ?? []
      if (burn?.type !== 'BridgeSent' || receipt?.type !== 'BridgeReceived') throw new TypeError('no pair')
      expect(receipt.data).toMatchObject({ fee: 5n, nonce: message.nonce, finality: 2000 })
      expect(receipt.data.transferKey).toBe(burn.data.transferKey)
      expect(receipt.data.recipient).toBe(burn.data.recipient)
    }),
  )
})

test('what others send over the transmitter, and what is no transfer, is no event', () => {
  fc.assert(
    fc.property(anyMessage(), message => {
      fc.pre(message.sender !== messenger)
      expect(sent?.decode(messageSent(encodeMessage(message)))).toEqual([])
      expect(received?.decode(messageReceived(message))).toEqual([])
      const own = { ...message, sender: messenger }
      const other = { ...own, body: { ...own.body, version: 2 } }
      expect(sent?.decode(messageSent(encodeMessage(other)))).toEqual([])
      expect(received?.decode(messageReceived(other))).toEqual([])
      expect(
        received?.decode(messageReceived(own, encodeBody(own.body).slice(0, 2 + 2 * 227) as Hex)),
      ).toEqual([])
      expect(sent?.decode(messageSent('0x'))).toEqual([])
    }),
  )
})
