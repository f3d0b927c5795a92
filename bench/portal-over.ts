import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Stage } from './bench.ts'

/** The URL of a Portal in a process of its own, over these blocks. */
export async function portalOver(
  stage: Stage,
  kind: 'evm' | 'svm',
  blocks: readonly unknown[],
): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'vaultlog-portal-'))
  stage.afterwards(() => rm(folder, { recursive: true }))
  const file = join(folder, 'blocks.jsonl')
  await writeFile(file, linesOf(blocks))
  const child = spawn(
    process.execPath,
    ['--import', 'tsx', join(import.meta.dirname, 'portal-server.ts'), kind, file],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  stage.afterwards(async () => child.kill())
  const ended = once(child, 'exit').then(() => Promise.reject(new Error('the Portal ended at once')))
  const [said] = (await Promise.race([once(child.stdout, 'data'), ended])) as [Buffer]
  return String(said).trim()
}

/** One by one: all of them may be longer than a string can be. */
function* linesOf(blocks: readonly unknown[]): Generator<string> {
  for (const block of blocks) yield `${JSON.stringify(block)}\n`
}
