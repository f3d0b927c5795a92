import type { Command } from 'commander'
import { print, withStores } from '../command.ts'
import { exportParquet } from '../export.ts'

export default function add(program: Command): void {
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
}
