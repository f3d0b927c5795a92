import { z } from 'zod'
import { addressOf, bytes, bytes32, typedDataShape, uint } from '../typed-data.ts'

/** Answers of the supertransaction API, version 0.4.0. @see https://docs.biconomy.io/supertransaction-api/openapi.yaml */

const text = z.string().max(256)

const userOpShape = z.object({
  userOp: z.object({
    sender: addressOf,
    nonce: uint,
    initCode: bytes.optional(),
    callData: bytes,
    callGasLimit: uint,
    verificationGasLimit: uint,
    preVerificationGas: uint,
    maxFeePerGas: uint,
    maxPriorityFeePerGas: uint,
    paymasterAndData: bytes.optional(),
  }),
  userOpHash: bytes32,
  meeUserOpHash: bytes32,
  lowerBoundTimestamp: z.number().int().nonnegative(),
  upperBoundTimestamp: z.number().int().nonnegative(),
  chainId: z.number().int().positive(),
  eip7702Auth: z.unknown().optional(),
  isCleanUpUserOp: z.boolean().optional(),
  shortEncoding: z.boolean().optional(),
})
export type MeeUserOp = z.output<typeof userOpShape>

export const QUOTE_TYPES = ['permit', 'onchain', 'simple', 'permit-sca', 'mm-dtk'] as const

export const quoteShape = z.object({
  ownerAddress: addressOf,
  fee: z.object({ amount: uint, token: addressOf, chainId: z.number().int().positive() }),
  quoteType: z.enum(QUOTE_TYPES),
  quote: z.object({
    hash: bytes32,
    paymentInfo: z.object({
      sender: addressOf,
      token: addressOf,
      chainId: z.number().int().positive(),
      eoa: addressOf.optional(),
      eip7702Auth: z.unknown().optional(),
      sponsored: z.boolean().optional(),
    }),
    userOps: z.array(userOpShape).min(1).max(64),
  }),
  payloadToSign: z.array(z.unknown()).min(1).max(16),
})
export type Quote = z.output<typeof quoteShape>

export const permitPayload = z.strictObject({
  signablePayload: typedDataShape,
  metadata: z.strictObject({
    nonce: uint,
    name: text,
    version: text,
    domainSeparator: bytes32,
    owner: addressOf,
    spender: addressOf,
    amount: uint,
  }),
})

export const executedShape = z.object({
  success: z.boolean(),
  supertxHash: bytes32.nullable(),
  error: z.string().nullable(),
})

export const explorerShape = z.object({
  userOps: z.array(
    z.object({
      chainId: z.union([z.number(), z.string()]).transform(Number),
      executionStatus: z.string(),
      executionData: z.string().nullish(),
      isCleanUpUserOp: z.boolean().optional(),
    }),
  ),
})
