import { parseArgs } from 'node:util'
import { openFailover } from '../../db/chain/failover.ts'
import { readFirstBlock } from '../../db/events/watched-sources.ts'
import { type Network, networks } from '../../db/networks.ts'
import { readEnv } from '../../db/process/env.ts'
import { ConfigError, VaultlogError } from '../../db/process/errors.ts'
import { openEventStore } from '../../db/stores.ts'
import { SOLANA } from '../../db/streams.ts'
import { assertComparable } from '../source/right-chain.ts'
import { openChainRpc } from '../source/rpc.ts'
import { compareSlots, firstSlot } from '../svm/compare.ts'
import { loadPrograms } from '../svm/load-programs.ts'
import { assertRightCluster } from '../svm/right-cluster.ts'
import { openRpcSource } from '../svm/rpc-source.ts'
import { findCommonBlock } from './common-block.ts'
import { compareTwice, finalBlock, openCompleteness, RECHECK_BLOCKS } from './recheck.ts'
import { boundsOf, whole } from './verify-bounds.ts'

/**
 * Compares the store's events of a chain with the chain's own logs: verify.ts <network> [--rpc URL] [--from block]
 * [--to block] [--range blocks]. Prints one JSON object per range, whether it differs or not, and ends with 0 when all were
 * compared. `vaultlog verify --rpc` runs it. With --common: the newest stored block that the chain has, for
 * `vaultlog common-block`. With --hash-of <block>: the hash that the chain has of it, for `vaultlog snapshot import`.
 */
async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      rpc: { type: 'string' },
      from: { type: 'string' },
      to: { type: 'string' },
      common: { type: 'boolean', default: false },
      'hash-of': { type: 'string' },
      range: { type: 'string', default: String(RECHECK_BLOCKS) },
    },
  })
  if (positionals[0] === SOLANA.name) return verifySolana(values)
  const network: Network | undefined = Object.values(networks).find(({ name }) => name === positionals[0])
  if (!network) throw new ConfigError(`There is no network ${positionals[0] ?? ''}.`)
  const env = readEnv()
  const rpcUrls = values.rpc ? values.rpc.split(',') : (env.rpc[network.name] ?? [])
  if (rpcUrls.length === 0)
    throw new ConfigError(`No node to ask: give --rpc, or set an RPC of ${network.name}.`)
  const of = values['hash-of']
  if (of !== undefined) {
    const rpc = openChainRpc(rpcUrls)
    await assertComparable(rpc, network)
    const header = await rpc.header(whole('hash-of', of))
    process.stdout.write(`${JSON.stringify({ hash: header?.hash })}\n`)
    return
  }
  const stores = await openEventStore(env, 'verify')
  try {
    if (values.common) {
      const rpc = openChainRpc(rpcUrls)
      await assertComparable(rpc, network)
      const found = await findCommonBlock(stores.pool, network.chainId, rpc)
      process.stdout.write(`${JSON.stringify(found)}\n`)
      return
    }
    const final = await finalBlock(stores.pool, network.chainId)
    const first = (await readFirstBlock(stores.pool, network.chainId)) ?? 0
    const { from, to } = boundsOf(values, first, final, network.name)
    const range = whole('range', values.range, 1)
    for (let at = from; at <= to; at += range) {
      const found = await compareTwice(
        () => openCompleteness(stores.pool, network, rpcUrls, env),
        at,
        Math.min(to, at + range - 1),
      )
      process.stdout.write(`${JSON.stringify(found)}\n`)
    }
  } finally {
    await stores.close()
  }
}

/** The same of Solana; of its blocks there is nothing but final ones, and so no common one to look for. */
async function verifySolana(values: {
  rpc?: string
  from?: string
  to?: string
  range: string
}): Promise<void> {
  const env = readEnv()
  const urls = values.rpc ? values.rpc.split(',') : (env.RPC_SOLANA ?? [])
  if (urls.length === 0) throw new ConfigError('No node to ask: give --rpc, or set RPC_SOLANA.')
  const ask = openFailover(urls)
  await assertRightCluster(ask)
  const stores = await openEventStore(env, 'verify')
  try {
    const final = await finalBlock(stores.pool, SOLANA.id)
    const bounds = boundsOf(values, await firstSlot(stores.pool), final, SOLANA.name)
    const range = whole('range', values.range, 1)
    for (let at = bounds.from; at <= bounds.to; at += range) {
      const to = Math.min(bounds.to, at + range - 1)
      const found = await compareSlots(
        { pool: stores.pool, source: openRpcSource(ask), programs: await loadPrograms() },
        at,
        to,
      )
      process.stdout.write(`${JSON.stringify(found)}\n`)
    }
  } finally {
    await stores.close()
  }
}

main().catch(error => {
  process.stderr.write(`${error instanceof VaultlogError ? error.message : (error as Error).stack}\n`)
  process.exitCode = 1
})
