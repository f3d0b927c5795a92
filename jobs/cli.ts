import { setTimeout as pause } from 'node:timers/promises'
import { Command, InvalidArgumentError, Option } from 'commander'
import { readHeads } from '../db/chain/heads.ts'
import { retireChain } from '../db/events/retire.ts'
import { rewindChain } from '../db/events/rewind.ts'
import { networkByName } from '../db/networks.ts'
import { ConfigError, VaultlogError } from '../db/process/errors.ts'
import { readFault } from '../db/read-models.ts'
import { countFacts } from '../db/registry/check.ts'
import { FACTS, readFacts, recordFacts } from '../db/registry/registry.ts'
import { DEAD_LETTER_STAGES, listDeadLetters, readStatus, resolveDeadLetters } from '../db/status.ts'
import { listStreams, readOutdated } from './checkpoints.ts'
import { choose } from './choose.ts'
import { integer, print, seconds, withEventStore, withStores } from './command.ts'
import { exportParquet } from './export.ts'
import { readOwnerFlows } from './flows.ts'
import { addIgnoreCommands } from './ignore-commands.ts'
import { addKeyCommands } from './key-commands.ts'
import { openProgress } from './progress.ts'
import { hasHead, loadProjections } from './projection.ts'
import { rebuild } from './rebuild.ts'
import { type ReplayOptions, replay } from './replay.ts'
import { table } from './table.ts'
import { keepComparisons, verify } from './verify.ts'
import { type ChainRange, commonBlock, rangePrinter, verifyChain } from './verify-chain.ts'
import { statusTable, watchStatus } from './watch.ts'

const program = new Command('vaultlog')
  .description('Operates Vaultlog: replay and verify read models, see where everything stands, manage keys.')
  .showHelpAfterError()

program
  .command('migrate')
  .description('bring both databases to the newest schema and record the registry of curated facts')
  .action(() =>
    withStores(
      async ({ pool, migrated }) => {
        const facts = await recordFacts(pool, await readFacts(FACTS), Math.floor(Date.now() / 1000))
        print(
          `${migrated.postgres.length} Postgres and ${migrated.clickhouse.length} ClickHouse migrations applied, ${facts} facts recorded.`,
        )
        return 0
      },
      { mayBeLost: true },
    ),
  )

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
      const started = Date.now()
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
          `Replayed ${work.projections.length} projections on ${work.streams.length} streams in ${((Date.now() - started) / 1000).toFixed(1)} s; the new tables are live.`,
        )
        return 0
      } finally {
        progress.close()
      }
    }),
  )

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
        const started = Date.now()
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
          print(`All read models are made anew, in ${((Date.now() - started) / 1000).toFixed(1)} s.`)
          return 0
        } finally {
          progress.close()
        }
      },
      { mayBeLost: true },
    ),
  )

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

program
  .command('status')
  .description('head, lag and dead letters of every stream and projection')
  .option('--json', 'as JSON')
  .option('-w, --watch [seconds]', 'again and again, with events per second', seconds)
  .action((options: { json?: boolean; watch?: number | true }) =>
    withEventStore(async ({ pool, env }, signal) => {
      const heads = () => readHeads(env.rpc)
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

const blockOrCommon = (value: string): number | 'common' => (value === 'common' ? value : integer(value))
const NODE_OPTION = ['--rpc <url>', 'node that knows the chain, RPC_<NETWORK> unless told'] as const

program
  .command('common-block <network>')
  .description(
    'the newest stored block that the chain still has, by hashes: after a fork deeper than finality',
  )
  .option(...NODE_OPTION)
  .action((name: string, options: { rpc?: string }) =>
    withEventStore(async ({ env }, signal) => {
      const network = networkByName(name)
      const { common, different } = await commonBlock(network.name, options, env, signal)
      if (different === undefined) {
        print(
          common === undefined
            ? `Nothing is stored of ${network.name}.`
            : `All stored blocks are the chain's, up to ${common}.`,
        )
        return 0
      }
      print(
        common === undefined
          ? `No stored block is the chain's: ${different} is another one already.`
          : `${common} is the newest stored block that the chain has; ${different} is another one. \`vaultlog rewind ${network.name} --to common\` retracts what is above.`,
      )
      return 1
    }),
  )

program
  .command('rewind <network>')
  .description('retract everything stored of a chain above a block, so that its processor stores it anew')
  .requiredOption(
    '--to <block>',
    'last block that stays; common: the newest that the chain has',
    blockOrCommon,
  )
  .option(...NODE_OPTION)
  .action((name: string, options: { to: number | 'common'; rpc?: string }) =>
    withEventStore(async ({ pool, env }, signal) => {
      const network = networkByName(name)
      let { to } = options
      if (to === 'common') {
        const { common, different } = await commonBlock(network.name, options, env, signal)
        if (different === undefined) {
          print(`All stored blocks of ${network.name} are the chain's: nothing to retract.`)
          return 0
        }
        to = common ?? 0
        print(`Block ${to} is the newest that the chain has.`)
      }
      print(
        `${await rewindChain(pool, network.chainId, network.name, to)} blocks retracted; start the processor of ${network.name} again.`,
      )
      return 0
    }),
  )

program
  .command('retire <network>')
  .description(
    'of a chain that is not indexed any more: what is stored is served on, and its age raises no alert',
  )
  .action((name: string) =>
    withEventStore(async ({ pool }) => {
      const network = networkByName(name)
      await retireChain(pool, network.chainId, network.name)
      print(`${network.name} is retired until its processor is started again.`)
      return 0
    }),
  )

function day(value: string): string {
  if (!/^\d{4}-\d\d-\d\d$/.test(value) || Number.isNaN(Date.parse(value)))
    throw new InvalidArgumentError('must be a day, YYYY-MM-DD.')
  return value
}

program
  .command('flows')
  .description('daily deposits and redemptions by API key, from the suffix of transactions')
  .option('--owner <name>', "only this key's name")
  .option('--from <day>', 'first day, UTC', day, '1970-01-01')
  .option('--to <day>', 'last day, UTC', day, '2149-06-06')
  .option('--json', 'as JSON, with exact amounts')
  .action((options: { owner?: string; from: string; to: string; json?: boolean }) =>
    withStores(async stores => {
      const rows = await readOwnerFlows(stores, options)
      const usd = (value: number | null) => (value === null ? 'unknown' : value.toFixed(2))
      if (options.json) print(JSON.stringify(rows, null, 2))
      else if (rows.length === 0) print('No transaction with the suffix of a key is known.')
      else {
        print(
          table(
            ['day', 'owner', 'code', 'network', 'vault', 'asset', 'deposits', 'USD', 'redemptions', 'USD'],
            rows.map(row => [
              row.day,
              row.owner ?? '(no such key)',
              row.code,
              row.network,
              row.vault,
              row.asset,
              row.deposits,
              usd(row.deposits_usd),
              row.redemptions,
              usd(row.redemptions_usd),
            ]),
          ),
        )
      }
      return 0
    }),
  )

program
  .command('export <table> <file>')
  .description('write a table or view of ClickHouse to a Parquet file')
  .option('--where <condition>', 'in SQL, such as "chain_id = 1 AND day >= \'2025-01-01\'"')
  .option('--whole', 'amounts also in whole units, as doubles in columns of their own (assets_whole)')
  .action((from: string, to: string, options: { where?: string; whole?: boolean }) =>
    withStores(async ({ clickhouse }, signal) => {
      print(`${to}: ${await exportParquet(clickhouse, { from, ...options, to, signal })} bytes.`)
      return 0
    }),
  )

addIgnoreCommands(program)
addKeyCommands(program)

await program.parseAsync()
