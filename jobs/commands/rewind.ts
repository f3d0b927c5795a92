import type { Command } from 'commander'
import { rewindChain } from '../../db/events/rewind.ts'
import { networkByName } from '../../db/networks.ts'
import { ConfigError } from '../../db/process/errors.ts'
import { SOLANA } from '../../db/streams.ts'
import { integer, NODE_OPTION, print, withEventStore } from '../command.ts'
import { commonBlock } from '../verify-chain.ts'

const blockOrCommon = (value: string): number | 'common' => (value === 'common' ? value : integer(value))

export default function add(program: Command): void {
  program
    .command('rewind <network>')
    .description('retract everything stored of a chain above a block, so that its processor stores it anew')
    .requiredOption(
      '--to <block>',
      'last block (of Solana, slot) that stays; common: the newest that the chain has',
      blockOrCommon,
    )
    .option(...NODE_OPTION)
    .action((name: string, options: { to: number | 'common'; rpc?: string }) =>
      withEventStore(async ({ pool, env }, signal) => {
        let { to } = options
        if (name === SOLANA.name) {
          if (to === 'common')
            throw new ConfigError(
              'Only final slots of Solana are stored, and none of them is replaced: give the last slot that stays.',
            )
          const slots = await rewindChain(pool, SOLANA.id, SOLANA.name, to)
          print(
            `${slots} slots retracted; start the processor of ${SOLANA.name} again. Their transactions are stored anew; what the node said of accounts in these slots is not, as it cannot be asked for again.`,
          )
          return 0
        }
        const network = networkByName(name)
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
}
