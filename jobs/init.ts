import { createPublicClient, http, webSocket } from 'viem'
import type { Network } from '../db/networks.ts'
import { variableOf } from '../db/process/env.ts'
import { ConfigError } from '../db/process/errors.ts'
import { ZERO_ADDRESS } from '../db/units.ts'

/** What somebody wants of a network. */
export interface Wanted {
  network: Network
  /** RPC endpoints, the preferred one first. */
  rpc: readonly string[]
  /** History from SQD's public Portal. */
  portal: boolean
}

/** What an endpoint says of itself. */
export interface Endpoint {
  /** Number of its newest block. */
  head: number
  /** Unix seconds of it. */
  time: number
  /** It knows accounts as they were at the first blocks. */
  isArchive: boolean
}

const TIMEOUT = 15_000

/** Asks an endpoint which chain it is of and what it has. @throws ConfigError in words for whoever gave the URL */
export async function askEndpoint(network: Network, url: string): Promise<Endpoint> {
  const isWebSocket = /^wss?:/.test(url)
  if (!isWebSocket && !/^https?:/.test(url))
    throw new ConfigError('It must begin with http://, https://, ws:// or wss://.')
  const options = { timeout: TIMEOUT, retryCount: 1 }
  const client = createPublicClient({
    transport: isWebSocket ? webSocket(url, { ...options, reconnect: false }) : http(url, options),
  })
  try {
    const chainId = await client.getChainId()
    if (chainId !== network.chainId)
      throw new ConfigError(`It is a node of chain ${chainId}; ${network.name} is ${network.chainId}.`)
    const { number, timestamp } = await client.getBlock({ blockTag: 'latest' })
    const isArchive = await client
      .getBalance({
        address: ZERO_ADDRESS,
        blockNumber: number < 1n ? number : 1n,
      })
      .then(
        () => true,
        () => false,
      )
    return { head: Number(number), time: Number(timestamp), isArchive }
  } catch (error) {
    if (error instanceof ConfigError) throw error
    const { shortMessage, details, message } = error as Error & { shortMessage?: string; details?: string }
    throw new ConfigError(`It does not answer as a node does: ${details || shortMessage || message}`)
  } finally {
    if (isWebSocket) {
      const transport = client.transport as unknown as { getRpcClient?(): Promise<{ close(): void }> }
      await transport.getRpcClient?.().then(
        socket => socket.close(),
        () => {},
      )
    }
  }
}

/** Lines of `.env` that enable the networks. */
function linesOf({ network, rpc, portal }: Wanted): Map<string, string> {
  const lines = new Map([[variableOf(network.name, 'RPC_'), quoted(rpc.join(','))]])
  if (portal) lines.set(variableOf(network.name, 'PORTAL_'), 'sqd')
  return lines
}

/** A value as .env files have it, in quotes where it is more than a word. */
const quoted = (value: string) => (/^[\w.,:/?=&%@+~-]*$/.test(value) ? value : `'${value}'`)

/** `.env` of a new installation: `example`, where every variable is explained, with what is wanted in it. */
export function writeEnv(example: string, wanted: readonly Wanted[]): string {
  const lines = new Map(wanted.flatMap(one => [...linesOf(one)]))
  const text = example.replace(/^(\w+)=.*$/gm, (line, name: string) => {
    const value = lines.get(name)
    lines.delete(name)
    return value === undefined ? line : `${name}=${value}`
  })
  const rest = [...lines].map(([name, value]) => `${name}=${value}\n`)
  return rest.length === 0
    ? text
    : `${text.trimEnd()}\n\n# ---- the other networks of this installation\n\n${rest.join('')}`
}
