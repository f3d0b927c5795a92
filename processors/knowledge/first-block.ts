import type pg from 'pg'
import { isUnknownToNode } from '../../db/chain/errors.ts'
import { readFirstBlock, type WatchedSource } from '../../db/events/watched-sources.ts'
import type { Network } from '../../db/networks.ts'
import { variableOf } from '../../db/process/env.ts'
import { ConfigError } from '../../db/process/errors.ts'
import { log } from '../../db/process/log.ts'
import type { Decoder } from '../handling/decode.ts'
import type { ChainRpc } from '../source/rpc.ts'

interface FirstBlockOptions {
  network: Network
  pool: pg.Pool
  startBlock?: number | undefined
}

/**
 * The block that a chain's stream begins at: as it began, once it has; as the configuration says; or where the first of
 * the contracts was made that the protocols' own tables name on this network.
 *
 * @throws ConfigError the stream begins later than the configuration says now
 */
export async function firstBlock(
  { network, pool, startBlock }: FirstBlockOptions,
  decoder: Pick<Decoder, 'sources'>,
  rpc: ChainRpc | undefined,
): Promise<number> {
  const first = await readFirstBlock(pool, network.chainId)
  if (first !== undefined) {
    if (startBlock === undefined || startBlock >= first) return first
    const variable = variableOf(network.name, 'START_BLOCK_')
    throw new ConfigError(
      `${variable} is ${startBlock}, and what is stored of ${network.name} begins at block ${first}: what came before cannot be put below it. ` +
        `Set ${variable}=${first} (or leave it unset), or run \`vaultlog rewind ${network.name} --to ${Math.max(0, Math.min(startBlock, first) - 1)}\` to have everything stored anew from ${startBlock} on.`,
    )
  }
  if (startBlock !== undefined) return startBlock
  const found = rpc && (await firstDeployment(decoder.sources(), rpc))
  log.info(
    { network: network.name, from: found ?? 0 },
    found === undefined
      ? 'begins at block 0: the node knows no older state, or none of the contracts that the registry names'
      : 'begins at the first deployment that the registry names',
  )
  return found ?? 0
}

/** The block in which the first of these contracts has code; undefined where none has, or the node cannot tell. */
async function firstDeployment(
  sources: readonly WatchedSource[],
  rpc: ChainRpc,
): Promise<number | undefined> {
  const named = [...new Set(sources.flatMap(({ contract }) => (contract ? [contract] : [])))]
  const head = await rpc.head()
  try {
    let [low, high] = [-1, head.number]
    let some = await rpc.codeAt(named, high)
    if (some.length === 0) return undefined
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2)
      const before = await rpc.codeAt(some, middle)
      if (before.length > 0) [high, some] = [middle, before]
      else low = middle
    }
    return high
  } catch (error) {
    if (isUnknownToNode(error)) return undefined
    throw error
  }
}
