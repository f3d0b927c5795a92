import type { Client, ClientOptions } from 'openapi-fetch'
import type { paths } from './openapi.d.ts'

export type { paths, schemas } from './openapi.d.ts'

/**
 * Every operation of every tier, by method and path: `client.GET('/v2/detailed-vaults', { params: { query: { perPage: 5 } } })` gives
 * `{ data, error, response }`. As of which block an answer is, is the header x-as-of-block of `response`; what it cost, x-credits-used.
 */
export function createClient(options: ClientOptions & { baseUrl: string; apiKey: string }): Client<paths>
