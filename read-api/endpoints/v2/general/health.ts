import { within } from '../../../../db/process/within.ts'
import { ping } from '../../../catalogue/queries.ts'
import { defineEndpoint } from '../../../http/endpoint.ts'
import { DependencyDownError } from '../../../http/errors.ts'
import { z } from '../../../http/zod.ts'
import { ask } from '../../../moment/query.ts'

/** A dependency that has not answered by then is down. */
const PATIENCE_MS = 3_000

export default defineEndpoint({
  tier: 'v2',
  method: 'get',
  path: '/health',
  summary: 'Whether the service and the databases it stands on answer',
  access: 'open',
  response: z.strictObject({ status: z.literal('ok'), message: z.string() }).openapi('Health'),
  example: {},
  cost: 0,
  cache: 'none',
  async handler(_input, { deps, catalogue }) {
    await Promise.all([
      answers(deps.pool.query('SELECT 1'), 'Postgres'),
      answers(ask(deps.clickhouse, ping, {}), 'ClickHouse'),
    ])
    return {
      status: 'ok' as const,
      message: `${counted(catalogue.shown(deps.showUnlisted ?? false).vaults.length, 'vault')} on ${counted(catalogue.moment.chains.size, 'network')}.`,
    }
  },
})

const counted = (count: number, what: string) => `${count} ${what}${count === 1 ? '' : 's'}`

async function answers(question: Promise<unknown>, what: string): Promise<void> {
  try {
    await within(
      { ms: PATIENCE_MS },
      () => question,
      () => {
        throw new DependencyDownError(what)
      },
    )
  } catch (error) {
    throw new DependencyDownError(what, { cause: error })
  }
}
