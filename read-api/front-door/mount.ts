import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Express } from 'express'
import { openApiDocument } from '../http/documentation.ts'
import { type Endpoint, type Tier, tiersOf } from '../http/endpoint.ts'
import type { LoadedEndpoint } from '../http/load-endpoints.ts'
import { serveText } from '../http/serve-text.ts'

const TIERS: readonly Tier[] = ['v2', 'beta', 'alpha']

/** What whoever comes without an address of an endpoint finds: a page at /, /llms.txt, and /openapi.json with all tiers. Open to everybody. */
export function mountFrontDoor(
  app: Express,
  endpoints: readonly LoadedEndpoint[],
  options: { publicUrl?: string } = {},
): void {
  const read = (file: string) => readFileSync(join(import.meta.dirname, file), 'utf8')
  serveText(app, '/', 'html', () => read('page.html'))
  serveText(app, '/front-door.css', 'css', () => read('page.css'))
  serveText(app, '/llms.txt', 'text/plain', () => llmsTxt(endpoints, options.publicUrl))
  serveText(app, '/openapi.json', 'application/json', () => JSON.stringify(wholeDocument(endpoints, options)))
}

/** The documents of all tiers as one: paths have their tier in them, and a component is the same in each. */
function wholeDocument(endpoints: readonly LoadedEndpoint[], options: { publicUrl?: string } = {}) {
  const documents = TIERS.map(tier => openApiDocument(endpoints, tier, options))
  const [stable] = documents
  const tags = new Map(documents.flatMap(({ tags = [] }) => tags.map(tag => [tag.name, tag])))
  return {
    ...stable,
    info: { ...stable?.info, title: 'Vaultlog API', version: '0.1.0' },
    tags: [...tags.values()].sort((a, b) => (a.name < b.name ? -1 : 1)),
    paths: Object.assign({}, ...documents.map(({ paths }) => paths)) as Record<string, unknown>,
    components: {
      ...stable?.components,
      schemas: Object.assign({}, ...documents.map(({ components }) => components?.schemas)) as Record<
        string,
        unknown
      >,
    },
  }
}

const WHAT_TIERS_ARE: Record<Tier, string> = {
  v2: 'stable',
  beta: 'works, may still change',
  alpha: 'experimental',
}

/** As llmstxt.org has it: a title, a summary, what holds everywhere, and links. */
function llmsTxt(endpoints: readonly LoadedEndpoint[], publicUrl: string | undefined): string {
  const base = publicUrl?.replace(/\/$/, '') ?? ''
  const line = (tier: Tier, { method, path, summary }: Endpoint) =>
    `- ${method.toUpperCase()} /${tier}${path}: ${summary}`
  const tiers = TIERS.map(tier => {
    const served = endpoints.filter(({ endpoint }) => tiersOf(endpoint).includes(tier))
    return `## ${tier} (${WHAT_TIERS_ARE[tier]})\n\n- [OpenAPI document](${base}/${tier}/documentation/json)\n${served
      .map(({ endpoint }) => line(tier, endpoint))
      .join('\n')}\n`
  })
  return `# Vaultlog

> An index of DeFi vaults and lending markets with a read API: share price, APY, TVL, flows, holders, positions, transactions as unsigned calldata, and the exact balance of any wallet at any moment.

Every request carries an API key as the header x-api-key. Amounts are decimal strings in base units, rates fractions per year (0.05 is 5 %), times unix seconds, addresses checksummed. What is not known is left out, null or an empty string, never 0. Networks go by name or CAIP-2. The header x-as-of-block of an answer says as of which block it is, x-credits-used what it cost. An error is {statusCode, error, message, errorId}; the message names what is wrong and what would be right. Pages: itemsOnPage, nextPage, data.

## Start here

- [Documentation](${base}/documentation): every operation, to read and to try
- [OpenAPI 3.1 document of all tiers](${base}/openapi.json)
- [MCP server](${base}/mcp): tools for agents, by POST, streamable HTTP

${tiers.join('\n')}`
}
