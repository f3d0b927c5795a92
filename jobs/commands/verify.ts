import type { Command } from 'commander'
import { ConfigError } from '../../db/process/errors.ts'
import { choose } from '../choose.ts'
import { integer, print, withStores } from '../command.ts'
import { openProgress } from '../progress.ts'
import { table } from '../table.ts'
import { keepComparisons, verify } from '../verify.ts'
import { type ChainRange, rangePrinter, verifyChain } from '../verify-chain.ts'

export default function add(program: Command): void {
  program
    .command('verify')
    .description('prove that staging equals the event store and that live tables equal a replay from nothing')
    .option('-p, --projection <name>', 'only this one, by its name or a table of it')
    .option('-c, --chain <network>', 'only this chain')
    .option(
      '--rpc <url>',
      "compare the store with the chain's own logs instead, as this node gives them (with --chain)",
    )
    .option('--from <block>', 'with --rpc: first block, the first indexed unless told', integer)
    .option('--to <block>', 'with --rpc: last block, the newest final one unless told', integer)
    .action((options: { projection?: string; chain?: string } & ChainRange) =>
      withStores(async (stores, signal) => {
        const chosen = await choose(stores.pool, options)
        if (options.rpc) {
          if (!options.chain) throw new ConfigError('--rpc needs --chain: a node is of one chain.')
          const ranges = rangePrinter(print)
          await verifyChain(options.chain, options, stores.env, ranges.add, signal)
          return ranges.close(options) === 0 ? 0 : 1
        }
        const progress = openProgress()
        try {
          const comparisons = await verify({
            ...chosen,
            pool: stores.pool,
            clickhouse: stores.clickhouse,
            progress,
            signal,
          })
          progress.close()
          if (comparisons.length === 0) {
            print('Nothing is stored yet: there was nothing to compare.')
            return 0
          }
          await keepComparisons(stores.pool, comparisons)
          print(
            table(
              ['table', 'stream', 'rows', 'rows expected', 'checksum', 'checksum expected', '', ''],
              comparisons.map(({ what, stream, expected, found, equal, where }) => [
                what,
                stream,
                found.rows,
                expected.rows,
                found.checksum,
                expected.checksum,
                equal ? 'equal' : 'DIFFERENT',
                where ?? '',
              ]),
            ),
          )
          const different = comparisons.filter(({ equal }) => !equal).length
          print(
            different === 0
              ? `All ${comparisons.length} equal.`
              : `${different} of ${comparisons.length} differ.`,
          )
          return different === 0 ? 0 : 1
        } finally {
          progress.close()
        }
      }),
    )
}
