import { setTimeout as pause } from 'node:timers/promises'
import type { Command } from 'commander'
import { readHeads } from '../../db/chain/heads.ts'
import { ConfigError } from '../../db/process/errors.ts'
import { readFault } from '../../db/read-models.ts'
import { readStatus } from '../../db/status.ts'
import { readOutdated } from '../checkpoints.ts'
import { print, seconds, withEventStore } from '../command.ts'
import { loadProjections } from '../projection.ts'
import { statusTable, watchStatus } from '../watch.ts'

export default function add(program: Command): void {
  program
    .command('status')
    .description('head, lag and dead letters of every stream and projection')
    .option('--json', 'as JSON')
    .option('-w, --watch [seconds]', 'again and again, with events per second', seconds)
    .action((options: { json?: boolean; watch?: number | true }) =>
      withEventStore(async ({ pool, env }, signal) => {
        const heads = () => readHeads(env)
        const outdated = async () => readOutdated(pool, await loadProjections())
        if (options.watch) {
          if (options.json) throw new ConfigError('--watch shows a table: leave --json away.')
          await watchStatus(pool, {
            seconds: options.watch === true ? 2 : options.watch,
            signal,
            heads,
            outdated,
          })
          return 0
        }
        const look = async () => {
          const at = Date.now()
          const [streams, found] = await Promise.all([readStatus(pool, at / 1000), heads()])
          return { at, streams, heads: found }
        }
        const first = await look()
        if (options.json) {
          const streams = first.streams.map(stream => ({
            ...stream,
            chainHead: first.heads.get(stream.name) ?? null,
          }))
          print(JSON.stringify(streams, null, 2))
          return 0
        }
        // How fast it goes is known by a second look, which only somebody who waits for something wants.
        const isUnderWay = first.streams.some(
          ({ name, headBlock }) => (first.heads.get(name) ?? 0) - headBlock > 100,
        )
        if (isUnderWay) await pause(2_000, undefined, { signal }).catch(() => {})
        const now = isUnderWay ? await look() : first
        const rest = { fault: await readFault(pool), outdated: await outdated() }
        print(statusTable({ ...now, ...rest }, isUnderWay ? first : undefined))
        return 0
      }),
    )
}
