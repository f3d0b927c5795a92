import { address, baseUnits, choice, network } from '../http/parameters.ts'
import { Address, Amount } from '../http/shapes.ts'
import { z } from '../http/zod.ts'
import { BundleShape } from '../transactions/schemas.ts'
import { PROVIDERS } from './providers.ts'

export const providerName = choice(PROVIDERS).openapi({
  type: 'string',
  enum: [...PROVIDERS],
  description:
    'Who moves the position. One that is not configured is answered with 503, which names the setting.',
})

const position = {
  address: address('A token or a vault that the index knows.'),
  network: network(),
}

export const quoteBody = z
  .strictObject({
    userAddress: address('The wallet that spends, signs and receives.'),
    inputPosition: z.strictObject({
      ...position,
      amount: baseUnits('Base units of the token, or of the shares where it is a vault.').refine(
        value => value > 0n,
        { error: 'must be more than 0' },
      ),
    }),
    outputPosition: z.strictObject(position),
    feeToken: z.strictObject({
      address: address('What fees are paid in: the input position, which is what both providers take.'),
      network: network(),
    }),
    provider: providerName,
  })
  .openapi('IntentQuoteRequest')

const networkName = z.string().openapi({ description: 'Name of the network.', example: 'mainnet' })
const TokenShape = z
  .strictObject({ address: Address, network: networkName, decimals: z.int() })
  .openapi('IntentToken')
const TokenAmount = z
  .strictObject({ address: Address, network: networkName, decimals: z.int(), amount: Amount })
  .openapi('IntentTokenAmount')

export const QuoteAnswer = z
  .strictObject({
    payloadToSign: z
      .strictObject({
        domain: z.record(z.string(), z.union([z.string(), z.int()])),
        types: z.record(z.string(), z.array(z.strictObject({ name: z.string(), type: z.string() }))),
        primaryType: z.string(),
        message: z.record(z.string(), z.unknown()),
      })
      .openapi({
        description:
          'EIP-712, without EIP712Domain among its types, as viem and ethers take it. Numbers in the message are decimal strings.',
      }),
    fees: z.array(
      z.strictObject({
        type: z.enum(['bridge', 'gas', 'swap', 'protocol']),
        token: TokenShape,
        amount: Amount,
      }),
    ),
    totalCost: z
      .array(TokenAmount)
      .openapi({ description: 'What the signature lets be spent, fees included.' }),
    receivedPosition: TokenAmount.openapi({
      description:
        'What the user receives at least; of a vault the shares that this much of its asset is now. What arrives beyond it comes as the asset.',
    }),
    setupTransactions: BundleShape.shape.actions.optional().openapi({
      description: 'To be sent from the wallet before execute: an approval of exactly what is spent.',
    }),
    expirationTimestamp: z.int().openapi({ description: 'Unix seconds.' }),
    originalQuote: z.string().openapi({ description: 'Names the quote when it is executed.' }),
  })
  .openapi('IntentQuote')

export const executeBody = z
  .strictObject({
    payloadSignature: z
      .string({ error: 'must be text' })
      .max(20_000, { abort: true, error: 'must have 20,000 characters at most' })
      .regex(/^0x([0-9a-fA-F]{2})+$/, { error: 'must be 0x and hexadecimal digits' })
      .openapi({ description: "The user's signature of payloadToSign.", example: `0x${'00'.repeat(65)}` }),
    provider: providerName,
    originalQuote: z
      .string({ error: 'must be text' })
      .regex(/^[\w-]{22}$/, { error: 'must be originalQuote of a quote, as it was given' })
      .optional()
      .openapi({
        description:
          'Of the quote. Without it, the one quote of the key is executed that the signature is of.',
      }),
  })
  .openapi('IntentExecuteRequest')

export const ExecuteAnswer = z.strictObject({ crosschainTransactionId: z.string() }).openapi('IntentExecuted')

const Hash = z.string().regex(/^0x[0-9a-fA-F]{64}$/)

export const StatusAnswer = z
  .strictObject({
    status: z.enum(['pending', 'success', 'failed']),
    sourceTransactionHash: Hash.optional(),
    destinationTransactionHash: Hash.optional(),
  })
  .openapi('IntentStatus')
