import { ConfigError } from './process/errors.ts'
import { misspelt } from './process/nearest.ts'

/** A network as the API names it. */
export interface NetworkId {
  readonly name: string
  readonly chainId: number
  /** CAIP-2. */
  readonly networkCaip: string
}

/** What is known of a network beforehand. */
export interface NetworkFacts {
  readonly chainId: number
  /** Other names that people give it. */
  aliases?: readonly string[]
  /** Dataset of SQD's public Portal; absent where it has none. */
  portal?: string
  /** Blocks behind the head after which a block is taken as final. */
  finality: number
  /** Seconds between blocks, on average. */
  blockTime: number
  /** Seconds, where blocks may come faster than that: what is read of a block is kept no longer. */
  shortestBlockTime?: number
  /** Its own coin; slip44: coin type in SLIP-0044. */
  native: { symbol: string; name: string; decimals: number; slip44?: number }
  /** The wrapped form of its coin, lower case. */
  wrappedNative?: `0x${string}`
  /** block.number is about that of its parent chain; its own is asked of ArbSys. */
  isArbitrum?: boolean
}

const ether = { symbol: 'ETH', name: 'Ether', decimals: 18, slip44: 60 }
/**
 * Datasets of the public Portal, as its list of July 2026 has them (subsquid-labs/skills, portal/references/dataset-mapping.md; today's:
 * https://portal.sqd.dev/datasets). It says of worldchain that it is no longer served, and has no swellchain and no robinhood.
 */
export const publicPortal = (dataset: string) => `https://portal.sqd.dev/datasets/${dataset}`

/*
 * finality: subsquid/cdn, src/create-squid/finality-confirmations.json where it names the network (mainnet's 64 is
 * rounded up to two epochs and a margin); its OP-stack value for the other OP-stack networks, in seconds rather than
 * blocks; for networks with instant BFT finality more than the reorgPeriod of @hyperlane-xyz/registry 23.11.0; for
 * the rest a cautious guess, marked so. A fork below it stops the processor, so too high is safe, too low is not.
 *
 * blockTime: viem 2.57.1, chains/definitions, unless marked; native: the same. shortestBlockTime: the networks' own
 * documentation of their target, where it is lower; lower is safe.
 *
 * slip44: github.com/satoshilabs/slips, each read in the registry as published in @metamask/slip44 4.4.0; POL goes on where
 * MATIC was. It is that of the coin, also where the registry has one for the chain besides (9005 Avalanche C-Chain, 9006
 * Binance Smart Chain). Left out: Plasma, whose XPL the registry does not have, and Celo, whose coin is an ERC-20 token
 * with the same balance.
 *
 * wrappedNative: @morpho-org/blue-sdk 6.4.0 (addressesRegistry, wNative) and @aave-dao/aave-address-book 4.68.1 where they
 * have it, 0x4200…0006 on the OP Stack (its predeploys), docs.chain.link (CCIP directory) for Berachain. All but Celo, whose
 * coin is itself an ERC-20 (0x471e…a438).
 *
 * isArbitrum: ArbSys.sol of OffchainLabs/nitro-contracts; for Robinhood Chain docs.robinhood.com/chain/differences-from-ethereum.
 */
const facts = {
  mainnet: {
    chainId: 1,
    aliases: ['ethereum', 'eth', 'eth-mainnet'],
    portal: 'ethereum-mainnet',
    finality: 75,
    blockTime: 12,
    native: ether,
    wrappedNative: '0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2',
  },
  optimism: {
    chainId: 10,
    aliases: ['op', 'op-mainnet'],
    portal: 'optimism-mainnet',
    finality: 30,
    blockTime: 2,
    native: ether,
    wrappedNative: '0x4200000000000000000000000000000000000006',
  },
  arbitrum: {
    chainId: 42161,
    aliases: ['arbitrum-one', 'arb'],
    portal: 'arbitrum-one',
    finality: 120,
    blockTime: 0.25,
    native: ether,
    wrappedNative: '0x82af49447d8a07e3bd95bd0d56f35241523fbab1',
    isArbitrum: true,
  },
  polygon: {
    chainId: 137,
    aliases: ['matic'],
    portal: 'polygon-mainnet',
    finality: 300,
    blockTime: 2,
    native: { symbol: 'POL', name: 'POL', decimals: 18, slip44: 966 },
    wrappedNative: '0x0d500b1d8e8ef31e21c99d1db9a6444d3adf1270',
  },
  gnosis: {
    chainId: 100,
    aliases: ['xdai'],
    portal: 'gnosis-mainnet',
    // Two epochs of 16 slots, doubled.
    finality: 64,
    blockTime: 5,
    native: { symbol: 'XDAI', name: 'xDAI', decimals: 18, slip44: 700 },
    wrappedNative: '0xe91d153e0b41518a2ce8dd3d7944fa863463a97d',
  },
  base: {
    chainId: 8453,
    portal: 'base-mainnet',
    finality: 30,
    blockTime: 2,
    native: ether,
    wrappedNative: '0x4200000000000000000000000000000000000006',
  },
  unichain: {
    chainId: 130,
    portal: 'unichain-mainnet',
    finality: 60,
    blockTime: 1,
    native: ether,
    wrappedNative: '0x4200000000000000000000000000000000000006',
  },
  swellchain: {
    chainId: 1923,
    finality: 30,
    blockTime: 2,
    native: ether,
    wrappedNative: '0x4200000000000000000000000000000000000006',
  },
  celo: {
    chainId: 42220,
    portal: 'celo-mainnet',
    finality: 60,
    blockTime: 1,
    native: { symbol: 'CELO', name: 'CELO', decimals: 18 },
  },
  worldchain: {
    chainId: 480,
    finality: 30,
    blockTime: 2,
    native: ether,
    wrappedNative: '0x4200000000000000000000000000000000000006',
  },
  berachain: {
    chainId: 80094,
    aliases: ['bera'],
    portal: 'berachain-mainnet',
    finality: 10,
    blockTime: 2,
    native: { symbol: 'BERA', name: 'BERA', decimals: 18, slip44: 8008 },
    wrappedNative: '0x6969696969696969696969696969696969696969',
  },
  // blockTime: @hyperlane-xyz/registry 23.11.0 (viem still says 2).
  ink: {
    chainId: 57073,
    portal: 'ink-mainnet',
    finality: 60,
    blockTime: 1,
    native: ether,
    wrappedNative: '0x4200000000000000000000000000000000000006',
  },
  bsc: {
    chainId: 56,
    aliases: ['bnb', 'bnb-chain', 'binance'],
    portal: 'binance-mainnet',
    finality: 15,
    blockTime: 0.75,
    shortestBlockTime: 0.45,
    native: { symbol: 'BNB', name: 'BNB', decimals: 18, slip44: 714 },
    wrappedNative: '0xbb4cdb9cbd36b01bd1cbaebf2de08d9173bc095c',
  },
  hyperliquid: {
    chainId: 999,
    aliases: ['hyperevm'],
    portal: 'hyperliquid-mainnet',
    finality: 10,
    // Fast blocks: hyperliquid.gitbook.io, dual-block architecture.
    blockTime: 1,
    native: { symbol: 'HYPE', name: 'HYPE', decimals: 18, slip44: 2457 },
    wrappedNative: '0x5555555555555555555555555555555555555555',
  },
  plasma: {
    chainId: 9745,
    portal: 'plasma-mainnet',
    finality: 20,
    blockTime: 1,
    native: { symbol: 'XPL', name: 'Plasma', decimals: 18 },
    wrappedNative: '0x6100e367285b01f48d07953803a2d8dca5d19873',
  },
  avalanche: {
    chainId: 43114,
    aliases: ['avax'],
    portal: 'avalanche-mainnet',
    finality: 5,
    blockTime: 1.7,
    shortestBlockTime: 1,
    native: { symbol: 'AVAX', name: 'Avalanche', decimals: 18, slip44: 9000 },
    wrappedNative: '0xb31f66aa3c1e785363f0875a1b74e27b85fd66c7',
  },
  // blockTime: @hyperlane-xyz/registry 23.11.0.
  katana: {
    chainId: 747474,
    portal: 'katana-mainnet',
    finality: 60,
    blockTime: 1,
    native: ether,
    wrappedNative: '0xee7d8bcfb72bc1880d0cf19822eb0a2e6577ab62',
  },
  linea: {
    chainId: 59144,
    portal: 'linea-mainnet',
    finality: 64,
    blockTime: 2,
    native: ether,
    wrappedNative: '0xe5d7c2a44ffddf6b295a15c148167daaaf5cf34f',
  },
  'mega-eth': {
    chainId: 4326,
    portal: 'megaeth-mainnet',
    finality: 60,
    blockTime: 1,
    shortestBlockTime: 0.25,
    native: ether,
    wrappedNative: '0x4200000000000000000000000000000000000006',
  },
  monad: {
    chainId: 143,
    portal: 'monad-mainnet',
    finality: 10,
    blockTime: 0.4,
    native: { symbol: 'MON', name: 'MON', decimals: 18, slip44: 268_435_779 },
    wrappedNative: '0x3bd359c1119da7da1d913d1c4d2b7c461115433a',
  },
  etherlink: {
    chainId: 42793,
    portal: 'etherlink-mainnet',
    // Guess: the rollup's data are final two Tezos blocks later; ten times that.
    finality: 60,
    blockTime: 4.83,
    shortestBlockTime: 0.5,
    native: { symbol: 'XTZ', name: 'Tez', decimals: 18, slip44: 1729 },
    wrappedNative: '0xc9b53ab2679f573e480d01e0f49e2b5cfb7a3eab',
  },
  // finality: a guess, Arbitrum's 30 seconds doubled in blocks of 0.1 s.
  robinhood: {
    chainId: 4663,
    finality: 600,
    blockTime: 0.1,
    native: ether,
    wrappedNative: '0x0bd7d308f8e1639fab988df18a8011f41eacad73',
    isArbitrum: true,
  },
} as const satisfies Record<string, NetworkFacts>

export type NetworkName = keyof typeof facts

/** A network with what is known of it. */
export interface Network extends NetworkId, NetworkFacts {
  readonly name: NetworkName
}

/** The 22 networks of the specification, in its order: the only table of them. */
export const networks = Object.fromEntries(
  Object.entries(facts).map(([name, of]) => [name, { name, networkCaip: `eip155:${of.chainId}`, ...of }]),
) as Record<NetworkName, Network>

/** As the API names them. */
export const networkIds: readonly NetworkId[] = Object.values(networks).map(
  ({ name, chainId, networkCaip }) => ({ name, chainId, networkCaip }),
)

/** Seconds by which the hourly samples of one network come behind those of the one before it. */
const APART = 3

/**
 * Seconds behind full hours at which hourly samples of a network are due: mainnet's at once, the others' one after the other
 * within about a minute, so that one installation does not read and project all of them in the same moment.
 */
export const hourOffsetOf = ({ name }: NetworkId): number =>
  APART * networkIds.findIndex(network => network.name === name)

export function isNetworkName(name: string): name is NetworkName {
  return Object.hasOwn(networks, name)
}

const byName = new Map<string, NetworkId>()
for (const network of networkIds) {
  byName.set(network.name, network)
  byName.set(network.networkCaip, network)
}
const byChainId = new Map(networkIds.map(network => [network.chainId, network]))

/** A network by its name or CAIP-2 identifier, in any case. */
export function findNetwork(nameOrCaip: string): NetworkId | undefined {
  return byName.get(nameOrCaip) ?? byName.get(nameOrCaip.trim().toLowerCase())
}

/** @throws ConfigError for what is none of ours */
export function networkByName(nameOrCaip: string): NetworkId {
  const network = findNetwork(nameOrCaip)
  if (network) return network
  throw new ConfigError(
    `There is no network ${nameOrCaip}. Networks: ${networkIds.map(({ name }) => name).join(', ')}.`,
  )
}

export function networkOfChain(chainId: number): NetworkId | undefined {
  return byChainId.get(chainId)
}

/** What is known of a chain beforehand. */
export function factsOfChain(chainId: number): Network | undefined {
  const name = byChainId.get(chainId)?.name
  return name !== undefined && isNetworkName(name) ? networks[name] : undefined
}

const aliases = new Map(
  Object.values(networks).flatMap(({ name, aliases = [] }) => aliases.map(alias => [alias, name] as const)),
)

/** Which network somebody may have meant by a name that is none. */
export function meantNetwork(name: string): string | undefined {
  const known = networkIds.map(network => network.name)
  return aliases.get(name.toLowerCase()) ?? misspelt(name, known)
}

/** What to say of a name that is no network's. `written`: how a network's name has to be written there. */
export function noNetwork(name: string, written = (network: string) => network): string {
  const meant = meantNetwork(name)
  if (meant) return `there is no network ${name}; did you mean ${written(meant)}?`
  return `there is no network ${name}. Networks: ${networkIds.map(network => network.name).join(', ')}.`
}
