import { readFileSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type AbiEvent, toEventSignature } from 'viem'
import { expect, test } from 'vitest'
import { contracts } from '../../abi/generate.ts'

type Entries = readonly { type: string }[]

const json = (path: string): unknown => JSON.parse(readFileSync(path, 'utf8'))
const core = (path: string) =>
  (json(`node_modules/@aave/core-v3/artifacts/contracts/${path}.json`) as { abi: Entries }).abi
const openZeppelin = (name: string) =>
  (json(`node_modules/@openzeppelin/contracts/build/contracts/${name}.json`) as { abi: Entries }).abi
const pendleIn = (root: string) => (path: string) =>
  (
    json(`node_modules/${root}/build/artifacts/contracts/${path}.sol/${basename(path)}.json`) as {
      abi: Entries
    }
  ).abi
const pendle = pendleIn('@pendle/core-v2')
/** The release that still has the contracts of the first version. */
const pendleOfOld = pendleIn('pendle-sy')
// The package exports only some of its ABIs by name; all of them are files of its own.
const fromBook = await Promise.all(
  ['IPool', 'IPoolConfigurator', 'IStataTokenFactory'].map(async name => {
    const file = resolve(`node_modules/@aave-dao/aave-address-book/dist/abis/${name}.mjs`)
    const module = (await import(pathToFileURL(file).href)) as Record<string, Entries>
    return module[`${name}_ABI`] ?? []
  }),
)

/** Signature with its indexed parameters marked: a decoder depends on both. */
const layout = (event: AbiEvent) =>
  `${toEventSignature(event)} indexed ${event.inputs.flatMap((p, i) => (p.indexed ? [i] : [])).join(',')}`

const published: Record<string, Entries[]> = {
  erc4626: [openZeppelin('ERC4626'), openZeppelin('Pausable'), openZeppelin('Ownable')],
  'aave-v3': [
    core('interfaces/IPool.sol/IPool'),
    core('interfaces/IPoolConfigurator.sol/IPoolConfigurator'),
    core('interfaces/IAToken.sol/IAToken'),
    core('interfaces/IVariableDebtToken.sol/IVariableDebtToken'),
    core('interfaces/IStableDebtToken.sol/IStableDebtToken'),
    core('interfaces/IAaveOracle.sol/IAaveOracle'),
    core('interfaces/IPoolAddressesProvider.sol/IPoolAddressesProvider'),
    core('protocol/configuration/ACLManager.sol/ACLManager'),
    core('dependencies/openzeppelin/upgradeability/BaseUpgradeabilityProxy.sol/BaseUpgradeabilityProxy'),
    ...fromBook,
  ],
  'pendle-v2': [
    pendle('core/Market/PendleMarketFactoryV7Upg'),
    pendle('interfaces/IPMarket'),
    pendle('interfaces/IPPrincipalToken'),
    pendleOfOld('core/Market/v1/PendleMarketFactory'),
  ],
}

test.each(Object.keys(published))('%s: every event stands in a published ABI, indexed alike', family => {
  const known = new Set(
    published[family]?.flatMap(abi => abi.flatMap(e => (e.type === 'event' ? [layout(e as AbiEvent)] : []))),
  )
  const ours = contracts()
    .filter(c => c.family === family)
    .flatMap(c => (c.json as Entries).flatMap(e => (e.type === 'event' ? [layout(e as AbiEvent)] : [])))
  expect(ours.length).toBeGreaterThan(3)
  for (const event of ours) expect(known).toContain(event)
})
