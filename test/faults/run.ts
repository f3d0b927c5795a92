import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { cpus, tmpdir, totalmem } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { startEmbedded } from '../../db/embedded/up.ts'
import { readEnv } from '../../db/process/env.ts'
import { freePort } from '../chain/anvil-process.ts'
import { type Check, type Outcome, runCheck } from './check.ts'
import { suite } from './suite.ts'

const { values } = parseArgs({
  options: {
    times: { type: 'string', default: process.env['FAULT_TIMES'] ?? '3' },
    only: { type: 'string' },
    group: { type: 'string' },
    quick: { type: 'boolean', default: false },
    short: { type: 'boolean', default: false },
    seed: { type: 'string', default: '20261' },
    results: { type: 'string' },
    list: { type: 'boolean', default: false },
  },
})
const times = Number(values.times)
const chosen = suite.filter(
  ({ name, group, isQuick }) =>
    (!values.only || name.includes(values.only)) &&
    (!values.group || group === values.group) &&
    (!values.quick || isQuick),
)
const print = (line: string) => process.stdout.write(`${line}\n`)

if (values.list) {
  for (const { group, name, isQuick } of chosen)
    print(`${group.padEnd(8)} ${isQuick ? 'quick' : '     '} ${name}`)
  process.exit(0)
}

const folder = await mkdtemp(join(tmpdir(), 'vaultlog-faults-'))
const embedded = await startEmbedded(
  readEnv({
    ...process.env,
    VAULTLOG_DIR: folder,
    EMBEDDED_POSTGRES_PORT: String(await freePort()),
    EMBEDDED_CLICKHOUSE_PORT: String(await freePort()),
  }),
)
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => process.exit(130))
process.setMaxListeners(50)
const servers = { databaseUrl: embedded.databaseUrl, clickhouseUrl: embedded.clickhouseUrl }
const seconds = values.short ? (real: number) => real / 10 : (real: number) => real

const results = new Map<Check, Outcome[]>()
const began = Date.now()
for (const [i, check] of chosen.entries()) {
  const outcomes: Outcome[] = []
  results.set(check, outcomes)
  for (let time = 1; time <= times; time++) {
    const outcome = await runCheck(check, { servers, seconds }, Number(values.seed) + time - 1)
    outcomes.push(outcome)
    print(
      `${String(i + 1).padStart(3)}/${chosen.length} ${outcome.passed ? 'passed' : 'FAILED'} ${time}/${times} ${outcome.seconds.toFixed(1).padStart(6)} s  ${check.group}: ${check.name}${outcome.note ? `\n      ${outcome.note}` : ''}`,
    )
    // Three in a row is what counts: after a failure there is nothing left to prove.
    if (!outcome.passed) break
  }
}
await embedded.stop()
await rm(folder, { recursive: true, force: true })

const all = [...results]
const failed = all.filter(([, outcomes]) => outcomes.some(({ passed }) => !passed))
print(
  `${all.length - failed.length} of ${all.length} checks passed ${times} times in a row, ${((Date.now() - began) / 60_000).toFixed(1)} minutes.`,
)
if (values.results) await writeFile(values.results, page())
process.exit(failed.length === 0 ? 0 : 1)

function page(): string {
  const cell = (text: string) => text.replaceAll('|', '\\|').replaceAll('\n', ' ').slice(0, 300)
  const rows = all.map(([{ name, group }, outcomes]) => {
    const passed = outcomes.filter(outcome => outcome.passed).length
    const mean = outcomes.reduce((sum, outcome) => sum + outcome.seconds, 0) / outcomes.length
    const note = (outcomes.find(outcome => !outcome.passed) ?? outcomes.at(-1))?.note ?? ''
    return `| ${name} | ${group} | ${passed} of ${times} | ${mean.toFixed(0)} | ${cell(note)} |`
  })
  return `# Results of the fault suite

Made by \`npm run test:faults\` (seed ${values.seed}, Node ${process.version}, ${cpus().length} cores, ${Math.round(totalmem() / 2 ** 30)} GiB).
${all.length - failed.length} of ${all.length} checks passed ${times} times in a row, without a restart by hand.

| check | group | runs passed | seconds | note |
|---|---|---|---|---|
${rows.join('\n')}
`
}
