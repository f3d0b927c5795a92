import { z } from 'zod'
import { type Ask, openFailover } from '../../db/chain/failover.ts'
import { openStrangerReader } from '../../db/chain/stranger-reader.ts'
import type { BlockRef } from '../../db/events/event-store.ts'
import type { ContractReader } from '../protocol.ts'
import { type ContractCalls, openContractCalls } from './contract-calls.ts'
import { type ContractCode, openContractCode } from './contract-code.ts'
import { openContractReaders } from './contract-readers.ts'
import { openDeploymentSearch } from './deployment-search.ts'
import { openKeptState } from './kept-state.ts'
import { openLostState } from './lost-state.ts'
import type { OnLeftOut } from './receipt-logs.ts'
import { openRpcHeaders, type RpcHeaders } from './rpc-headers.ts'
import { openRpcLogs, type RpcLogs } from './rpc-logs.ts'
import { hex, quantity } from './rpc-values.ts'
import { openToldTimes, type ToldTimes } from './told-times.ts'

const transactionSchema = z.object({ to: hex.nullish(), input: hex }).nullable()

export interface TransactionCall {
  /** Absent where a contract is created. */
  to?: string
  input: string
}

/** What a processor asks of a node besides what evm-processor fetches. Every answer is zod-checked. */
export interface ChainRpc
  extends RpcHeaders,
    RpcLogs,
    Pick<ContractCalls, 'calls'>,
    Pick<ContractCode, 'haveCode' | 'codeAt'> {
  chainId(): Promise<number>
  /** Whether the times that come with logs are to be believed. */
  times: ToldTimes
  /** What transactions call, by hash; one that the node does not have is left out. */
  transactions(hashes: readonly string[]): Promise<Map<string, TransactionCall>>
  /** Reads at the end of a block, or at the newest one where the node has no state of that any more. */
  reader(block: BlockRef): ContractReader
}

export function openChainRpc(
  urls: readonly string[],
  { network, onLeftOut }: { network?: string; onLeftOut?: OnLeftOut } = {},
): ChainRpc {
  const ask = openFailover(urls)
  const headers = openRpcHeaders(ask)
  const strangers = openStrangerReader(ask)
  const kept = openKeptState(ask)
  const lost = openLostState({ headers, strangers, kept })
  const { answers, calls } = openContractCalls({ strangers, kept, lost })
  const { hasCode, haveCode, codeAt } = openContractCode(ask, { strangers, kept, lost })
  const deployment = openDeploymentSearch({ headers, hasCode, kept, lost })
  return {
    ...headers,
    times: openToldTimes(network),
    chainId: async () => quantity.parse(await ask('eth_chainId', [])),
    ...openRpcLogs(ask, headers, onLeftOut),
    calls,
    haveCode,
    codeAt,
    transactions: hashes => transactionCalls(ask, hashes),
    reader: openContractReaders({ answers, head: headers.head, deployment }),
  }
}

async function transactionCalls(ask: Ask, hashes: readonly string[]): Promise<Map<string, TransactionCall>> {
  const found = new Map<string, TransactionCall>()
  await Promise.all(
    hashes.map(async hash => {
      const answer = transactionSchema.parse(await ask('eth_getTransactionByHash', [hash]))
      if (answer) found.set(hash, { to: answer.to?.toLowerCase(), input: answer.input })
    }),
  )
  return found
}
