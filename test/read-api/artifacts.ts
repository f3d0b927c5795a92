import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Abi, Address, Hex } from 'viem'
import { zeroAddress } from 'viem'
import { z } from 'zod'
import type { Artifact } from '../chain/compile.ts'

const require = createRequire(import.meta.url)
const here = dirname(fileURLToPath(import.meta.url))
const packages = resolve(here, '../../node_modules')
const cacheDirectory = join(packages, '.cache/vaultlog')

const artifacts = z.record(
  z.string(),
  z.object({ abi: z.custom<Abi>(Array.isArray), bytecode: z.custom<Hex>() }),
)

const output = z.object({
  errors: z.array(z.object({ severity: z.string(), formattedMessage: z.string() })).optional(),
  contracts: z
    .record(
      z.string(),
      z.record(
        z.string(),
        z.object({ abi: z.custom<Abi>(), evm: z.object({ bytecode: z.object({ object: z.string() }) }) }),
      ),
    )
    .optional(),
})

let compiled: Record<string, Artifact> | undefined

/** A contract of ./contracts. Compiled once, about 6 s, then from the cache. */
export function contract(name: string): Artifact {
  compiled ??= fromCacheOrCompiler()
  const artifact = compiled[name]
  if (!artifact) throw new Error(`no contract ${name}`)
  return artifact
}

function fromCacheOrCompiler(): Record<string, Artifact> {
  const folder = join(here, 'contracts')
  const files = readdirSync(folder).filter(file => file.endsWith('.sol'))
  const input = JSON.stringify({
    language: 'Solidity',
    sources: Object.fromEntries(
      files.sort().map(file => [file, { content: readFileSync(join(folder, file), 'utf8') }]),
    ),
    settings: {
      optimizer: { enabled: true, runs: 200 },
      evmVersion: 'paris',
      outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object'] } },
    },
  })
  const versions = ['solc', '@openzeppelin/contracts'].map(
    name => JSON.parse(readFileSync(join(packages, name, 'package.json'), 'utf8')).version,
  )
  const key = createHash('sha256').update(versions.join()).update(input).digest('hex').slice(0, 24)
  const file = join(cacheDirectory, `solc-transactions-${key}.json`)
  try {
    return artifacts.parse(JSON.parse(readFileSync(file, 'utf8')))
  } catch {
    const made = compile(input)
    mkdirSync(cacheDirectory, { recursive: true })
    writeFileSync(`${file}.${process.pid}`, JSON.stringify(made))
    renameSync(`${file}.${process.pid}`, file)
    return made
  }
}

function compile(input: string): Record<string, Artifact> {
  const solc: { compile(input: string, callbacks: unknown): string } = require('solc')
  const read = (path: string) => ({ contents: readFileSync(join(packages, path), 'utf8') })
  const { errors = [], contracts = {} } = output.parse(JSON.parse(solc.compile(input, { import: read })))
  const failed = errors.filter(({ severity }) => severity === 'error')
  if (failed.length > 0) throw new Error(failed.map(error => error.formattedMessage).join('\n'))
  return Object.fromEntries(
    Object.values(contracts)
      .flatMap(unit => Object.entries(unit))
      .filter(([, { evm }]) => evm.bytecode.object !== '')
      .map(([name, { abi, evm }]) => [name, { abi, bytecode: `0x${evm.bytecode.object}` as const }]),
  )
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
