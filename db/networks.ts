import { ConfigError } from './process/errors.ts'
import { misspelt } from './process/nearest.ts'

/** A network as the API names it. */
export interface NetworkId {
  readonly name: string
  readonly chainId: number
  /** CAIP-2. */
  readonly networkCaip: string
}

const chainIds = {
  mainnet: 1,
  optimism: 10,
  arbitrum: 42161,
  polygon: 137,
  gnosis: 100,
  base: 8453,
  unichain: 130,
  swellchain: 1923,
  celo: 42220,
  worldchain: 480,
  berachain: 80094,
  ink: 57073,
  bsc: 56,
  hyperliquid: 999,
  plasma: 9745,
  avalanche: 43114,
  katana: 747474,
  linea: 59144,
  'mega-eth': 4326,
  monad: 143,
  etherlink: 42793,
  robinhood: 4663,
} as const

export type NetworkName = keyof typeof chainIds

/** The 22 networks of the specification, in its order. */
export const networkIds: readonly NetworkId[] = Object.entries(chainIds).map(([name, chainId]) => ({
  name,
  chainId,
  networkCaip: `eip155:${chainId}`,
}))

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

/** Other names that people give to networks of ours. */
const aliases: Record<string, NetworkName> = {
  ethereum: 'mainnet',
  eth: 'mainnet',
  'eth-mainnet': 'mainnet',
  'arbitrum-one': 'arbitrum',
  arb: 'arbitrum',
  op: 'optimism',
  'op-mainnet': 'optimism',
  matic: 'polygon',
  xdai: 'gnosis',
  bnb: 'bsc',
  'bnb-chain': 'bsc',
  binance: 'bsc',
  avax: 'avalanche',
  hyperevm: 'hyperliquid',
  bera: 'berachain',
}

/** Which network somebody may have meant by a name that is none. */
export function meantNetwork(name: string): string | undefined {
  const known = networkIds.map(network => network.name)
  return aliases[name.toLowerCase()] ?? misspelt(name, known)
}

/** What to say of a name that is no network's. `written`: how a network's name has to be written there. */
export function noNetwork(name: string, written = (network: string) => network): string {
  const meant = meantNetwork(name)
  if (meant) return `there is no network ${name}; did you mean ${written(meant)}?`
  return `there is no network ${name}. Networks: ${networkIds.map(network => network.name).join(', ')}.`
}
