import type { Command } from 'commander'
import { ConfigError } from '../../db/process/errors.ts'
import { NODE_OPTION, print, withEventStore } from '../command.ts'
import { openProgress } from '../progress.ts'
import { chainByName, exportSnapshot, importSnapshot, type Manifest, readManifest } from '../snapshot.ts'
import { hashOfBlock } from '../verify-chain.ts'

export default function add(program: Command): void {
  const snapshot = program
    .command('snapshot')
    .description("a chain's events as Parquet files, so that another installation need not fetch them again")

  snapshot
    .command('export <network> <folder>')
    .description('write what is stored of a chain to a new folder; its processor may run meanwhile')
    .action((name: string, folder: string) =>
      withEventStore(async ({ pool }, signal) => {
        const progress = openProgress()
        try {
          const made = await exportSnapshot(chainByName(name), { pool, folder, progress, signal })
          progress.close()
          print(`${folder}: ${describe(made)}.`)
          return 0
        } finally {
          progress.close()
        }
      }),
    )

  snapshot
    .command('import <folder>')
    .description('take a snapshot into an event store that has nothing of its chain')
    .option(...NODE_OPTION)
    .option('--unchecked', "do not ask a node whether the snapshot's newest final block is the chain's")
    .action((folder: string, options: { rpc?: string; unchecked?: boolean }) =>
      withEventStore(async ({ pool, env }, signal) => {
        const manifest = await readManifest(folder)
        const { network } = manifest
        const isAsked = chainByName(network).kind === 'evm' && !options.unchecked
        if (isAsked)
          await assertCanonical(manifest, height => hashOfBlock(network, height, options, env, signal))
        const progress = openProgress()
        try {
          await importSnapshot(manifest, { pool, folder, progress, signal })
        } finally {
          progress.close()
        }
        print(`${describe(manifest)} are stored. Workers make the read models by themselves.`)
        print(
          isAsked
            ? `Prove what logs tell of them against a node of yours: vaultlog verify --chain ${network} --rpc <url>.`
            : 'No node was asked about them.',
        )
        return 0
      }),
    )
}

const describe = ({ network, cursor, parts }: Manifest) =>
  `${cursor.head} events of ${network} up to block ${cursor.head_height} (final to ${cursor.final_height}), in ${parts.length} files`

async function assertCanonical(
  { network, cursor }: Manifest,
  hashOf: (height: number) => Promise<string | undefined>,
): Promise<void> {
  const { final_height: height, final_hash: told } = cursor
  const hash = await hashOf(height)
  if (hash === undefined)
    throw new ConfigError(
      `The node has no block ${height} of ${network} yet, at which the snapshot is final. Wait until it has, or ask another one.`,
    )
  if (hash !== told)
    throw new ConfigError(
      `Block ${height} of ${network} is ${hash} on the chain and ${told} in the snapshot: it is of another chain or fork. Nothing was stored.`,
    )
}
