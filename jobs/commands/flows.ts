import { type Command, InvalidArgumentError } from 'commander'
import { print, withStores } from '../command.ts'
import { readOwnerFlows } from '../flows.ts'
import { table } from '../table.ts'

function day(value: string): string {
  if (!/^\d{4}-\d\d-\d\d$/.test(value) || Number.isNaN(Date.parse(value)))
    throw new InvalidArgumentError('must be a day, YYYY-MM-DD.')
  return value
}

export default function add(program: Command): void {
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
}
