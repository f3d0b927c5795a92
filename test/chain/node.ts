import { type ChildProcess, spawn } from 'node:child_process'
import {
  type Account,
  type Address,
  type Chain,
  createTestClient,
  defineChain,
  type Hex,
  http,
  type PublicActions,
  publicActions,
  type TestClient,
  type Transport,
  toHex,
  type WalletActions,
  walletActions,
} from 'viem'
import { z } from 'zod'
import { anvilBinary, callRpc, freePort, guardAgainstOrphan, untilAnswering } from './anvil-process.ts'
import { TransactionFailedError } from './errors.ts'

/** Genesis of a node unless told otherwise: 2025-01-01T00:00:00Z. */
export const defaultGenesis = 1_735_689_600

const accountCount = 72
const blockGasLimit = 300_000_000

/** A transaction to be: `to` absent deploys. `from` needs no key, the node signs or impersonates. */
export interface Call {
  from: Address
  to?: Address
  data?: Hex
  value?: bigint
  gas?: bigint
  /** Words for the error when it fails. */
  label?: string
  /** The transaction is meant to revert: mining does not complain. */
  mayFail?: boolean
}

export interface Log {
  address: Address
  topics: [Hex, ...Hex[]] | []
  data: Hex
  blockNumber: number
  blockHash: Hex
  transactionHash: Hex
  logIndex: number
}

export interface NodeOptions {
  /** 0 or absent: a free one. */
  port?: number
  chainId?: number
  /** Unix seconds of block 0. */
  timestamp?: number
  /** Where contracts need more than Shanghai has. */
  hardfork?: 'cancun'
  /** Added to the command line of anvil. */
  args?: string[]
}

export type NodeClient = TestClient<'anvil', Transport, Chain> &
  PublicActions<Transport, Chain> &
  WalletActions<Chain, Account | undefined>

/**
 * A running anvil. Blocks come only when asked for (`mine…`), in the order in which transactions were sent, at the
 * time that was asked for; so the same calls give the same transactions and logs. Block hashes differ from run to
 * run, because anvil draws mixHash at random.
 */
export interface Node {
  rpcUrl: string
  wsUrl: string
  port: number
  pid: number
  chainId: number
  client: NodeClient
  /** Unlocked accounts with 10,000 ether each; the first is the deployer and owner of everything. */
  accounts: readonly Address[]
  /** Transactions sent so far by `send`. */
  readonly sent: number
  rpc(method: string, params?: unknown[]): Promise<unknown>
  /** Puts a transaction into the pool; it is mined by the next `mine…`. Gives its hash. */
  send(call: Call): Promise<Hex>
  /** Address that the n-th deployment (0 = next) sent by `from` will have. */
  nextNonce(from: Address): Promise<number>
  /**
   * Mines one block holding everything in the pool and checks that every transaction sent by `send` went into it
   * and succeeded. `timestamp` in unix seconds; absent: 12 s after its parent.
   */
  mine(timestamp?: number): Promise<{ number: number; timestamp: number }>
  /** Mines n empty blocks, `interval` seconds apart. */
  mineEmpty(n: number, interval?: number): Promise<void>
  setNextBlockTimestamp(timestamp: number): Promise<void>
  head(): Promise<{ number: number; timestamp: number; hash: Hex }>
  logs(range?: { fromBlock?: number; toBlock?: number; address?: Address | Address[] }): Promise<Log[]>
  /**
   * Replaces the last `depth` blocks by as many new ones, in which `calls` stand: pairs of a call and the index of
   * its new block (0 = the lowest). What the replaced blocks held is gone.
   */
  reorg(depth: number, calls?: { call: Call; block: number }[]): Promise<void>
  /** Takes the last `depth` blocks away without replacement. */
  rollback(depth: number): Promise<void>
  /** Gives the function that returns to this state (once). */
  snapshot(): Promise<() => Promise<void>>
  /** Blocks every `seconds` from now on, or only on demand (0). */
  setIntervalMining(seconds: number): Promise<void>
  kill(signal: NodeJS.Signals): void
  stop(): Promise<void>
}

const hexNumber = z.string().transform(value => Number(BigInt(value)))
const hex = z.custom<Hex>(value => typeof value === 'string' && /^0x[0-9a-f]*$/.test(value))
const address = z.custom<Address>(value => typeof value === 'string' && /^0x[0-9a-f]{40}$/.test(value))
const blockShape = z.object({
  number: hexNumber,
  timestamp: hexNumber,
  hash: hex,
  transactions: z.array(hex),
})
const receiptShape = z.object({ transactionHash: hex, status: z.string(), gasUsed: hexNumber })
const logShape = z.object({
  address,
  topics: z.custom<Log['topics']>(value => z.array(hex).safeParse(value).success),
  data: hex,
  blockNumber: hexNumber,
  blockHash: hex,
  transactionHash: hex,
  logIndex: hexNumber,
})

/** Starts an anvil of its own for the caller. It ends with `stop`, with this process, or when this process is killed. */
export async function startNode(options: NodeOptions = {}): Promise<Node> {
  const port = options.port || (await freePort())
  const chainId = options.chainId ?? 1
  const child = spawn(
    anvilBinary(),
    [
      ...['--host', '127.0.0.1', '--port', String(port), '--chain-id', String(chainId)],
      ...['--timestamp', String(options.timestamp ?? defaultGenesis)],
      ...['--no-mining', '--order', 'fifo', '--auto-impersonate', '--quiet'],
      ...['--accounts', String(accountCount), '--gas-limit', String(blockGasLimit)],
      // Shanghai: from Cancun on two system calls per block make mining four times slower and double the memory.
      ...['--hardfork', options.hardfork ?? 'shanghai'],
      // All states stay in memory, so that eth_call answers for every past block; by default only 500 do.
      ...['--prune-history', '1000000'],
      ...['--no-request-size-limit'],
      ...(options.args ?? []),
    ],
    // A process group of its own: Ctrl-C goes to us, and we decide when the chain ends.
    { stdio: ['ignore', 'ignore', 'pipe'], detached: true },
  )
  const guard = guardAgainstOrphan(child)
  const rpcUrl = `http://127.0.0.1:${port}`
  try {
    await untilAnswering(child, rpcUrl)
  } catch (error) {
    guard.end()
    child.kill('SIGKILL')
    throw error
  }
  return makeNode({ child, guard, rpcUrl, port, chainId })
}

async function makeNode(run: {
  child: ChildProcess
  guard: { end(): void }
  rpcUrl: string
  port: number
  chainId: number
}): Promise<Node> {
  const { child, guard, rpcUrl, port, chainId } = run
  const nonces = new Map<Address, number>()
  const pending = new Map<Hex, Call>()
  let sent = 0

  const rpc = (method: string, params: unknown[] = []) => callRpc(rpcUrl, method, params)
  const accounts = z.array(address).parse(await rpc('eth_accounts'))
  const readBlock = async (tag: string) => blockShape.parse(await rpc('eth_getBlockByNumber', [tag, false]))

  const nextNonce = async (from: Address) =>
    nonces.get(from) ?? hexNumber.parse(await rpc('eth_getTransactionCount', [from, 'pending']))

  const send = async (call: Call) => {
    const nonce = await nextNonce(call.from)
    const hash = hex.parse(await rpc('eth_sendTransaction', [transactionRequest(call, nonce)]))
    nonces.set(call.from, nonce + 1)
    pending.set(hash, call)
    sent++
    return hash
  }

  const mine = async (timestamp?: number) => {
    const at = timestamp ?? (await readBlock('latest')).timestamp + 12
    await rpc('evm_mine', [{ timestamp: at, blocks: 1 }])
    const block = await readBlock('latest')
    if (pending.size > 0) await checkReceipts(block.number)
    return { number: block.number, timestamp: block.timestamp }
  }

  const checkReceipts = async (blockNumber: number) => {
    const receipts = z.array(receiptShape).parse(await rpc('eth_getBlockReceipts', [toHex(blockNumber)]))
    const waiting = new Map(pending)
    pending.clear()
    for (const receipt of receipts) {
      const call = waiting.get(receipt.transactionHash)
      waiting.delete(receipt.transactionHash)
      if (call && receipt.status !== '0x1' && !call.mayFail) {
        throw new TransactionFailedError(call, receipt.transactionHash, await revertReason(call, blockNumber))
      }
    }
    for (const [hash, call] of waiting) throw new TransactionFailedError(call, hash, 'it was not mined')
  }

  /** What the call would have said on the state before its block; a hint, since earlier calls of the block count too. */
  const revertReason = async (call: Call, blockNumber: number) => {
    try {
      await rpc('eth_call', [transactionRequest(call), toHex(blockNumber - 1)])
      return 'it succeeds on the state before its block'
    } catch (error) {
      return error instanceof Error ? error.message : String(error)
    }
  }

  const forget = () => {
    nonces.clear()
    pending.clear()
  }

  const chain = defineChain({
    id: chainId,
    name: 'Vaultlog demo chain',
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [rpcUrl] } },
    contracts: { multicall3: { address: '0xcA11bde05977b3631167028862bE2a173976CA11' } },
  })
  const client: NodeClient = createTestClient({ mode: 'anvil', transport: http(rpcUrl), chain })
    .extend(publicActions)
    .extend(walletActions)

  const ended = new Promise<void>(resolve => child.once('exit', () => resolve()))
  return {
    rpcUrl,
    wsUrl: rpcUrl.replace('http', 'ws'),
    port,
    pid: child.pid ?? -1,
    chainId,
    client,
    accounts,
    get sent() {
      return sent
    },
    rpc,
    send,
    nextNonce,
    mine,
    async mineEmpty(n, interval = 12) {
      let { timestamp } = await readBlock('latest')
      for (let i = 0; i < n; i++) {
        timestamp += interval
        await rpc('evm_mine', [{ timestamp, blocks: 1 }])
      }
    },
    async setNextBlockTimestamp(timestamp) {
      await rpc('evm_setNextBlockTimestamp', [timestamp])
    },
    async head() {
      const { number, timestamp, hash } = await readBlock('latest')
      return { number, timestamp, hash }
    },
    async logs({ fromBlock = 0, toBlock, address: of } = {}) {
      const filter = {
        fromBlock: toHex(fromBlock),
        toBlock: toBlock === undefined ? 'latest' : toHex(toBlock),
        ...(of === undefined ? {} : { address: of }),
      }
      return z.array(logShape).parse(await rpc('eth_getLogs', [filter]))
    },
    async reorg(depth, calls = []) {
      const pairs = calls.map(({ call, block }) => [transactionRequest(call), block])
      // Without it all new blocks get one and the same time.
      await rpc('anvil_setBlockTimestampInterval', [12])
      await rpc('anvil_reorg', [depth, pairs])
      await rpc('anvil_removeBlockTimestampInterval')
      forget()
    },
    async rollback(depth) {
      await rpc('anvil_rollback', [depth])
      forget()
    },
    async snapshot() {
      const id = await rpc('evm_snapshot')
      return async () => {
        await rpc('evm_revert', [id])
        forget()
      }
    },
    async setIntervalMining(seconds) {
      await rpc('evm_setIntervalMining', [seconds])
    },
    kill(signal) {
      child.kill(signal)
    },
    async stop() {
      if (child.exitCode === null && child.signalCode === null) {
        // Unreferenced, it would not keep this process waiting for its end.
        child.ref()
        child.kill('SIGKILL')
        await ended
      }
      guard.end()
    },
  }
}

function transactionRequest(call: Call, nonce?: number) {
  return {
    from: call.from,
    ...(call.to === undefined ? {} : { to: call.to }),
    // Explicit gas: an estimate would see the state before the pool, and costs more than the transaction.
    gas: toHex(call.gas ?? (call.to === undefined ? 12_000_000n : 3_000_000n)),
    maxFeePerGas: toHex(20_000_000_000n),
    maxPriorityFeePerGas: '0x0',
    ...(nonce === undefined ? {} : { nonce: toHex(nonce) }),
    ...(call.value === undefined ? {} : { value: toHex(call.value) }),
    ...(call.data === undefined ? {} : { data: call.data }),
  }
}
