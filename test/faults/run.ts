import { rm } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { startEmbedded } from '../../db/embedded/up.ts'
import { readEnv } from '../../db/process/env.ts'
import { freePort } from '../chain/anvil-process.ts'
import { newFolder } from '../db/embedded/places.ts'
import { type Check, type Outcome, type OwnCheck, runCheck } from './check.ts'
import { writeResults } from './results.ts'
import { suite } from './suite.ts'

const { values } = parseArgs({
  options: {
    times: { type: 'string', default: process.env['FAULT_TIMES'] ?? '3' },
    /** Checks with this in their name; may be given several times. */
    only: { type: 'string', multiple: true },
    group: { type: 'string' },
    quick: { type: 'boolean', default: false },
    short: { type: 'boolean', default: false },
    /** Minutes of the soak. */
    soak: { type: 'string', default: '60' },
    seed: { type: 'string', default: '20261' },
    results: { type: 'string' },
    list: { type: 'boolean', default: false },
  },
})
const times = Number(values.times)
const chosen = suite.filter(
  ({ name, group, isQuick }) =>
    (!values.only || values.only.some(part => name.includes(part))) &&
    (!values.group || group === values.group) &&
    (!values.quick || isQuick),
)
const print = (line: string) => process.stdout.write(`${line}\n`)

if (values.list) {
  for (const { group, name, isQuick } of chosen)
    print(`${group.padEnd(8)} ${isQuick ? 'quick' : '     '} ${name}`)
  process.exit(0)
}

const folder = newFolder('vaultlog-faults-')
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
const soakSeconds = Number(values.soak) * 60

const results = new Map<Check | OwnCheck, Outcome[]>()
const began = Date.now()
for (const [i, check] of chosen.entries()) {
  const outcomes: Outcome[] = []
  results.set(check, outcomes)
  for (let time = 1; time <= times; time++) {
    const outcome = await runCheck(check, { servers, seconds, soakSeconds }, Number(values.seed) + time - 1)
    outcomes.push(outcome)
    print(
      `${String(i + 1).padStart(3)}/${chosen.length} ${outcome.passed ? 'passed' : 'FAILED'} ${time}/${times} ${outcome.seconds.toFixed(1).padStart(6)} s  ${check.group}: ${check.name}${outcome.note ? `\n      ${outcome.note}` : ''}`,
    )
    // Three in a row is what counts: after a failure there is nothing left to prove.
    if (!outcome.passed) break
  }
  if (values.results) save(values.results)
}
await embedded.stop()
await rm(folder, { recursive: true, force: true })

const all = [...results]
const failed = all.filter(([, outcomes]) => outcomes.some(({ passed }) => !passed))
print(
  `${all.length - failed.length} of ${all.length} checks passed ${times} times in a row, ${((Date.now() - began) / 60_000).toFixed(1)} minutes.`,
)
process.exit(failed.length === 0 ? 0 : 1)

function save(file: string): void {
  writeResults(
    file,
    suite,
    new Map([...results].map(([check, outcomes]) => [check, { outcomes, times, isShort: values.short }])),
  )
}
