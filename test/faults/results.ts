import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import type { Check, Outcome, OwnCheck } from './check.ts'

/** Runs of one check, one after the other. */
export interface Runs {
  outcomes: readonly Outcome[]
  times: number
  /** Outages were shortened to a tenth. */
  isShort: boolean
}

const HEAD = `# Results of the fault suite

Made by \`npm run test:faults\`: each run of it writes the rows of the checks that it ran and leaves the others.
A check has passed when all of its runs did, one after the other and without a restart by hand.
"shortened": outages lasted a tenth of the time in the check's name. "code": the commit that was tried.

| check | group | runs passed | seconds each | code | note |
|---|---|---|---|---|---|
`

const { stdout } = spawnSync('git', ['describe', '--always', '--dirty'], { encoding: 'utf8' })
const code = stdout?.trim() || 'unknown'

const cell = (text: string) => text.replaceAll('|', '\\|').replaceAll(/\s+/g, ' ').trim().slice(0, 240)

function row({ name, group }: Pick<Check, 'name' | 'group'>, { outcomes, times, isShort }: Runs): string {
  const passed = outcomes.filter(outcome => outcome.passed).length
  const mean = outcomes.reduce((sum, outcome) => sum + outcome.seconds, 0) / outcomes.length
  const note = (outcomes.find(outcome => !outcome.passed) ?? outcomes.at(-1))?.note ?? ''
  const runs = `${passed === times ? `${passed} of ${times}` : `**${passed} of ${times}**`}${isShort ? ', shortened' : ''}`
  return `| ${cell(name)} | ${group} | ${runs} | ${mean.toFixed(0)} | ${code} | ${cell(note)} |`
}

/** Writes the table of all checks: new rows for those that ran, the old ones for the others. */
export function writeResults(
  file: string,
  suite: readonly (Check | OwnCheck)[],
  ran: ReadonlyMap<Check | OwnCheck, Runs>,
): void {
  const before = new Map(
    (existsSync(file) ? readFileSync(file, 'utf8') : '')
      .split('\n')
      .filter(line => line.startsWith('| '))
      .map(line => [line.slice(2).split(' | ')[0] ?? '', line] as const),
  )
  const rows = suite.map(check => {
    const runs = ran.get(check)
    if (runs) return row(check, runs)
    return before.get(cell(check.name)) ?? `| ${cell(check.name)} | ${check.group} | not run yet | | | |`
  })
  writeFileSync(file, `${HEAD}${rows.join('\n')}\n`)
}
