import type pg from 'pg'
import type { Network } from '../db/networks.ts'
import { variableOf } from '../db/process/env.ts'
import { ConfigError, UnavailableError, VaultlogError } from '../db/process/errors.ts'
import { openChainRpc } from './source/rpc.ts'
import { isKeyWanted } from './source/sqd-parts.ts'

/** A run of the source that failed. */
interface Failed {
  network: Network
  gateway?: string | undefined
  pool: pg.Pool
  rpcUrls: readonly string[]
}

/** The chain replaced blocks that were taken as final. */
export class DeepForkError extends VaultlogError {
  readonly code = 'DEEP_FORK'
  constructor(network: string, detail: string) {
    super(
      `${network} replaced blocks below finality (${detail}). Nothing was changed. ` +
        `Stop it, run \`vaultlog rewind ${network} --to common\` to retract what came after the last common block, ` +
        `raise ${variableOf(network, 'FINALITY_')} if this chain reorganises that deep, and start again.`,
    )
  }
}

/** evm-processor reports forks below finality as bare assertions and errors; here they say what to do. */
export async function explain(options: Failed, error: unknown): Promise<Error> {
  if (!(error instanceof Error)) return new UnavailableError(String(error))
  if (error instanceof VaultlogError) return error
  if (options.gateway && isKeyWanted(error))
    return new ConfigError(
      `The gateway of ${options.network.name} wants a key, and none can be sent to gateways: set ${variableOf(options.network.name, 'PORTAL_')} (sqd, or the URL of a Portal's dataset) in place of ${variableOf(options.network.name, 'GATEWAY_')}.`,
    )
  const isNotFound = /already indexed block .* was not found on chain/.test(error.message)
  const isFromHot = error.name === 'AssertionError' && /hot\.(ts|js)/.test(error.stack ?? '')
  if (!isNotFound && !isFromHot) return error
  if (options.rpcUrls.length === 0) return new DeepForkError(options.network.name, error.message)
  // A fork while its blocks are being fetched fails in the same way, and the next attempt gets over it.
  const final = await findFinalBlock(options).catch(() => undefined)
  if (!final?.now || final.stored === final.now) {
    return new UnavailableError('The chain changed while its blocks were fetched.', { cause: error })
  }
  return new DeepForkError(
    options.network.name,
    `block ${final.height} was ${final.stored} and is ${final.now}`,
  )
}

/** The hash of the newest final block as stored, and what the chain says of that height now. */
async function findFinalBlock({ network, pool, rpcUrls }: Failed) {
  const { rows } = await pool.query<{ final_height: number; final_hash: string }>(
    `SELECT final_height, final_hash FROM stream WHERE id = $1 AND final_height >= 0 AND final_hash <> '0x'`,
    [network.chainId],
  )
  const [row] = rows
  if (!row) return undefined
  const rpc = openChainRpc(rpcUrls)
  // What a node of another chain has at that height says nothing of this one.
  if ((await rpc.chainId()) !== network.chainId) return undefined
  const header = await rpc.header(row.final_height)
  return { height: row.final_height, stored: row.final_hash, now: header?.hash }
}

export function isRetryable(error: unknown): boolean {
  if (error instanceof VaultlogError) return error.retryable
  // A statement that Postgres does not understand or allow will not get better.
  if (/^42/.test((error as { code?: unknown } | undefined)?.code?.toString() ?? '')) return false
  // Postgres and RPC clients throw their own kinds: connection loss, shutdown, time-outs. Our own faults are VaultlogErrors.
  return true
}
