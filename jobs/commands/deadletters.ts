import { type Command, Option } from 'commander'
import { ConfigError } from '../../db/process/errors.ts'
import { DEAD_LETTER_STAGES, listDeadLetters, resolveDeadLetters } from '../../db/status.ts'
import { listStreams } from '../checkpoints.ts'
import { integer, print, withEventStore } from '../command.ts'
import { table } from '../table.ts'

export default function add(program: Command): void {
  const deadletters = program
    .command('deadletters')
    .description('what could not be decoded, sampled or applied')
  deadletters
    .command('list', { isDefault: true })
    .addOption(new Option('--stage <stage>', 'only of this stage').choices(DEAD_LETTER_STAGES))
    .option('-c, --chain <network>', 'only this chain')
    .option('--all', 'resolved ones too')
    .option('--limit <n>', 'at most', integer, 50)
    .action((options: { stage?: string; chain?: string; all?: boolean; limit: number }) =>
      withEventStore(async ({ pool }) => {
        const stream = options.chain
          ? (await listStreams(pool)).find(({ name }) => name === options.chain)?.id
          : undefined
        if (options.chain && stream === undefined)
          throw new ConfigError(`Nothing is stored of ${options.chain}.`)
        const rows = await listDeadLetters(pool, {
          stage: options.stage,
          stream,
          limit: options.limit,
          all: options.all,
        })
        if (rows.length === 0) print('No dead letters.')
        else {
          print(
            table(
              ['id', 'stage', 'stream', 'block', 'log', 'contract', 'times', 'reason'],
              rows.map(row => [
                row.id,
                row.stage,
                row.stream_name,
                row.block_number ?? '',
                row.log_index ?? '',
                row.contract ?? '',
                row.attempts,
                row.reason,
              ]),
            ),
          )
        }
        return 0
      }),
    )
  deadletters
    .command('resolve')
    .argument('<id...>', 'of the letters', (id, before: number[] = []) => [...before, integer(id)])
    .description('mark as dealt with; they stay in the table')
    .action((ids: number[]) =>
      withEventStore(async ({ pool }) => {
        const resolved = await resolveDeadLetters(pool, ids)
        print(`${resolved.length} resolved.`)
        const others = ids.filter(id => !resolved.includes(id))
        if (others.length === 0) return 0
        throw new ConfigError(
          `Not open, or not there: ${others.join(', ')}. \`vaultlog deadletters\` lists what is open.`,
        )
      }),
    )
}
