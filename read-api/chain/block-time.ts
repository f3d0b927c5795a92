import type { NetworkName } from '../../db/networks.ts'

/**
 * Milliseconds between blocks, rounded down: what is read is kept no longer than this. From the networks' own
 * documentation of their target block time; a network that has sped up since is only kept for too short a time if
 * the figure is lowered, so lower is safe.
 */
export const blockTimes: Record<NetworkName, number> = {
  mainnet: 12_000,
  optimism: 2_000,
  arbitrum: 250,
  polygon: 2_000,
  gnosis: 5_000,
  base: 2_000,
  unichain: 1_000,
  swellchain: 2_000,
  celo: 1_000,
  worldchain: 2_000,
  berachain: 2_000,
  ink: 1_000,
  bsc: 450,
  hyperliquid: 1_000,
  plasma: 1_000,
  avalanche: 1_000,
  katana: 1_000,
  linea: 2_000,
  'mega-eth': 250,
  monad: 400,
  etherlink: 500,
  robinhood: 100,
}
