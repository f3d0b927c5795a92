import type { Command } from 'commander'
import { networkByName } from '../../db/networks.ts'
import { NODE_OPTION, print, withEventStore } from '../command.ts'
import { commonBlock } from '../verify-chain.ts'

export default function add(program: Command): void {
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
}
