import { readFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Abi, Address } from 'viem'
import { zeroAddress } from 'viem'
import { z } from 'zod'
import { type Artifact, type ContractSet, compileOnce, sourcesIn } from '../chain/compile.ts'

const here = dirname(fileURLToPath(import.meta.url))
const packages = resolve(here, '../../node_modules')

const set: ContractSet = {
  compiler: 'solc',
  imports: ['@openzeppelin/contracts'],
  sources: () => sourcesIn(join(here, 'contracts')),
}

/** A contract of ./contracts. Compiled once, about 6 s, then from the cache. */
export function contract(name: string): Artifact {
  const artifact = compileOnce(set)[name]
  if (!artifact) throw new Error(`no contract ${name}`)
  return artifact
}

const hardhat = z.object({
  abi: z.custom<Abi>(),
  bytecode: z.string(),
  linkReferences: z.record(
    z.string(),
    z.record(z.string(), z.array(z.object({ start: z.number(), length: z.number() }))),
  ),
})

/** A published artifact, e.g. `@aave/core-v3`, `dependencies/weth/WETH9`. */
export function published(
  packageName: string,
  path: string,
  libraries: Record<string, Address> = {},
): Artifact {
  const file = join(packages, packageName, 'artifacts/contracts', `${path}.sol`, `${basename(path)}.json`)
  const { abi, bytecode, linkReferences } = hardhat.parse(JSON.parse(readFileSync(file, 'utf8')))
  let linked = bytecode
  for (const [name, places] of Object.values(linkReferences).flatMap(unit => Object.entries(unit))) {
    for (const { start } of places) {
      const at = 2 + start * 2
      linked = linked.slice(0, at) + (libraries[name] ?? zeroAddress).slice(2) + linked.slice(at + 40)
    }
  }
  return { abi, bytecode: `0x${linked.slice(2)}` }
}
