import type { Command } from 'commander'
import { retireChain } from '../../db/events/retire.ts'
import { networkByName } from '../../db/networks.ts'
import { print, withEventStore } from '../command.ts'

export default function add(program: Command): void {
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
}
