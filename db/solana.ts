/** Solana, which is none of the networks of the API: its stream, and what the wire calls it. @see CAIP-2, namespace solana: the first 32 characters of the hash of the first block */
export const SOLANA = {
  stream: 1_399_811_149,
  name: 'solana',
  networkCaip: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp',
} as const
