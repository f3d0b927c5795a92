import type { Hex } from 'viem'
import { attributionSuffix } from '../../db/attribution.ts'
import type { ApiKey } from '../../db/keys/keys.ts'
import { choice } from '../http/parameters.ts'

/** Whether payloads say for ever, on chain and beside the wallet, which key prepared them. */
export const attribution = choice(['key', 'none'])
  .optional()
  .openapi({
    type: 'string',
    enum: ['key', 'none'],
    default: 'key',
    description: 'none: payloads without the suffix that names the API key, for ever public on chain.',
  })

/** What payloads for this caller end in. */
export function suffixFor(key: ApiKey | undefined, asked: 'key' | 'none' | undefined): Hex | undefined {
  return key && asked !== 'none' ? attributionSuffix(key.code) : undefined
}
