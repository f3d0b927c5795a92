import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import evc from '../../../db/registry/contracts/euler-evc.json' with { type: 'json' }
import factories from '../../../db/registry/contracts/vault-factories.json' with { type: 'json' }
import { generated } from '../../../processors/generate-registry.ts'

const files = await generated()

test('the registry has files that follow from published packages', () => {
  expect([...files.keys()].sort()).toEqual(['contracts/aave-v3', 'contracts/chainlink', 'facts/aave-vaults'])
})

test.each([...files])('%s.json has not drifted from the published package', (file, make) => {
  expect(JSON.parse(readFileSync(`db/registry/${file}.json`, 'utf8'))).toEqual(make())
})

test('where Euler has vaults its connector is known, without which no loan is seen', () => {
  expect(Object.keys(evc.networks).sort()).toEqual(
    Object.keys(factories['euler-evk-factory'].networks).sort(),
  )
})
