import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { address, getBase58Encoder, getTransactionDecoder } from '@solana/kit'
import { FailedTransactionMetadata } from 'litesvm'
import { errorOf, type RpcBlock, type TestChain } from './chain.ts'

/** A node of a test chain: all that it has is final. Errors are worded as nodes word them. */
export interface RpcNode {
  url: string
  /** How often each method was called. */
  readonly calls: Map<string, number>
  /** Fails calls, as a node that is out of order does; undefined: all is well. */
  fault: ((method: string) => RpcFailure | undefined) | undefined
  /** It gives no answer of more bytes than this, and cuts no account where that is asked for. */
  most: number | undefined
  /** Blocks above this slot are not known yet, though the chain has them. */
  head: number | undefined
  close(): Promise<void>
}

export interface RpcFailure {
  status?: number
  code?: number
  message?: string
}

class RpcError extends Error {
  readonly code: number
  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

type Params = readonly unknown[]

export async function serveRpc(chain: TestChain): Promise<RpcNode> {
  const node: RpcNode = {
    url: '',
    calls: new Map(),
    fault: undefined,
    most: undefined,
    head: undefined,
    close: async () => {},
  }
  const answer = ({ id, method, params }: { id: unknown; method: string; params?: Params }) => {
    node.calls.set(method, (node.calls.get(method) ?? 0) + 1)
    const failure = node.fault?.(method)
    if (failure?.status) throw failure
    try {
      if (failure) throw new RpcError(failure.code ?? -32603, failure.message ?? 'Internal error')
      const found = methods[method]
      if (!found) throw new RpcError(-32601, 'Method not found')
      const result = found(chain, params ?? [], headOf(chain, node), node)
      if (
        JSON.stringify(result, (_, each) => (typeof each === 'bigint' ? 0 : each)).length >
        (node.most ?? Number.POSITIVE_INFINITY)
      )
        throw new RpcError(-32008, 'Response is too big')
      return { jsonrpc: '2.0', id, result }
    } catch (error) {
      if (!(error instanceof RpcError)) throw error
      return { jsonrpc: '2.0', id, error: { code: error.code, message: error.message } }
    }
  }
  const server = createServer((request, response) => {
    const parts: Buffer[] = []
    request.on('data', part => parts.push(part))
    request.on('end', () => {
      try {
        const asked = JSON.parse(Buffer.concat(parts).toString())
        const said = Array.isArray(asked) ? asked.map(answer) : answer(asked)
        response.setHeader('content-type', 'application/json').end(written(said))
      } catch (error) {
        const { status = 500 } = error as RpcFailure
        response.writeHead(status, { 'retry-after': '0' }).end('out of order')
      }
    })
  })
  node.url = await listening(server)
  node.close = () =>
    new Promise(done => {
      server.close(() => done())
      server.closeAllConnections()
    })
  return node
}

export async function listening(server: Server): Promise<string> {
  await new Promise<void>(done => server.listen(0, '127.0.0.1', done))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Bare integers of 64 bits, as nodes write them. */
const written = (value: unknown) =>
  JSON.stringify(value, (_, each) => (typeof each === 'bigint' ? `u64:${each}` : each)).replaceAll(
    /"u64:(\d+)"/g,
    '$1',
  )

function headOf(chain: TestChain, { head = Number.MAX_SAFE_INTEGER }: RpcNode): RpcBlock {
  const known = chain.blocks.filter(({ slot }) => slot <= head).at(-1)
  if (!known) throw new RpcError(-32004, 'Block not available')
  return known
}

const config = (params: Params) =>
  (params.find(each => typeof each === 'object' && each !== null && !Array.isArray(each)) ?? {}) as Record<
    string,
    unknown
  >

interface Slice {
  offset: number
  length: number
}

function accountOf(chain: TestChain, key: string, slice?: Slice): unknown {
  const account = chain.svm.getAccount(address(key))
  if (!account.exists || account.lamports === 0n) return null
  const data = slice ? account.data.subarray(slice.offset, slice.offset + slice.length) : account.data
  return {
    data: [Buffer.from(data).toString('base64'), 'base64'],
    executable: account.executable,
    lamports: account.lamports,
    owner: account.programAddress,
    rentEpoch: 18446744073709551615n,
    space: account.data.length,
  }
}

const slots = (chain: TestChain, from: number, to: number) =>
  chain.blocks.map(({ slot }) => slot).filter(slot => slot >= from && slot <= to)

const methods: Record<string, (chain: TestChain, params: Params, head: RpcBlock, node: RpcNode) => unknown> =
  {
    getSlot: (_, __, head) => head.slot,
    getBlockHeight: (_, __, head) => head.blockHeight,
    getGenesisHash: () => '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d',
    getFirstAvailableBlock: chain => chain.blocks[0]?.slot,
    getMinimumBalanceForRentExemption: (chain, [size]) =>
      chain.svm.minimumBalanceForRentExemption(BigInt(size as number)),
    getBlocks: (chain, [from, to], head) =>
      slots(chain, from as number, Math.min(typeof to === 'number' ? to : head.slot, head.slot)),
    getBlocksWithLimit: (chain, [from, limit], head) =>
      slots(chain, from as number, head.slot).slice(0, limit as number),
    getBlock: (chain, [slot, asked], head) => {
      if ((slot as number) > head.slot) throw new RpcError(-32004, `Block not available for slot ${slot}`)
      const block = chain.blocks.find(each => each.slot === slot)
      if (!block)
        throw new RpcError(
          -32007,
          `Slot ${slot} was skipped, or missing due to ledger jump to recent snapshot`,
        )
      const { slot: _, transactions, ...rest } = block
      return (asked as { transactionDetails?: string } | undefined)?.transactionDetails === 'none'
        ? rest
        : { ...rest, transactions }
    },
    getEpochInfo: (chain, _, head) => ({
      absoluteSlot: head.slot,
      blockHeight: head.blockHeight,
      epoch: chain.epoch,
      slotIndex: 0,
      slotsInEpoch: 432_000,
      transactionCount: 0,
    }),
    getLatestBlockhash: (chain, _, head) => ({
      context: { slot: head.slot },
      value: { blockhash: chain.svm.latestBlockhash(), lastValidBlockHeight: head.blockHeight + 150 },
    }),
    getAccountInfo: (chain, [key], head) => ({
      context: { slot: head.slot },
      value: accountOf(chain, key as string),
    }),
    getBalance: (chain, [key], head) => ({
      context: { slot: head.slot },
      value: chain.svm.getBalance(address(key as string)) ?? 0,
    }),
    getMultipleAccounts: (chain, [keys, asked], head, { most }) => {
      if ((keys as string[]).length > 100) throw new RpcError(-32602, 'Too many inputs provided; max 100')
      const { dataSlice, minContextSlot = 0 } = (asked ?? {}) as {
        dataSlice?: Slice
        minContextSlot?: number
      }
      if (head.slot < minContextSlot) throw new RpcError(-32016, 'Minimum context slot has not been reached')
      const slice = most === undefined ? dataSlice : undefined
      return {
        context: { slot: head.slot },
        value: (keys as string[]).map(key => accountOf(chain, key, slice)),
      }
    },
    getProgramAccounts: (chain, [program, asked], head) => {
      const {
        filters = [],
        dataSlice,
        withContext,
        minContextSlot = 0,
      } = (asked ?? {}) as {
        filters?: { dataSize?: number; memcmp?: { offset: number; bytes: string } }[]
        dataSlice?: Slice
        withContext?: boolean
        minContextSlot?: number
      }
      if (head.slot < minContextSlot) throw new RpcError(-32016, 'Minimum context slot has not been reached')
      const value = chain.svm
        .getProgramAccounts(address(program as string))
        .flatMap(({ address: pubkey, data }) => {
          const isMeant = filters.every(({ dataSize, memcmp }) => {
            if (dataSize !== undefined && data.length !== dataSize) return false
            if (!memcmp) return true
            const bytes = Buffer.from(getBase58Encoder().encode(memcmp.bytes))
            return bytes.equals(Buffer.from(data.subarray(memcmp.offset, memcmp.offset + bytes.length)))
          })
          return isMeant ? [{ pubkey, account: accountOf(chain, pubkey, dataSlice) }] : []
        })
      return withContext ? { context: { slot: head.slot }, value } : value
    },
    getTokenAccountsByOwner: (chain, [owner, by], head) => {
      const { mint, programId } = by as { mint?: string; programId?: string }
      const programs = programId
        ? [programId]
        : ['TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA', 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb']
      const starts = (
        data: { subarray(from: number, to: number): ArrayLike<number> },
        at: number,
        key: string,
      ) => Buffer.from(getBase58Encoder().encode(key)).equals(Buffer.from(data.subarray(at, at + 32)))
      const value = programs.flatMap(program =>
        chain.svm
          .getProgramAccounts(address(program))
          .filter(({ data }) => data.length >= 165 && starts(data, 32, owner as string))
          .filter(({ data }) => !mint || starts(data, 0, mint))
          .map(({ address: pubkey }) => ({ pubkey, account: accountOf(chain, pubkey) })),
      )
      return { context: { slot: head.slot }, value }
    },
    simulateTransaction: (chain, [encoded, asked], head) => {
      const transaction = getTransactionDecoder().decode(Buffer.from(encoded as string, 'base64'))
      chain.svm.withSigverify(false).withBlockhashCheck(false)
      const result = chain.svm.simulateTransaction(transaction as never)
      chain.svm.withSigverify(true)
      const failed = result instanceof FailedTransactionMetadata
      const meta = result.meta()
      const after = new Map(
        failed ? [] : result.postAccounts().map(account => [account.address as string, account]),
      )
      const wanted = (config([asked])['accounts'] as { addresses: string[] } | undefined)?.addresses
      const accounts = wanted?.map(key => {
        const account = after.get(key)
        return account
          ? {
              data: [Buffer.from(account.data).toString('base64'), 'base64'],
              executable: account.executable,
              lamports: account.lamports,
              owner: account.programAddress,
              rentEpoch: 18446744073709551615n,
              space: account.data.length,
            }
          : accountOf(chain, key)
      })
      return {
        context: { slot: head.slot },
        value: {
          err: failed ? errorOf(result) : null,
          logs: meta.logs(),
          unitsConsumed: Number(meta.computeUnitsConsumed()),
          accounts: failed ? null : (accounts ?? null),
          returnData: null,
        },
      }
    },
    sendTransaction: (chain, [encoded]) => {
      const transaction = getTransactionDecoder().decode(Buffer.from(encoded as string, 'base64'))
      return chain.mine([transaction as never])[0]?.signature
    },
  }
