import type { Address } from 'viem'
import { defineEndpoint } from '../../../http/endpoint.ts'
import { MissingKeyError, RefusedError } from '../../../http/errors.ts'
import { toldOf } from '../../../intents/errors.ts'
import { makeQuote } from '../../../intents/get-quote.ts'
import { findPosition } from '../../../intents/positions.ts'
import { createQuoteBook } from '../../../intents/quote-book.ts'
import { QuoteAnswer, quoteBody } from '../../../intents/schemas.ts'
import { digestOf } from '../../../intents/typed-data.ts'
import { suffixFor } from '../../../transactions/attribution.ts'

export default defineEndpoint({
  tier: 'alpha',
  method: 'post',
  path: '/transactions/intent/getQuote',
  summary: 'A quote for moving a position to another network, to be signed',
  description:
    'The input is a token of the wallet, or shares of a vault that are redeemed on the way; the output is a token, or a vault that is entered for the wallet. What is to be signed has been read field by field: it lets no more be spent than the amount and its fees, by the contracts that the provider publishes, within the hour, and delivers to the wallet. A provider whose quote says anything else is answered for with 503.',
  body: quoteBody,
  response: QuoteAnswer,
  example: {
    body: {
      userAddress: '0x83F20F44975D03b1b09e64809B757c47f942BEeA',
      inputPosition: {
        address: '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48',
        network: 'mainnet',
        amount: '100000000',
      },
      outputPosition: { address: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913', network: 'base' },
      feeToken: { address: '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48', network: 'mainnet' },
      provider: 'rhinestone',
    },
  },
  needs: ['RHINESTONE_URL', 'RHINESTONE_KEY'],
  payable: false,
  cost: 10,
  cache: 'none',
  async handler({ body }, context) {
    const { deps, catalogue, key, signal } = context
    if (!key) throw new MissingKeyError('A quote is kept for an API key.')
    const provider = deps.intents.provider(body.provider)
    const { inputPosition, outputPosition, feeToken } = body
    if (
      feeToken.address !== inputPosition.address ||
      feeToken.network.chainId !== inputPosition.network.chainId
    )
      throw new RefusedError('feeToken must be the input position: fees are taken of what is spent.')
    const from = await findPosition(catalogue, deps.onChain, inputPosition)
    const to = await findPosition(catalogue, deps.onChain, outputPosition)
    if (to.vault?.vault.standing === 'found')
      throw new RefusedError(
        'Nobody vouches for the vault of the output position: it was found by its shape, which anybody can give a contract.',
      )
    try {
      const { offer, answer, block } = await makeQuote(
        deps.onChain,
        provider,
        {
          user: body.userAddress as Address,
          from,
          amount: inputPosition.amount,
          to,
          suffix: suffixFor(key, undefined),
        },
        signal,
      )
      const originalQuote = await createQuoteBook(deps.pool).keep({
        keyId: key.id,
        provider: provider.name,
        user: body.userAddress,
        network: from.network.name,
        digest: digestOf(offer.payload),
        payload: offer.payload,
        answer: offer.answer,
        reference: offer.reference,
        expiresAt: offer.expiresAt,
      })
      context.readAt(from.network.chainId, block)
      return { ...answer, originalQuote }
    } catch (error) {
      throw toldOf(error)
    }
  },
})
