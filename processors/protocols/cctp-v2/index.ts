import type { Hex } from 'viem'
import { domains, MESSAGE_TRANSMITTER, TOKEN_MESSENGER } from '../../../abi/cctp-v2/domains.ts'
import * as Transmitter from '../../../abi/cctp-v2/MessageTransmitterV2.ts'
import {
  accountOf,
  asWord,
  emittedHash,
  parseBody,
  parseMessage,
  transferKey,
} from '../../../abi/cctp-v2/message.ts'
import { on } from '../../handling/decoder.ts'
import { defineProtocol } from '../../protocol.ts'

/** The messenger has one address on every EVM chain. Whatever else the transmitter carries is no transfer. */
const MESSENGER = asWord(TOKEN_MESSENGER)

/**
 * Burns and receipts of CCTP v2, both from the transmitter: the message of a burn says all that the messenger's own
 * DepositForBurn does, and only the messenger sends in its name.
 * @see TokenMessengerV2.sol, MessageTransmitterV2.sol of circlefin/evm-cctp-contracts (sendMessage: the sender is msg.sender)
 */
export default defineProtocol({
  name: 'cctp-v2',
  sources: [
    {
      kind: 'cctp-v2-transmitter',
      at: Object.fromEntries(domains.map(({ network }) => [network, [MESSAGE_TRANSMITTER]])),
      decoders: [
        on(Transmitter.MessageSent, 'BridgeSent', ({ message }) => {
          const sent = parseMessage(message as Hex)
          if (sent?.sender !== MESSENGER) return undefined
          const { sourceDomain, destinationDomain, minFinalityThreshold, body } = sent
          return {
            sourceDomain,
            destinationDomain,
            token: accountOf(body.burnToken),
            depositor: accountOf(body.messageSender),
            recipient: accountOf(body.mintRecipient),
            amount: body.amount,
            maxFee: body.maxFee,
            minFinality: minFinalityThreshold,
            transferKey: transferKey(body),
            messageHash: emittedHash(sent),
          }
        }),
        on(Transmitter.MessageReceived, 'BridgeReceived', received => {
          const body = received.sender === MESSENGER ? parseBody(received.messageBody as Hex) : undefined
          if (!body) return undefined
          return {
            sourceDomain: received.sourceDomain,
            nonce: received.nonce,
            token: accountOf(body.burnToken),
            depositor: accountOf(body.messageSender),
            recipient: accountOf(body.mintRecipient),
            amount: body.amount,
            fee: body.feeExecuted,
            caller: received.caller,
            finality: received.finalityThresholdExecuted,
            transferKey: transferKey(body),
          }
        }),
      ],
    },
  ],
})
