import type { Command } from 'commander'
import { ConfigError } from '../../db/process/errors.ts'
import { steadyNow } from '../../db/process/steady.ts'
import { choose } from '../choose.ts'
import { integer, print, withStores } from '../command.ts'
import { openProgress } from '../progress.ts'
import { hasHead } from '../projection.ts'
import { type ReplayOptions, replay } from '../replay.ts'

export default function add(program: Command): void {
  program
    .command('replay')
    .description(
      'make read models anew from the event store, beside the live ones, and swap them in when they have caught up',
    )
    .option('-p, --projection <name>', 'only this one, by its name or a table of it')
    .option('-c, --chain <network>', 'only this chain')
    .option('--from <block>', 'keep the rows of earlier blocks (with --chain)', integer)
    .option('--batch <events>', 'events per batch', integer, 1_000_000)
    .action((options: { projection?: string; chain?: string; from?: number; batch: number }) =>
      withStores(async (stores, signal) => {
        if (options.from !== undefined && !options.chain)
          throw new ConfigError('--from needs --chain: blocks are counted by chain.')
        const progress = openProgress()
        const started = steadyNow()
        try {
          const work: ReplayOptions = {
            ...(await choose(stores.pool, options)),
            pool: stores.pool,
            clickhouse: stores.clickhouse,
            fromBlock: options.from,
            batch: options.batch,
            progress,
            signal,
          }
          const whole = options.from === undefined ? [] : work.projections.filter(hasHead)
          if (whole.length > 0)
            print(
              `From the first block, as a row of theirs depends on all before it: ${whole.map(({ name }) => name).join(', ')}.`,
            )
          await replay(work)
          progress.close()
          print(
            `Replayed ${work.projections.length} projections on ${work.streams.length} streams in ${((steadyNow() - started) / 1000).toFixed(1)} s; the new tables are live.`,
          )
          return 0
        } finally {
          progress.close()
        }
      }),
    )
}
