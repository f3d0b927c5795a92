import { concat, type Hex, keccak256, numberToHex, pad, size, slice } from 'viem'

/**
 * A transfer of CCTP v2 as its message says it. 32-byte fields are hex; amounts are base units of the burnt token.
 * @see MessageV2.sol and BurnMessageV2.sol of circlefin/evm-cctp-contracts: packed, big endian, the header 148 bytes, the body
 * at least 228.
 */
export interface TransferMessage {
  version: number
  sourceDomain: number
  destinationDomain: number
  /** Zero as the chain emits it, as are the next fields marked so: the attesting service fills them in. */
  nonce: Hex
  /** The messenger of the source, and that of the destination. */
  sender: Hex
  recipient: Hex
  /** Who alone may deliver it; zero: anybody. */
  destinationCaller: Hex
  minFinalityThreshold: number
  /** Zero as emitted. */
  finalityThresholdExecuted: number
  body: TransferBody
}

export interface TransferBody {
  version: number
  burnToken: Hex
  mintRecipient: Hex
  amount: bigint
  /** Who burnt. */
  messageSender: Hex
  maxFee: bigint
  /** Zero as emitted. */
  feeExecuted: bigint
  /** Zero as emitted; a block of the destination from which on the message is not taken any more, 0: never. */
  expirationBlock: bigint
  hookData: Hex
}

const HEADER = 148
const BODY = 228
/** Bytes of the shortest message of a transfer. */
export const SHORTEST_MESSAGE = HEADER + BODY

/** Of message and body, as long as this is CCTP v2. */
export const VERSION = 1
/** Fast: attested when the source says "confirmed". */
export const FAST = 1000
/** Standard: attested when the block of the source is final. */
export const STANDARD = 2000

/** Asks Circle to deliver: "cctp-forward" in 24 bytes, version 0, no data of its own. */
export const FORWARD_HOOK: Hex = '0x636374702d666f72776172640000000000000000000000000000000000000000'

const int = (bytes: Hex, from: number, length: number) => BigInt(slice(bytes, from, from + length))
const word = (bytes: Hex, from: number) => slice(bytes, from, from + 32)

/** Undefined for what is no body of a transfer. */
export function parseBody(body: Hex): TransferBody | undefined {
  if (size(body) < BODY) return undefined
  const version = Number(int(body, 0, 4))
  if (version !== VERSION) return undefined
  return {
    version,
    burnToken: word(body, 4),
    mintRecipient: word(body, 36),
    amount: int(body, 68, 32),
    messageSender: word(body, 100),
    maxFee: int(body, 132, 32),
    feeExecuted: int(body, 164, 32),
    expirationBlock: int(body, 196, 32),
    hookData: size(body) > BODY ? slice(body, BODY) : '0x',
  }
}

/** Undefined for what is no message of a transfer. */
export function parseMessage(message: Hex): TransferMessage | undefined {
  if (size(message) < SHORTEST_MESSAGE) return undefined
  const version = Number(int(message, 0, 4))
  const body = parseBody(slice(message, HEADER))
  if (version !== VERSION || !body) return undefined
  return {
    version,
    sourceDomain: Number(int(message, 4, 4)),
    destinationDomain: Number(int(message, 8, 4)),
    nonce: word(message, 12),
    sender: word(message, 44),
    recipient: word(message, 76),
    destinationCaller: word(message, 108),
    minFinalityThreshold: Number(int(message, 140, 4)),
    finalityThresholdExecuted: Number(int(message, 144, 4)),
    body,
  }
}

const u32 = (value: number) => numberToHex(value, { size: 4 })
const u256 = (value: bigint) => numberToHex(value, { size: 32 })

export function encodeBody(body: TransferBody): Hex {
  return concat([
    u32(body.version),
    body.burnToken,
    body.mintRecipient,
    u256(body.amount),
    body.messageSender,
    u256(body.maxFee),
    u256(body.feeExecuted),
    u256(body.expirationBlock),
    body.hookData,
  ])
}

export function encodeMessage(message: TransferMessage): Hex {
  return concat([
    u32(message.version),
    u32(message.sourceDomain),
    u32(message.destinationDomain),
    message.nonce,
    message.sender,
    message.recipient,
    message.destinationCaller,
    u32(message.minFinalityThreshold),
    u32(message.finalityThresholdExecuted),
    encodeBody(message.body),
  ])
}

export const ZERO_WORD: Hex = `0x${'0'.repeat(64)}`

const bodyAsBurnt = (body: TransferBody): TransferBody => ({ ...body, feeExecuted: 0n, expirationBlock: 0n })

/**
 * What a burn and its receipt have in common: the hash of the body without the fields that are filled in later. Two burns with the
 * same key are interchangeable: no chain says which of them was received.
 */
export const transferKey = (body: TransferBody): Hex => keccak256(encodeBody(bodyAsBurnt(body)))

/** The hash of a message as the chain emitted it: what is attested must be the same in all but the fields filled in later. */
export const emittedHash = (message: TransferMessage): Hex =>
  keccak256(
    encodeMessage({
      ...message,
      nonce: ZERO_WORD,
      finalityThresholdExecuted: 0,
      body: bodyAsBurnt(message.body),
    }),
  )

/** An account that the message has in 32 bytes: 20 bytes of an EVM chain, else all 32. */
export const accountOf = (bytes32: Hex): Hex =>
  /^0x0{24}/.test(bytes32) ? (`0x${bytes32.slice(26)}` as Hex) : bytes32

/** An account as a message has it. */
export const asWord = (account: Hex): Hex => pad(account, { size: 32 })
