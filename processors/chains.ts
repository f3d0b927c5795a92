import type { NetworkName } from '../db/networks.ts'

/** The 22 networks of the specification. */
export interface Network {
  name: string
  chainId: number
  /** SQD gateway of the finalized history; absent where SQD publishes none. */
  gateway?: string
  /** Blocks behind the head after which a block is taken as final. */
  finality: number
  /** Seconds between blocks, on average. */
  blockTime: number
  native: { symbol: string; name: string; decimals: number }
}

const eth = { symbol: 'ETH', name: 'Ether', decimals: 18 }
/** Datasets as published in subsquid/cdn, src/archives/evm.json; the five networks without one are not in it. */
const sqd = (dataset: string) => `https://v2.archive.subsquid.io/network/${dataset}`

/*
 * finality: subsquid/cdn, src/create-squid/finality-confirmations.json where it names the network (mainnet's 64 is
 * rounded up to two epochs and a margin); its OP-stack value for the other OP-stack networks, in seconds rather than
 * blocks; for networks with instant BFT finality more than the reorgPeriod of @hyperlane-xyz/registry 23.11.0; for
 * the rest a cautious guess, marked so. A fork below it stops the processor, so too high is safe, too low is not.
 * blockTime: viem 2.57.1, chains/definitions, unless marked; native: the same.
 */
export const networks = {
  mainnet: {
    name: 'mainnet',
    chainId: 1,
    gateway: sqd('ethereum-mainnet'),
    finality: 75,
    blockTime: 12,
    native: eth,
  },
  optimism: {
    name: 'optimism',
    chainId: 10,
    gateway: sqd('optimism-mainnet'),
    finality: 30,
    blockTime: 2,
    native: eth,
  },
  arbitrum: {
    name: 'arbitrum',
    chainId: 42161,
    gateway: sqd('arbitrum-one'),
    finality: 120,
    blockTime: 0.25,
    native: eth,
  },
  polygon: {
    name: 'polygon',
    chainId: 137,
    gateway: sqd('polygon-mainnet'),
    finality: 300,
    blockTime: 2,
    native: { symbol: 'POL', name: 'POL', decimals: 18 },
  },
  gnosis: {
    name: 'gnosis',
    chainId: 100,
    gateway: sqd('gnosis-mainnet'),
    // Two epochs of 16 slots, doubled.
    finality: 64,
    blockTime: 5,
    native: { symbol: 'XDAI', name: 'xDAI', decimals: 18 },
  },
  base: {
    name: 'base',
    chainId: 8453,
    gateway: sqd('base-mainnet'),
    finality: 30,
    blockTime: 2,
    native: eth,
  },
  unichain: {
    name: 'unichain',
    chainId: 130,
    gateway: sqd('unichain-mainnet'),
    finality: 60,
    blockTime: 1,
    native: eth,
  },
  swellchain: { name: 'swellchain', chainId: 1923, finality: 30, blockTime: 2, native: eth },
  celo: {
    name: 'celo',
    chainId: 42220,
    gateway: sqd('celo-mainnet'),
    finality: 60,
    blockTime: 1,
    native: { symbol: 'CELO', name: 'CELO', decimals: 18 },
  },
  // Named as a private dataset in subsquid/cdn, scripts/sqd-network-metadata/catalog.json: no public gateway.
  worldchain: { name: 'worldchain', chainId: 480, finality: 30, blockTime: 2, native: eth },
  berachain: {
    name: 'berachain',
    chainId: 80094,
    gateway: sqd('berachain-mainnet'),
    finality: 10,
    blockTime: 2,
    native: { symbol: 'BERA', name: 'BERA Token', decimals: 18 },
  },
  // blockTime: @hyperlane-xyz/registry 23.11.0 (viem still says 2).
  ink: { name: 'ink', chainId: 57073, gateway: sqd('ink-mainnet'), finality: 60, blockTime: 1, native: eth },
  bsc: {
    name: 'bsc',
    chainId: 56,
    gateway: sqd('binance-mainnet'),
    finality: 15,
    blockTime: 0.75,
    native: { symbol: 'BNB', name: 'BNB', decimals: 18 },
  },
  hyperliquid: {
    name: 'hyperliquid',
    chainId: 999,
    gateway: sqd('hyperliquid-mainnet'),
    finality: 10,
    // Fast blocks: hyperliquid.gitbook.io, dual-block architecture.
    blockTime: 1,
    native: { symbol: 'HYPE', name: 'HYPE', decimals: 18 },
  },
  plasma: {
    name: 'plasma',
    chainId: 9745,
    finality: 20,
    blockTime: 1,
    native: { symbol: 'XPL', name: 'Plasma', decimals: 18 },
  },
  avalanche: {
    name: 'avalanche',
    chainId: 43114,
    gateway: sqd('avalanche-mainnet'),
    finality: 5,
    blockTime: 1.7,
    native: { symbol: 'AVAX', name: 'Avalanche', decimals: 18 },
  },
  // blockTime: @hyperlane-xyz/registry 23.11.0.
  katana: { name: 'katana', chainId: 747474, finality: 60, blockTime: 1, native: eth },
  linea: {
    name: 'linea',
    chainId: 59144,
    gateway: sqd('linea-mainnet'),
    finality: 64,
    blockTime: 2,
    native: eth,
  },
  'mega-eth': {
    name: 'mega-eth',
    chainId: 4326,
    gateway: sqd('megaeth-mainnet'),
    finality: 60,
    blockTime: 1,
    native: eth,
  },
  monad: {
    name: 'monad',
    chainId: 143,
    gateway: sqd('monad-mainnet'),
    finality: 10,
    blockTime: 0.4,
    native: { symbol: 'MON', name: 'Monad', decimals: 18 },
  },
  etherlink: {
    name: 'etherlink',
    chainId: 42793,
    gateway: sqd('etherlink-mainnet'),
    // Guess: the rollup's data are final two Tezos blocks later; ten times that.
    finality: 60,
    blockTime: 4.83,
    native: { symbol: 'XTZ', name: 'Tez', decimals: 18 },
  },
  // finality: a guess, Arbitrum's 30 seconds doubled in blocks of 0.1 s. Named a private dataset by SQD, as above.
  robinhood: { name: 'robinhood', chainId: 4663, finality: 600, blockTime: 0.1, native: eth },
} as const satisfies Record<NetworkName, Network>

export type { NetworkName }

export function isNetworkName(name: string): name is NetworkName {
  return Object.hasOwn(networks, name)
}
