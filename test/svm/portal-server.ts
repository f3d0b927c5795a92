import { hexOfBase58 } from '../../db/base58.ts'
import { BadQuery, type Dataset, type Query } from '../portal/server.ts'
import type { TestChain } from './chain.ts'

interface SvmQuery {
  fromBlock: number
  toBlock: number
  instructions: { programId: string[]; d8?: string[] }[]
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
    logMessages: string[]
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

/** A test chain behind a Portal; `chunk`: blocks of one chunk, few so that there are several. */
export function svmDataset(chain: Pick<TestChain, 'blocks' | 'head'>, { chunk = 7 } = {}): Dataset {
  return {
    name: 'solana-test',
    start: 0,
    head: () => ({ number: chain.head.slot, hash: chain.head.blockhash }),
    hash: slot => chain.blocks.find(block => block.slot === slot)?.blockhash,
    *chunks(query: Query) {
      if (query['type'] !== 'solana') throw new BadQuery('not of Solana')
      const asked = query as Query & SvmQuery
      for (let from = asked.fromBlock; from <= asked.toBlock; ) {
        const lines = answer(chain, { ...asked, fromBlock: from }, chunk)
        yield lines
        from =
          (JSON.parse(lines.at(-1) ?? '{"header":{"number":1e9}}') as { header: { number: number } }).header
            .number + 1
      }
    },
  }
}

function answer(
  chain: Pick<TestChain, 'blocks'>,
  { fromBlock, toBlock: last, instructions, tokenBalances = [] }: SvmQuery,
  most: number,
): string[] {
  const blocks = chain.blocks.filter(({ slot }) => slot >= fromBlock && slot <= last)
  // What comes with an instruction that is asked for by its data is the transaction alone.
  const programs = new Set(instructions.filter(({ d8 }) => !d8).flatMap(({ programId }) => programId))
  const isAsked = ({ programId, data }: { programId: string; data: string }) =>
    programs.has(programId) ||
    instructions.some(
      each =>
        each.programId.includes(programId) &&
        each.d8?.some(bytes => hexOfBase58(data, 10_240)?.startsWith(bytes)),
    )
  const mints = new Set(tokenBalances.flatMap(({ preMint = [], postMint = [] }) => [...preMint, ...postMint]))
  const lines: string[] = []
  for (const [i, block] of blocks.entries()) {
    const shown = (block.transactions as Shown[]).map((each, index) => told(each, index))
    const meant = shown.filter(
      ({ isCommitted, acts, balances }) =>
        isCommitted &&
        (acts.some(isAsked) ||
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
        logs: meant.flatMap(({ logs }) => logs).filter(({ programId }) => programs.has(programId)),
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
    if (lines.length === most) break
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
    logs: logsOf(meta.logMessages, transactionIndex),
  }
}

/** By the depths that the machine counts itself: each instruction of these programs leaves its lines. */
function logsOf(lines: readonly string[], transactionIndex: number) {
  const [counts, programs]: [number[], string[]] = [[], []]
  return lines.flatMap((line, logIndex) => {
    const [word, program = '', verb, depth] = line.split(' ')
    if (word === 'Program' && verb === 'invoke') {
      const level = Number(depth?.slice(1, -1))
      counts.length = Math.max(level, counts.length)
      counts[level - 1] = (counts[level - 1] ?? -1) + 1
      counts.length = level
      programs.length = level
      programs[level - 1] = program
    } else if (word === 'Program' && (verb === 'success' || verb === 'failed:')) programs.pop()
    else if (line.startsWith('Program data: '))
      return [
        {
          transactionIndex,
          logIndex,
          instructionAddress: counts.slice(0, programs.length),
          programId: programs.at(-1) ?? '',
          kind: 'data',
          message: line.slice('Program data: '.length),
        },
      ]
    return []
  })
}
