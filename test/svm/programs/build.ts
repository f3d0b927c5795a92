import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { link } from './link.ts'

/** Some distributions name it with its version alone. */
const COMPILERS = ['clang-14', 'clang']
export const PROGRAMS = ['stake-pool', 'router', 'lend', 'kamino'] as const
export type ProgramName = (typeof PROGRAMS)[number]

const fileOf = (name: string) => join(import.meta.dirname, name)

/** What the bytes of a program were made of: they end with it. */
export function sourceHash(name: ProgramName): Buffer {
  const hash = createHash('sha256')
  for (const file of ['solana.h', `${name}.c`, 'link.ts']) hash.update(readFileSync(fileOf(file)))
  return hash.digest()
}

/** The program as it is loaded, and the hash of its source. */
export function builtProgram(name: ProgramName): { bytes: Buffer; source: Buffer } {
  const file = readFileSync(fileOf(`${name}.so`))
  return { bytes: file.subarray(0, -32), source: file.subarray(-32) }
}

const versionOf = (compiler: string): string | undefined => {
  const { status, stdout } = spawnSync(compiler, ['--version'], { encoding: 'utf8' })
  return status === 0 ? stdout.split('\n')[0] : undefined
}
const compiler = () => COMPILERS.find(each => versionOf(each) !== undefined)

/** The first line of what the compiler says of itself; undefined where there is none. */
export function compilerVersion(): string | undefined {
  const found = compiler()
  return found && versionOf(found)
}

export function compile(name: ProgramName): Buffer {
  const folder = mkdtempSync(join(tmpdir(), 'vaultlog-program-'))
  try {
    const object = join(folder, 'program.o')
    const flags = [
      '-target',
      'bpfel',
      '-O2',
      '-fno-builtin',
      '-Wall',
      '-Werror',
      '-c',
      fileOf(`${name}.c`),
      '-o',
      object,
    ]
    const { status, stderr } = spawnSync(compiler() ?? 'clang', flags, { encoding: 'utf8' })
    if (status !== 0) throw new Error(`${name}.c: ${stderr}`)
    return link(readFileSync(object))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

if (process.argv[1] === import.meta.filename)
  for (const name of PROGRAMS) {
    const bytes = compile(name)
    writeFileSync(fileOf(`${name}.so`), Buffer.concat([bytes, sourceHash(name)]))
    console.log(`${name}: ${bytes.length} bytes by ${compilerVersion()}`)
  }
