import { createServer } from 'node:http'
import type { TestChain } from './chain.ts'
import { listening } from './rpc-server.ts'

/** A Portal over a test chain, by SQD's published protocol. */
export interface Portal {
  url: string
  requests: number
  /** What becomes of the next requests: a status to refuse them with, or how many bytes are sent before the connection breaks off. */
  faults: ({ status: number } | { bytes: number })[]
  close(): Promise<void>
}

interface Query {
  fromBlock: number
  toBlock?: number
  instructions: { programId: string[] }[]
  tokenBalances?: { preMint?: string[]; postMint?: string[] }[]
}

interface Shown {
  transaction: {
    signatures: string[]
    message: { accountKeys: string[]; instructions: Inner[] }
  }
  meta: {
    err: unknown
    innerInstructions: { index: number; instructions: Inner[] }[]
    preTokenBalances: Balance[]
    postTokenBalances: Balance[]
  }
}
interface Inner {
  programIdIndex: number
  accounts: number[]
  data: string
  stackHeight: number | null
}
interface Balance {
  accountIndex: number
  mint: string
  owner: string
  uiTokenAmount: { amount: string }
}

/** Blocks of one answer, few so that there are several. */
const MOST = 7

export async function servePortal(chain: TestChain): Promise<Portal> {
  const portal: Portal = { url: '', requests: 0, faults: [], close: async () => {} }
  const server = createServer((request, response) => {
    portal.requests++
    const fault = portal.faults.shift()
    if (fault && 'status' in fault) return response.writeHead(fault.status, { 'retry-after': '0' }).end()
    if (request.url === '/finalized-head')
      return response.end(JSON.stringify({ number: chain.head.slot, hash: chain.head.blockhash }))
    const parts: Buffer[] = []
    request.on('data', part => parts.push(part))
    request.on('end', () => {
      const lines = answer(chain, JSON.parse(Buffer.concat(parts).toString()))
      if (lines.length === 0) return response.writeHead(204).end()
      const text = `${lines.join('\n')}\n`
      response.setHeader('content-type', 'application/jsonl')
      if (!fault) return response.end(text)
      response.write(text.slice(0, fault.bytes), () => response.destroy())
    })
  })
  portal.url = await listening(server)
  portal.close = () =>
    new Promise(done => {
      server.close(() => done())
      server.closeAllConnections()
    })
  return portal
}

function answer(chain: TestChain, { fromBlock, toBlock, instructions, tokenBalances = [] }: Query): string[] {
  const last = Math.min(toBlock ?? chain.head.slot, chain.head.slot)
  const blocks = chain.blocks.filter(({ slot }) => slot >= fromBlock && slot <= last)
  const programs = new Set(instructions.flatMap(({ programId }) => programId))
  const mints = new Set(tokenBalances.flatMap(({ preMint = [], postMint = [] }) => [...preMint, ...postMint]))
  const lines: string[] = []
  for (const [i, block] of blocks.entries()) {
    const shown = (block.transactions as Shown[]).map((each, index) => told(each, index))
    const meant = shown.filter(
      ({ isCommitted, acts, balances }) =>
        isCommitted &&
        (acts.some(({ programId }) => programs.has(programId)) ||
          balances.some(({ preMint, postMint }) => mints.has(preMint ?? '') || mints.has(postMint ?? ''))),
    )
    // The last one is there in any case.
    if (meant.length === 0 && i < blocks.length - 1) continue
    lines.push(
      JSON.stringify({
        header: {
          number: block.slot,
          hash: block.blockhash,
          parentHash: block.previousBlockhash,
          timestamp: block.blockTime,
        },
        transactions: meant.map(({ transaction }) => transaction),
        // In no particular order.
        instructions: meant.flatMap(({ acts }) => acts).reverse(),
        tokenBalances: meant
          .flatMap(({ acts, balances }) =>
            acts.some(({ programId }) => programs.has(programId))
              ? balances
              : balances.filter(
                  ({ preMint, postMint }) => mints.has(preMint ?? '') || mints.has(postMint ?? ''),
                ),
          )
          .reverse(),
      }),
    )
    if (lines.length === MOST) break
  }
  return lines
}

function told({ transaction, meta }: Shown, transactionIndex: number) {
  const keys = transaction.message.accountKeys
  const act = (instructionAddress: number[], { programIdIndex, accounts, data }: Inner) => ({
    transactionIndex,
    instructionAddress,
    programId: keys[programIdIndex] ?? '',
    accounts: accounts.map(i => keys[i]),
    data,
  })
  const acts = transaction.message.instructions.flatMap((outer, i) => {
    const counts: number[] = []
    const inner = meta.innerInstructions.find(({ index }) => index === i)?.instructions ?? []
    return [
      act([i], outer),
      ...inner.map(each => {
        const depth = (each.stackHeight ?? 2) - 2
        counts.length = depth + 1
        counts[depth] = (counts[depth] ?? -1) + 1
        return act([i, ...counts], each)
      }),
    ]
  })
  const places = new Set(
    [...meta.preTokenBalances, ...meta.postTokenBalances].map(({ accountIndex }) => accountIndex),
  )
  const balances = [...places].map(place => {
    const pre = meta.preTokenBalances.find(({ accountIndex }) => accountIndex === place)
    const post = meta.postTokenBalances.find(({ accountIndex }) => accountIndex === place)
    return {
      transactionIndex,
      account: keys[place],
      preMint: pre?.mint,
      postMint: post?.mint,
      preOwner: pre?.owner,
      postOwner: post?.owner,
      preAmount: pre?.uiTokenAmount.amount,
      postAmount: post?.uiTokenAmount.amount,
    }
  })
  return {
    isCommitted: meta.err === null,
    transaction: { transactionIndex, signatures: transaction.signatures, err: meta.err },
    acts,
    balances,
  }
}
