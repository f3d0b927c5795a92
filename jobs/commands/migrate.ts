import type { Command } from 'commander'
import { FACTS, readFacts, recordFacts } from '../../db/registry/registry.ts'
import { print, withStores } from '../command.ts'

export default function add(program: Command): void {
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
}
