import fc from 'fast-check'
import type { Hex } from 'viem'
import type { TransferMessage } from '../../abi/cctp-v2/message.ts'

const bytes = (min: number, max = min): fc.Arbitrary<Hex> =>
  fc
    .uint8Array({ minLength: min, maxLength: max })
    .map(array => `0x${Buffer.from(array).toString('hex')}` as Hex)
const account = fc.oneof(
  bytes(32),
  bytes(20).map(hex => `0x${'0'.repeat(24)}${hex.slice(2)}` as Hex),
)
const u32 = fc.integer({ min: 0, max: 2 ** 32 - 1 })
const u256 = (max = 2n ** 256n - 1n) => fc.bigInt({ min: 0n, max })

/** Any message of a transfer. */
export const anyMessage = (
  of: Partial<TransferMessage> = {},
  maxUint?: bigint,
): fc.Arbitrary<TransferMessage> =>
  fc.record({
    version: fc.constant(1),
    sourceDomain: u32,
    destinationDomain: u32,
    nonce: bytes(32),
    sender: of.sender === undefined ? account : fc.constant(of.sender),
    recipient: account,
    destinationCaller: account,
    minFinalityThreshold: u32,
    finalityThresholdExecuted: u32,
    body: fc.record({
      version: fc.constant(1),
      burnToken: account,
      mintRecipient: account,
      amount: u256(maxUint),
      messageSender: account,
      maxFee: u256(maxUint),
      feeExecuted: u256(maxUint),
      expirationBlock: u256(maxUint),
      hookData: bytes(0, 80),
    }),
  })
