import type { Command } from 'commander'
import { VaultlogError } from '../../db/process/errors.ts'
import { countFacts } from '../../db/registry/check.ts'
import { FACTS, readFacts, recordFacts } from '../../db/registry/registry.ts'
import { print, withEventStore } from '../command.ts'
import { table } from '../table.ts'

export default function add(program: Command): void {
  const registry = program.command('registry').description('curated facts: what is listed, tagged, flagged')
  registry
    .command('check')
    .description('read the files of facts and say what is wrong with them; needs no database')
    .action(async () => {
      try {
        const facts = await readFacts(FACTS)
        const { subjects, listed } = countFacts(facts)
        print(table(['network', 'vaults listed'], Object.entries(listed)))
        print(
          `${facts.length} facts in order, of ${Object.entries(subjects)
            .map(([family, count]) => `${count} ${family}s`)
            .join(', ')}.`,
        )
      } catch (error) {
        if (!(error instanceof VaultlogError)) throw error
        process.stderr.write(`${error.message}\n`)
        process.exitCode = 1
      }
    })
  registry
    .command('record')
    .description('record what changed in the files of facts as events')
    .action(() =>
      withEventStore(async ({ pool }) => {
        const recorded = await recordFacts(pool, await readFacts(FACTS), Math.floor(Date.now() / 1000))
        print(`${recorded} facts recorded.`)
        return 0
      }),
    )
}
