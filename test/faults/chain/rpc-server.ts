import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Hex, toHex } from 'viem'
import { seededRandom } from '../../chain/random.ts'
import type { ChainBlock } from './blocks.ts'
import { type GeneratedChain, toQuantity } from './generated-chain.ts'
import { Refused, runReader, view } from './views.ts'
import { acceptWebSockets, type Subscriber } from './websocket.ts'

export interface Refusal {
  code: number
  message: string
  /** Of HTTP, where it is not 200. */
  status?: number
  /** A batch is not refused as a whole: each of its calls is. */
  each?: 'with its own id' | 'with the id 1'
}

/** How the node misbehaves. Everything absent: it does not. */
export interface NodeFaults {
  /** Every request gets this HTTP status. */
  status?: number
  /** Every call gets a JSON-RPC error. */
  error?: { code: number; message: string }
  /** Requests are taken and never answered. */
  silent?: boolean
  /** Of HTTP answers, this part is broken: cut short, socket dropped, or (single blocks) null. */
  broken?: number
  /** eth_getLogs over more blocks than this is refused. */
  maxRange?: number
  /** eth_getLogs with more logs than this is refused. */
  maxLogs?: number
  /** Requests of more calls than this are refused, and calls beyond so many a second. */
  maxBatch?: number
  maxRate?: number
  /** Requests and answers of more bytes than this are refused. */
  maxBytes?: number
  /** State is there of so many blocks. */
  archive?: number
  /** Beyond it the node answers as of a chain without accounts, in place of refusing: older Erigon does. */
  forgets?: boolean
  /** How a refusal is worded; the vendors differ. Without words it is the bare status. */
  refusal?: Refusal
  /** The node knows the chain only up to this height. */
  headAt?: number
  /** Of look-ups of blocks, this part is null. */
  nullBlocks?: number
  /** Blocks of this hash are null, though their numbers are served. */
  vanished?: string
  /** What eth_chainId answers instead. */
  chainId?: number
  /** Serves another chain altogether. */
  other?: GeneratedChain
  /** Every log of an eth_getLogs answer is in it twice. */
  twice?: boolean
  /** The first log of this block is left out of every answer. */
  hidesIn?: number
  /** eth_getLogs that names none of these is refused. */
  needsFilter?: 'contracts' | 'contracts or topics'
  /** Contracts' answers of one word are one too many. */
  lies?: boolean
  /** Milliseconds before each answer. */
  delay?: number
}

interface Call {
  id: number | string
  method: string
  params: unknown[]
}

export interface FaultyNode {
  url: string
  faults: NodeFaults
  /** Times of arrival of requests, milliseconds. */
  requests: { at: number; methods: string[]; refused?: boolean }[]
  /** Ranges asked of eth_getLogs, with whether they were refused. */
  ranges: { blocks: number; refused: boolean; byAddress: boolean }[]
  /** The subscriptions that there are go quiet; their connections stay open and answer. */
  muteSubscriptions(): void
  /** Nobody is at its address any more; connections end. */
  goAway(): Promise<void>
  /** It is at its address again. */
  comeBack(): Promise<void>
  stop(): Promise<void>
}

const JSON_TYPE = { 'content-type': 'application/json' }

function refusalOf({ code, message, each }: Refusal, calls: readonly Call[]): unknown {
  const error = { code, message }
  if (each && calls.length > 1)
    return calls.map(({ id }) => ({ jsonrpc: '2.0', id: each === 'with the id 1' ? '1' : id, error }))
  return { jsonrpc: '2.0', id: calls.length === 1 ? calls[0]?.id : null, error }
}

/**
 * A JSON-RPC node over a generated chain. `faults` may be changed at any time.
 *
 * @param runsReader it runs the one piece of code that our reader sends with a call; else it runs none
 */
export async function startFaultyNode(
  chain: GeneratedChain,
  { seed = 1, runsReader = false }: { seed?: number; runsReader?: boolean } = {},
): Promise<FaultyNode> {
  const random = seededRandom(seed)
  const requests: FaultyNode['requests'] = []
  const ranges: FaultyNode['ranges'] = []
  const node = { faults: {} as NodeFaults }
  const server = createServer((request, response) => {
    serve(request, response).catch(() => response.destroy())
  })

  function callsSince(time: number): number {
    const lately = requests.slice(requests.findLastIndex(({ at }) => at <= time) + 1)
    return lately.reduce((sum, { methods, refused }) => sum + (refused ? 0 : methods.length), 0)
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = ''
    for await (const chunk of request) body += chunk
    const parsed = JSON.parse(body) as Call | Call[]
    const calls = Array.isArray(parsed) ? parsed : [parsed]
    requests.push({ at: Date.now(), methods: calls.map(({ method }) => method) })
    const { faults } = node
    if (faults.silent) return
    const callsLately = faults.maxRate === undefined ? 0 : callsSince(Date.now() - 1000)
    const isBeyond = (isTooMuch: boolean | undefined, status: number): boolean => {
      if (!isTooMuch) return false
      const last = requests.at(-1)
      if (last) last.refused = true
      if (!faults.refusal) response.writeHead(status).end()
      else
        response
          .writeHead(faults.refusal.status ?? 200, JSON_TYPE)
          .end(JSON.stringify(refusalOf(faults.refusal, calls)))
      return true
    }
    if (isBeyond(faults.maxBatch !== undefined && calls.length > faults.maxBatch, 400)) return
    if (isBeyond(faults.maxRate !== undefined && callsLately > faults.maxRate, 429)) return
    if (isBeyond(faults.maxBytes !== undefined && body.length > faults.maxBytes, 413)) return
    if (faults.delay) await new Promise(resolve => setTimeout(resolve, faults.delay))
    if (faults.status) return void response.writeHead(faults.status).end('<html>no</html>')
    const isBroken = faults.broken !== undefined && random.chance(faults.broken)
    const kind = isBroken ? random.pick(['cut', 'dropped', 'null'] as const) : undefined
    if (kind === 'dropped') return void request.socket.destroy()
    const answers = calls.map(call => respond(call, kind === 'null'))
    const text = JSON.stringify(Array.isArray(parsed) ? answers : answers[0])
    if (isBeyond(faults.maxBytes !== undefined && text.length > faults.maxBytes, 413)) return
    // A revert is an answer: the status is that of the limit alone.
    const { message, status } = faults.refusal ?? {}
    const isRefused = calls.length === 1 && message !== undefined && text.includes(JSON.stringify(message))
    response.writeHead((isRefused && status) || 200, JSON_TYPE)
    response.end(kind === 'cut' ? text.slice(0, Math.floor(text.length / 2)) : text)
  }

  // Over WebSocket the node is an honest one, but for subscriptions.
  const subscribers = new Set<Subscriber>()
  const sockets = acceptWebSockets(
    server,
    (text, client) => {
      const parsed = JSON.parse(text) as Call | Call[]
      requests.push({ at: Date.now(), methods: [parsed].flat().map(({ method }) => method) })
      const answers = [parsed].flat().map(call => {
        if (call.method !== 'eth_subscribe') return respond(call, false)
        subscribers.add(client)
        return { jsonrpc: '2.0', id: call.id, result: '0x1' }
      })
      client.send(JSON.stringify(Array.isArray(parsed) ? answers : answers[0]))
    },
    client => subscribers.delete(client),
  )
  const forget = chain.onBlock(block => {
    const params = { subscription: '0x1', result: asRpcBlock(block, false) }
    for (const client of subscribers)
      client.send(JSON.stringify({ jsonrpc: '2.0', method: 'eth_subscription', params }))
  })

  function respond({ id, method, params }: Call, isNull: boolean): unknown {
    const { faults } = node
    if (faults.error) return { jsonrpc: '2.0', id, error: faults.error }
    const isBlock = method === 'eth_getBlockByNumber' || method === 'eth_getBlockByHash'
    if (isBlock && (isNull || (faults.nullBlocks !== undefined && random.chance(faults.nullBlocks))))
      return { jsonrpc: '2.0', id, result: null }
    try {
      return { jsonrpc: '2.0', id, result: answer(method, params) }
    } catch (error) {
      const code = error instanceof Refused ? error.code : -32603
      return { jsonrpc: '2.0', id, error: { code, message: (error as Error).message } }
    }
  }

  /** The chain as this node knows it now. */
  function known(): { chain: GeneratedChain; head: ChainBlock } {
    const { faults } = node
    const served = faults.other ?? chain
    const head = faults.headAt === undefined ? served.head : served.blocks[faults.headAt]
    return { chain: served, head: head ?? served.head }
  }

  function blockAt(tag: unknown): ChainBlock | undefined {
    const { chain: served, head } = known()
    if (tag === 'latest' || tag === 'pending') return head
    if (tag === 'earliest') return served.blocks[0]
    if (tag === 'finalized' || tag === 'safe') return served.blocks[Math.max(0, head.number - 64)]
    const height = Number(tag)
    return height <= head.number ? served.blocks[height] : undefined
  }

  /** Of eth_call: a number, a tag or {blockHash}. */
  function stateAt(at: unknown): ChainBlock {
    const hash = (at as { blockHash?: string } | undefined)?.blockHash
    const block = hash ? known().chain.everSeen.get(hash) : blockAt(at ?? 'latest')
    if (!block) throw new Refused(-32000, 'header not found')
    const { forgets, refusal } = node.faults
    if (isDropped(block) && !forgets)
      throw new Refused(
        refusal?.code ?? -32000,
        refusal?.message ?? 'missing trie node 12 (path ) state 0x12 is not available',
      )
    return block
  }

  function isDropped({ number }: ChainBlock): boolean {
    const { archive } = node.faults
    return archive !== undefined && number <= known().head.number - archive
  }

  function answer(method: string, params: unknown[]): unknown {
    const { chain: served, head } = known()
    switch (method) {
      case 'eth_chainId':
        return toQuantity(node.faults.chainId ?? served.chainId)
      case 'net_version':
        return String(node.faults.chainId ?? served.chainId)
      case 'eth_blockNumber':
        return toQuantity(head.number)
      case 'eth_getBlockByNumber': {
        const block = blockAt(params[0])
        return block ? asRpcBlock(block, params[1] === true) : null
      }
      case 'eth_getBlockByHash': {
        const block = served.everSeen.get(String(params[0]))
        if (!block || block.hash === node.faults.vanished || block.number > head.number) return null
        return asRpcBlock(block, params[1] === true)
      }
      case 'eth_getLogs':
        return logsOf(params[0] as LogFilter)
      case 'eth_getBlockReceipts': {
        const block = blockAt(params[0])
        return block ? block.transactions.map((hash, index) => asReceipt(block, hash, index)) : null
      }
      case 'eth_getTransactionByHash':
      case 'eth_getTransactionReceipt': {
        const [hash] = params as [Hex]
        const block = served.blocks.findLast(({ transactions }) => transactions.includes(hash))
        if (!block) return null
        const give = method === 'eth_getTransactionReceipt' ? asReceipt : asRpcTransaction
        return give(block, hash, block.transactions.indexOf(hash))
      }
      case 'eth_getTransactionByBlockNumberAndIndex': {
        const block = blockAt(params[0])
        const hash = block?.transactions[Number(params[1])]
        return block && hash ? asRpcTransaction(block, hash, Number(params[1])) : null
      }
      case 'eth_getTransactionCount': {
        const block = stateAt(params[1])
        return isDropped(block) ? '0x0' : toQuantity(block.number + 1)
      }
      case 'eth_getBalance':
        stateAt(params[1])
        return '0x0'
      case 'eth_getCode': {
        const block = stateAt(params[1])
        return isDropped(block) ? '0x' : served.codeAt(String(params[0]).toLowerCase(), block.number)
      }
      case 'eth_call': {
        const { to, data } = params[0] as { to?: string; data: Hex }
        const block = stateAt(params[1])
        const ran = runsReader && to === undefined ? runReader(served, data, block) : undefined
        if (ran) return ran
        const found = isDropped(block) ? '0x' : view(served, String(to).toLowerCase(), data, block)
        return node.faults.lies && found.length === 66 ? toHex(BigInt(found) + 1n, { size: 32 }) : found
      }
      default:
        throw new Refused(-32601, `the method ${method} does not exist`)
    }
  }

  interface LogFilter {
    fromBlock?: string
    toBlock?: string
    blockHash?: string
    address?: string | string[]
    topics?: (null | string | string[])[]
  }

  function logsOf(filter: LogFilter): unknown[] {
    const { faults } = node
    const { chain: served, head } = known()
    const names = filter.address || (faults.needsFilter === 'contracts or topics' && filter.topics?.length)
    // The words of PublicNode's endpoints.
    if (faults.needsFilter && !names) throw new Refused(-32701, 'Please specify an address in your request')
    const from = filter.blockHash ? undefined : Number(filter.fromBlock ?? head.number)
    const to = Math.min(Number(filter.toBlock ?? head.number), head.number)
    const blocks =
      from === undefined
        ? [served.everSeen.get(filter.blockHash ?? '')].filter(b => b !== undefined)
        : served.blocks.slice(from, to + 1)
    const addresses =
      filter.address === undefined ? undefined : new Set([filter.address].flat().map(a => a.toLowerCase()))
    const found = blocks.flatMap(block =>
      block.logs
        .slice(faults.hidesIn === block.number ? 1 : 0)
        .filter(
          log =>
            (!addresses || addresses.has(log.address)) &&
            (filter.topics ?? []).every(
              (want, i) => want === null || [want].flat().includes(log.topics[i] ?? ''),
            ),
        )
        .map(log => asRpcLog(block, log)),
    )
    const span = from === undefined ? 1 : to - from + 1
    const refused =
      (faults.maxRange !== undefined && span > faults.maxRange) ||
      (faults.maxLogs !== undefined && found.length > faults.maxLogs)
    ranges.push({ blocks: span, refused, byAddress: addresses !== undefined })
    if (refused) {
      const { code, message } = faults.refusal ?? {
        code: -32005,
        message: `query returned more than ${faults.maxLogs} results`,
      }
      throw new Refused(code, message)
    }
    return faults.twice ? found.flatMap(log => [log, log]) : found
  }

  const listen = (port: number) => new Promise<void>(resolve => server.listen(port, '127.0.0.1', resolve))
  const goAway = () =>
    new Promise<void>(resolve => {
      sockets.close()
      server.close(() => resolve())
      server.closeAllConnections()
    })
  await listen(0)
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    get faults() {
      return node.faults
    },
    set faults(next: NodeFaults) {
      node.faults = next
    },
    requests,
    ranges,
    muteSubscriptions: () => subscribers.clear(),
    goAway,
    comeBack: () => listen(port),
    stop() {
      forget()
      return goAway()
    },
  }
}

function asRpcBlock(block: ChainBlock, isFull: boolean): unknown {
  const { header, number, timestamp, hash, transactions } = block
  return {
    ...header,
    hash,
    number: toQuantity(number),
    timestamp: toQuantity(timestamp),
    gasUsed: header['gasUsed'] === '0x' ? '0x0' : header['gasUsed'],
    difficulty: '0x0',
    totalDifficulty: '0x0',
    size: '0x220',
    transactions: isFull ? transactions.map((tx, index) => asRpcTransaction(block, tx, index)) : transactions,
    uncles: [],
  }
}

function asRpcLog(block: ChainBlock, log: ChainBlock['logs'][number]): unknown {
  return {
    ...log,
    logIndex: toQuantity(log.logIndex),
    transactionIndex: toQuantity(log.transactionIndex),
    blockNumber: toQuantity(block.number),
    blockHash: block.hash,
    removed: false,
  }
}

/** Called is what logs first; with which input, no check asks. */
function asRpcTransaction(block: ChainBlock, hash: Hex, index: number): unknown {
  return {
    hash,
    transactionIndex: toQuantity(index),
    blockHash: block.hash,
    blockNumber: toQuantity(block.number),
    from: `0x${'f0'.repeat(20)}`,
    to: block.logs.find(log => log.transactionIndex === index)?.address ?? null,
    input: '0x',
    nonce: toQuantity(block.number),
    value: '0x0',
    gas: '0x5208',
    gasPrice: '0x0',
    type: '0x0',
    chainId: null,
    v: '0x0',
    r: '0x0',
    s: '0x0',
  }
}

function asReceipt(block: ChainBlock, hash: Hex, index: number): unknown {
  return {
    transactionHash: hash,
    transactionIndex: toQuantity(index),
    blockHash: block.hash,
    blockNumber: toQuantity(block.number),
    status: '0x1',
    logs: block.logs.filter(log => log.transactionIndex === index).map(log => asRpcLog(block, log)),
  }
}
