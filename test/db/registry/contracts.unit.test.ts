import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import evc from '../../../db/registry/contracts/euler-evc.json' with { type: 'json' }
import factories from '../../../db/registry/contracts/vault-factories.json' with { type: 'json' }
import { aave, chainlink } from '../../../processors/generate-registry.ts'

test.each([
  ['aave-v3', aave],
  ['chainlink', chainlink],
])('%s.json has not drifted from the published address book', (file, generated) => {
  expect(JSON.parse(readFileSync(`db/registry/contracts/${file}.json`, 'utf8'))).toEqual(generated())
})

test('where Euler has vaults its connector is known, without which no loan is seen', () => {
  expect(Object.keys(evc.networks).sort()).toEqual(
    Object.keys(factories['euler-evk-factory'].networks).sort(),
  )
})
