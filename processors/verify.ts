import { parseArgs } from 'node:util'
import { readEnv } from '../db/process/env.ts'
import { ConfigError, VaultlogError } from '../db/process/errors.ts'
import { openEventStore } from '../db/stores.ts'
import { networks } from './chains.ts'
import { compareTwice, finalBlock, openCompleteness, RECHECK_BLOCKS } from './recheck.ts'
import { boundsOf, whole } from './verify-bounds.ts'

/**
 * Compares the store's events of a chain with the chain's own logs: verify.ts <network> [--rpc URL] [--from block]
 * [--to block] [--range blocks]. Prints one JSON object per range, whether it differs or not, and ends with 0 when all were
 * compared. `vaultlog verify --rpc` runs it.
 */
async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      rpc: { type: 'string' },
      from: { type: 'string' },
      to: { type: 'string' },
      range: { type: 'string', default: String(RECHECK_BLOCKS) },
    },
  })
  const network = Object.values(networks).find(({ name }) => name === positionals[0])
  if (!network) throw new ConfigError(`There is no network ${positionals[0] ?? ''}.`)
  const env = readEnv()
  const rpcUrls = values.rpc ? values.rpc.split(',') : (env.rpc[network.name] ?? [])
  if (rpcUrls.length === 0)
    throw new ConfigError(`No node to ask: give --rpc, or set an RPC of ${network.name}.`)
  const stores = await openEventStore(env, 'verify')
  try {
    const final = await finalBlock(stores.pool, network.chainId)
    const { from, to } = boundsOf(values, env.startBlock[network.name] ?? 0, final, network.name)
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

main().catch(error => {
  process.stderr.write(`${error instanceof VaultlogError ? error.message : (error as Error).stack}\n`)
  process.exitCode = 1
})
