import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { openApiDocument } from '../../read-api/http/documentation.ts'
import { loadEndpoints } from '../../read-api/http/load-endpoints.ts'

const endpoints = await loadEndpoints()

/** Whoever changes what callers see sees it in the diff: `npx vitest run test/read-api/openapi.unit.test.ts -u` writes it. */
test.each(['v2', 'beta', 'alpha'] as const)(
  'docs/openapi/%s.json is the document that is served',
  async tier => {
    const document = `${JSON.stringify(openApiDocument(endpoints, tier), null, 1)}\n`
    const file = fileURLToPath(new URL(`../../docs/openapi/${tier}.json`, import.meta.url))
    await expect(document).toMatchFileSnapshot(file)
  },
)
