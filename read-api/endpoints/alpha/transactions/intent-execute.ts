import type { Hex } from 'viem'
import { defineEndpoint } from '../../../http/endpoint.ts'
import { MissingKeyError } from '../../../http/errors.ts'
import { ExecuteAnswer, executeBody } from '../../../intents/schemas.ts'

export default defineEndpoint({
  tier: 'alpha',
  method: 'post',
  path: '/transactions/intent/execute',
  summary: 'Executes a signed quote, once',
  description:
    'However often and from wherever it is asked for, the provider is given a quote once, and every answer names the same transaction. 409: it is being executed, or the provider gave no answer and may have executed it: ask again, and it is asked what became of it before it is given the quote again. 422: the quote has expired, or the signature is not that of its user.',
  body: executeBody,
  response: ExecuteAnswer,
  example: {
    body: {
      payloadSignature: `0x${'00'.repeat(65)}`,
      provider: 'rhinestone',
      originalQuote: 'AAAAAAAAAAAAAAAAAAAAAA',
    },
  },
  needs: ['RHINESTONE_URL', 'RHINESTONE_KEY'],
  payable: false,
  cost: 10,
  cache: 'none',
  async handler({ body }, { deps, key }) {
    if (!key) throw new MissingKeyError('A quote is executed for the API key that was given it.')
    const provider = deps.intents.provider(body.provider)
    const crosschainTransactionId = await deps.intents.execute({
      keyId: key.id,
      provider,
      signature: body.payloadSignature.toLowerCase() as Hex,
      quoteId: body.originalQuote,
    })
    return { crosschainTransactionId }
  },
})
