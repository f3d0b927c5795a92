import { type Command, InvalidArgumentError } from 'commander'
import { networkByName } from '../../db/networks.ts'
import { ignoreContract, readIgnored, unignoreContract } from '../../db/registry/ignored.ts'
import { print, withEventStore } from '../command.ts'
import { table } from '../table.ts'

function address(value: string): string {
  if (!/^0x[0-9a-fA-F]{40}$/.test(value))
    throw new InvalidArgumentError('must be an address: 0x and 40 hexadecimal digits.')
  return value.toLowerCase()
}

/** Contracts that an operator has left alone. */
export default function add(program: Command): void {
  program
    .command('ignore')
    .argument('<network>')
    .argument('<address>', 'of the contract', address)
    .description('leave a contract alone: it is not called, decoded, sampled or served any more')
    .option('--reason <words>', 'for whoever reads the list')
    .action((name: string, contract: string, { reason }: { reason?: string }) =>
      withEventStore(async ({ pool }) => {
        const network = networkByName(name)
        const isNew = await ignoreContract(pool, network.chainId, contract, reason)
        print(isNew ? `${contract} is ignored on ${network.name}.` : `${contract} is ignored already.`)
        return 0
      }),
    )
  program
    .command('unignore')
    .argument('<network>')
    .argument('<address>', 'of the contract', address)
    .description('undo it: what was missed meanwhile is fetched beside the live blocks')
    .action((name: string, contract: string) =>
      withEventStore(async ({ pool }) => {
        const network = networkByName(name)
        await unignoreContract(pool, network.chainId, contract)
        print(`${contract} is not ignored on ${network.name} any more.`)
        return 0
      }),
    )
  program
    .command('ignored')
    .argument('<network>')
    .description('contracts that are left alone, by whom and why')
    .action((name: string) =>
      withEventStore(async ({ pool }) => {
        const { chainId } = networkByName(name)
        const { ignored } = await readIgnored(pool, chainId)
        if (ignored.size === 0) print('None.')
        else
          print(
            table(
              ['contract', 'by', 'reason'],
              [...ignored.values()].map(({ contract, by, reason }) => [
                contract,
                by ?? 'db/registry/facts',
                reason ?? '',
              ]),
            ),
          )
        return 0
      }),
    )
}
