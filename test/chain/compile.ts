import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Abi, Hex } from 'viem'
import { z } from 'zod'
import { CompilationFailedError } from './errors.ts'

const require = createRequire(import.meta.url)
const here = dirname(fileURLToPath(import.meta.url))
const ownContracts = join(here, 'contracts')
const packages = resolve(here, '../../node_modules')
const cacheDirectory = join(packages, '.cache/vaultlog')

const artifactShape = z.object({
  abi: z.custom<Abi>(value => Array.isArray(value)),
  /** Creation code. */
  bytecode: z.custom<Hex>(value => typeof value === 'string' && /^0x[0-9a-f]+$/.test(value)),
})
export type Artifact = z.infer<typeof artifactShape>
const setShape = z.record(z.string(), artifactShape)

export interface ContractSet {
  /** npm name of the compiler; each set has the version that its pragmas want. */
  compiler: string
  /** Packages imported; with their versions, the key of the cache is complete. */
  imports: string[]
  /** Instructions that there are. Default paris. */
  evmVersion?: string
  /** Where imports stand that a package brings itself. */
  remappings?: string[]
  /** Source unit name → content. */
  sources(): Record<string, string>
}

/** The Solidity files of a folder. */
export const sourcesIn = (folder: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(folder)
      .filter(file => file.endsWith('.sol'))
      .sort()
      .map(file => [file, readFileSync(join(folder, file), 'utf8')]),
  )

const own = {
  compiler: 'solc',
  imports: ['@openzeppelin/contracts'],
  sources: () => sourcesIn(ownContracts),
  contracts: [
    'TestToken',
    'NoReturnToken',
    'TestVault',
    'SelfLedgerVault',
    'NotAVault',
    'AnyLog',
    'PriceAggregator',
    'PriceProxy',
    'FeedOracle',
    'PaymentToken',
    'DepositBurst',
    'CometLike',
    'CometConfigurator',
    'EvcLike',
    'EulerRouterLike',
    'EvkLike',
    'OpenSy',
    'BridgedToken',
    'MinterLike',
    'TransmitterLike',
    'MessengerLike',
    'BurnerLike',
  ],
} as const satisfies ContractSet & { contracts: readonly string[] }

const morpho = {
  compiler: 'solc-0.8.19',
  imports: ['@morpho-org/morpho-blue'],
  sources: () =>
    Object.fromEntries(
      ['@morpho-org/morpho-blue/src/Morpho.sol', '@morpho-org/morpho-blue/src/mocks/IrmMock.sol'].map(
        path => [path, readFileSync(join(packages, path), 'utf8')],
      ),
    ),
  contracts: ['Morpho', 'IrmMock'],
} as const satisfies ContractSet & { contracts: readonly string[] }

/** Doubles of vaults of liquidity, on the libraries that Uniswap publishes for this compiler. */
const amm = {
  compiler: 'solc',
  imports: ['@openzeppelin/contracts', '@uniswap/v4-periphery'],
  remappings: ['@uniswap/v4-core/=@uniswap/v4-periphery/lib/v4-core/'],
  sources: () => sourcesIn(join(ownContracts, 'amm')),
  contracts: ['IchiVaultLike', 'IchiFactoryLike', 'IchiGuardLike', 'PoolTrader'],
} as const satisfies ContractSet & { contracts: readonly string[] }

export const ammArtifacts = (): Record<(typeof amm.contracts)[number], Artifact> =>
  pick(compileOnce(amm), amm.contracts)

type OwnName = (typeof own.contracts)[number]
type MorphoName = (typeof morpho.contracts)[number]

/** Our own test contracts (test/chain/contracts), on OpenZeppelin. About 3 s the first time, then from the cache. */
export const ownArtifacts = (): Record<OwnName, Artifact> => pick(compileOnce(own), own.contracts)

/** Morpho Blue and its mock rate model. About 2 s the first time, then from the cache. */
export const morphoArtifacts = (): Record<MorphoName, Artifact> => pick(compileOnce(morpho), morpho.contracts)

const compiled = new Map<ContractSet, Record<string, Artifact>>()

/** A set's contracts with code, by name: compiled once a process, and once a machine. */
export function compileOnce(set: ContractSet): Record<string, Artifact> {
  const artifacts = compiled.get(set) ?? fromCacheOrCompiler(set)
  compiled.set(set, artifacts)
  return artifacts
}

function fromCacheOrCompiler(set: ContractSet): Record<string, Artifact> {
  const input = JSON.stringify({
    language: 'Solidity',
    sources: Object.fromEntries(Object.entries(set.sources()).map(([name, content]) => [name, { content }])),
    settings: {
      // Morpho is built with viaIR upstream; without it the compiler is four times faster and nothing else differs.
      optimizer: { enabled: true, runs: 200 },
      evmVersion: set.evmVersion ?? 'paris',
      ...(set.remappings ? { remappings: set.remappings } : {}),
      outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object'] } },
    },
  })
  const versions = [set.compiler, ...set.imports].map(name => `${name}@${packageVersion(name)}`)
  const key = createHash('sha256').update(versions.join()).update(input).digest('hex').slice(0, 24)
  const file = join(cacheDirectory, `solc-${key}.json`)
  const cached = readCache(file)
  if (cached) return cached
  const artifacts = compile(set.compiler, input)
  keep(file, JSON.stringify(artifacts))
  return artifacts
}

/** Writes a file of the cache, where that can be: in a checkout that this user may only read it is compiled again next time. */
export function keep(file: string, text: string): void {
  try {
    mkdirSync(dirname(file), { recursive: true })
    // Several test processes may compile at once: rename is atomic.
    const temporary = `${file}.${process.pid}`
    writeFileSync(temporary, text)
    renameSync(temporary, file)
  } catch (error) {
    // Of a folder that cannot be made on a read-only file system Node says that it is not there.
    if (!['EACCES', 'EPERM', 'EROFS', 'ENOENT'].includes((error as NodeJS.ErrnoException).code ?? ''))
      throw error
  }
}

function readCache(file: string): Record<string, Artifact> | undefined {
  try {
    return setShape.parse(JSON.parse(readFileSync(file, 'utf8')))
  } catch {
    return undefined
  }
}

const solcOutput = z.object({
  errors: z.array(z.object({ severity: z.string(), formattedMessage: z.string() })).optional(),
  contracts: z
    .record(
      z.string(),
      z.record(
        z.string(),
        z.object({
          abi: artifactShape.shape.abi,
          evm: z.object({ bytecode: z.object({ object: z.string() }) }),
        }),
      ),
    )
    .optional(),
})

function compile(compiler: string, input: string): Record<string, Artifact> {
  const solc: {
    compile(
      input: string,
      callbacks: { import(path: string): { contents: string } | { error: string } },
    ): string
  } = require(compiler)
  const output = solcOutput.parse(JSON.parse(solc.compile(input, { import: readImport })))
  const errors = (output.errors ?? []).filter(({ severity }) => severity === 'error')
  if (errors.length > 0) throw new CompilationFailedError(errors.map(e => e.formattedMessage).join('\n'))
  const artifacts: Record<string, Artifact> = {}
  for (const unit of Object.values(output.contracts ?? {})) {
    for (const [name, { abi, evm }] of Object.entries(unit)) {
      // Interfaces and abstract contracts have no code.
      if (evm.bytecode.object !== '') artifacts[name] = { abi, bytecode: `0x${evm.bytecode.object}` }
    }
  }
  return artifacts
}

function readImport(path: string): { contents: string } | { error: string } {
  try {
    return { contents: readFileSync(join(packages, path), 'utf8') }
  } catch (error) {
    return { error: String(error) }
  }
}

function packageVersion(name: string): string {
  const manifest: unknown = JSON.parse(readFileSync(join(packages, name, 'package.json'), 'utf8'))
  return z.object({ version: z.string() }).parse(manifest).version
}

function pick<K extends string>(
  artifacts: Record<string, Artifact>,
  names: readonly K[],
): Record<K, Artifact> {
  const entries = names.map(name => {
    const artifact = artifacts[name]
    if (!artifact) throw new CompilationFailedError(`the compiler gave no contract ${name}`)
    return [name, artifact] as const
  })
  return Object.fromEntries(entries) as Record<K, Artifact>
}
