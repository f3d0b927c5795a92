import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { cpus, totalmem } from 'node:os'
import { join } from 'node:path'
import { startEmbedded } from '../db/embedded/up.ts'
import { readEnv } from '../db/process/env.ts'
import { freePort } from '../test/chain/anvil-process.ts'
import { newFolder } from '../test/db/embedded/places.ts'
import { type Bench, type Result, withStage } from './bench.ts'

/** `npm run bench [name…]`: runs the benches (all, or those named) and puts their tables into RESULTS.md. */
const folder = import.meta.dirname
const results = join(folder, 'RESULTS.md')
const names = (await readdir(folder))
  .map(file => /^(.+)\.bench\.ts$/.exec(file)?.[1])
  .filter(name => name !== undefined)
  .sort()

const wanted = process.argv.slice(2)
const unknown = wanted.filter(name => !names.includes(name))
if (unknown.length > 0) {
  process.stderr.write(`No bench ${unknown.join(', ')}. There are: ${names.join(', ')}.\n`)
  process.exit(1)
}

const say = (line: string) => void process.stderr.write(`${line}\n`)
const scratch = newFolder('vaultlog-bench-')
const embedded = await startEmbedded(
  readEnv({
    ...process.env,
    VAULTLOG_DIR: scratch,
    EMBEDDED_POSTGRES_PORT: String(await freePort()),
    EMBEDDED_CLICKHOUSE_PORT: String(await freePort()),
  }),
)
try {
  for (const name of wanted.length > 0 ? wanted : names) {
    const { bench } = (await import(`./${name}.bench.ts`)) as { bench: Bench }
    say(`${name}: ${bench.about}`)
    const rows = await withStage(embedded, say, stage => bench.run(stage))
    const section = `## ${name}\n\n${bench.about}\n\n${await machine()}\n\n${table(rows)}\n`
    process.stdout.write(`\n${section}\n`)
    await keep(name, section)
  }
} finally {
  await embedded.stop()
  await rm(scratch, { recursive: true, force: true })
}
process.exit(0)

function table(rows: readonly Result[]): string {
  const lines = rows.map(({ what, ours, beside = '', ratio, budget = '', holds }) => [
    what,
    ours,
    beside,
    ratio === undefined ? '' : ratio.toFixed(2),
    holds === undefined ? budget : `${budget}: ${holds ? 'held' : '**missed**'}`,
  ])
  const head = ['what', 'ours', 'beside', 'ratio', 'budget']
  return [head, head.map(() => '---'), ...lines].map(cells => `| ${cells.join(' | ')} |`).join('\n')
}

async function machine(): Promise<string> {
  const { version } = JSON.parse(await readFile(join(folder, '../package.json'), 'utf8')) as {
    version: string
  }
  const [cpu] = cpus()
  return (
    `${new Date().toISOString().slice(0, 10)}, vaultlog ${version}, node ${process.versions.node}, ` +
    `${cpus().length} × ${cpu?.model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GiB.`
  )
}

/** Replaces the bench's section; the others stay as their last run left them. */
async function keep(name: string, section: string): Promise<void> {
  const text = await readFile(results, 'utf8').catch(() => '')
  const sections = new Map(
    text
      .split(/^(?=## )/m)
      .filter(part => part.startsWith('## '))
      .map(part => [/^## (.+)/.exec(part)?.[1] ?? '', part.trimEnd()]),
  )
  sections.set(name, section.trimEnd())
  const sorted = [...sections].sort(([a], [b]) => a.localeCompare(b)).map(([, part]) => part)
  await writeFile(
    results,
    `# Benches\n\nMade by \`npm run bench\`. Ratios are of one run on one machine; figures of different runs do not compare.\n\n${sorted.join('\n\n')}\n`,
  )
}
