import { defineEndpoint } from '../../../http/endpoint.ts'
import { InvalidRequestError, NotFoundError } from '../../../http/errors.ts'
import { text } from '../../../http/parameters.ts'
import { z } from '../../../http/zod.ts'
import { toldOf } from '../../../intents/errors.ts'
import { providerName, StatusAnswer } from '../../../intents/schemas.ts'

export default defineEndpoint({
  tier: 'alpha',
  method: 'get',
  path: '/transactions/intent/status',
  summary: 'What became of an executed quote',
  description:
    'As the provider says, also of what was not executed here. failed: on either network; what had been moved by then lies with the wallet or its account at the provider.',
  query: z.object({
    crosschainTransactionId: text({ description: 'Of execute.', example: '1234567890' }),
    provider: providerName,
  }),
  response: StatusAnswer,
  example: { query: { crosschainTransactionId: '1234567890', provider: 'rhinestone' } },
  needs: ['RHINESTONE_URL', 'RHINESTONE_KEY'],
  payable: false,
  cost: 1,
  cache: 'none',
  async handler({ query }, { deps, signal }) {
    const provider = deps.intents.provider(query.provider)
    const { crosschainTransactionId: id } = query
    if (!provider.ids.test(id))
      throw new InvalidRequestError(
        `The query parameter "crosschainTransactionId" is no identifier that ${provider.name} gives.`,
      )
    try {
      const status = await provider.status(id, signal)
      if (!status) throw new NotFoundError(`${provider.name} knows of no transaction ${id}.`)
      return status
    } catch (error) {
      throw toldOf(error)
    }
  },
})
