import { z } from 'zod'
import { address, bytes32, count, uint } from './shapes.ts'

/** Money that goes from one chain to another; `contract` is what carries the messages. */
export const bridgeVocabulary = {
  /**
   * An amount was burnt for somebody on another chain. Domains are the bridge's numbers of chains. transferKey: what its
   * receipt has as well; two of one key are interchangeable. messageHash: of the message as it was emitted.
   */
  BridgeSent: z.object({
    sourceDomain: count,
    destinationDomain: count,
    token: address,
    depositor: address,
    recipient: address,
    amount: uint,
    /** The most that may be kept of the amount. */
    maxFee: uint,
    minFinality: count,
    transferKey: bytes32,
    messageHash: bytes32,
  }),
  /** What was burnt on another chain was paid out here, less `fee`. Token and depositor are of the source. */
  BridgeReceived: z.object({
    sourceDomain: count,
    nonce: bytes32,
    token: address,
    depositor: address,
    recipient: address,
    amount: uint,
    fee: uint,
    caller: address,
    finality: count,
    transferKey: bytes32,
  }),
}
