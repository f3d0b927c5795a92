import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { aave, chainlink } from '../../../processors/generate-registry.ts'

test.each([
  ['aave-v3', aave],
  ['chainlink', chainlink],
])('%s.json has not drifted from the published address book', (file, generated) => {
  expect(JSON.parse(readFileSync(`db/registry/contracts/${file}.json`, 'utf8'))).toEqual(generated())
})
