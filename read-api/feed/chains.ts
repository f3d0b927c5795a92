import { findNetwork, networkOfChain, noNetwork } from '../../db/networks.ts'
import { SOLANA } from '../../db/streams.ts'

/** Where a chain of the event store stands, all of it at one moment. */
export interface Chain {
  /** Position of its newest event. */
  head: number
  /** Every event up to here is of a block that no fork replaces any more, or is taken back already. */
  final: number
}

export function nameOfChain(chainId: number): string {
  return chainId === SOLANA.id ? SOLANA.name : (networkOfChain(chainId)?.name ?? String(chainId))
}

/** By name, CAIP-2 identifier or number. */
export function idOfChain(name: string): number | undefined {
  if (/^\d{1,10}$/.test(name)) return Number(name)
  return name.toLowerCase() === SOLANA.name ? SOLANA.id : findNetwork(name)?.chainId
}

export function noChain(name: string): string {
  const said = noNetwork(name)
  return said.endsWith('.') ? `${said.slice(0, -1)}, ${SOLANA.name}` : said
}
