import type { Command } from 'commander'
import { steadyNow } from '../../db/process/steady.ts'
import { print, withStores } from '../command.ts'
import { openProgress } from '../progress.ts'
import { loadProjections } from '../projection.ts'
import { rebuild } from '../rebuild.ts'

export default function add(program: Command): void {
  program
    .command('rebuild')
    .description(
      'drop all read models and make them anew from the event store: after ClickHouse was lost, replaced or restored from a backup',
    )
    .option('--resume', 'go on with a rebuild that was interrupted')
    .action((options: { resume?: boolean }) =>
      withStores(
        async ({ pool, clickhouse }, signal) => {
          const progress = openProgress()
          const started = steadyNow()
          try {
            await rebuild({
              pool,
              clickhouse,
              projections: await loadProjections(),
              progress,
              signal,
              ...options,
            })
            progress.close()
            print(`All read models are made anew, in ${((steadyNow() - started) / 1000).toFixed(1)} s.`)
            return 0
          } finally {
            progress.close()
          }
        },
        { mayBeLost: true },
      ),
    )
}
