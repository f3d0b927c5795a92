import { toBase58 } from '../../db/base58.ts'
import type { Portal } from '../source/portal-client.ts'
import type { SvmBlock } from './block.ts'
import type { SvmSource, Wanted } from './source.ts'
import { blockOf, FIELDS } from './sqd-block.ts'

/** Of one slice; a longer answer is taken up to here, and the rest asked for later. */
const MOST_BLOCKS = 2_000
const MOST_CHARACTERS = 64 * 1024 * 1024

/** Blocks of a Portal of SQD's protocol, with no more in them than is wanted. */
export function openPortalSource(portal: Portal): SvmSource {
  return {
    isFiltered: true,
    head: async () => (await portal.head()).number,
    async read(from, to, wanted) {
      const lines = await portal.stream(queryOf(from, to, wanted))
      const blocks: SvmBlock[] = []
      let characters = 0
      for await (const line of lines ?? []) {
        blocks.push(blockOf(JSON.parse(line), blocks.at(-1)?.time ?? 0))
        characters += line.length
        if (blocks.length === MOST_BLOCKS || characters > MOST_CHARACTERS) break
      }
      const last = blocks.at(-1)
      return last && { blocks, end: { slot: last.slot, hash: last.hash, time: last.time } }
    },
  }
}

function queryOf(fromBlock: number, toBlock: number, { programs, acts, mints }: Wanted) {
  const [ids, shares] = [programs, mints].map(list => list.map(one => toBase58(one))) as [string[], string[]]
  const relations = { transaction: true }
  return {
    type: 'solana' as const,
    fromBlock,
    toBlock,
    fields: {
      block: { number: true, hash: true, parentHash: true, timestamp: true },
      transaction: { transactionIndex: true, ...FIELDS.transaction },
      instruction: { transactionIndex: true, instructionAddress: true, ...FIELDS.instruction },
      tokenBalance: { transactionIndex: true, account: true, ...FIELDS.tokenBalance },
      log: { transactionIndex: true, logIndex: true, instructionAddress: true, ...FIELDS.log },
    },
    instructions: [
      {
        programId: ids,
        isCommitted: true,
        ...relations,
        transactionInstructions: true,
        transactionTokenBalances: true,
        logs: true,
      },
      ...acts.map(({ program, discriminator }) => ({
        programId: [toBase58(program)],
        d8: [`0x${discriminator}`],
        isCommitted: true,
        ...relations,
        transactionInstructions: true,
      })),
    ],
    ...(shares.length > 0 && {
      tokenBalances: [
        { preMint: shares, ...relations, transactionInstructions: true },
        { postMint: shares, ...relations, transactionInstructions: true },
      ],
    }),
  }
}
