import { type NetworkName, networkByName } from '../../db/networks.ts'

/** The same on every network that has them. @see docs.circle.fin, EVM contracts of CCTP v2 */
export const TOKEN_MESSENGER = '0x28b5a0e9c621a5badaa536219b3a228c8168cf5d'
export const MESSAGE_TRANSMITTER = '0x81d40f21f12a8f0e3252bccb954d722d4c464b64'

/** A network that the bridge reaches: its number there, and its USDC. */
export interface Domain {
  network: NetworkName
  chainId: number
  domain: number
  /** Lower case. */
  usdc: `0x${string}`
  /** Circle can be asked to mint there for the user. */
  takesForwarding: boolean
}

const table: readonly [NetworkName, number, `0x${string}`, takesForwarding?: false][] = [
  ['mainnet', 0, '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48'],
  ['avalanche', 1, '0xb97ef9ef8734c71904d8002f8b6bc66dd9c48a6e'],
  ['optimism', 2, '0x0b2c639c533813f4aa9d7837caf62653d097ff85'],
  ['arbitrum', 3, '0xaf88d065e77c8cc2239327c5edb3a432268e5831'],
  ['base', 6, '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913'],
  ['polygon', 7, '0x3c499c542cef5e3811e1192ce70d8cc03d5c3359'],
  ['unichain', 10, '0x078d782b760474a361dda0af3839290b0ef57ad6'],
  ['linea', 11, '0x176211869ca2b568f2a7d4ee941e073a821ee1ff'],
  ['worldchain', 14, '0x79a02482a880bce3f13e09da970dc34db4cd24d1'],
  ['monad', 15, '0x754704bc059f8c67012fed69bc8a327a5aafb603'],
  ['hyperliquid', 19, '0xb88339cb7199b77e23db6e890353e22632ba630f'],
  ['ink', 21, '0x2d270e6886d130d724215a266106e6832161eaed'],
  ['plasma', 33, '0x2d661c89d812261039af9764eceaaee884f5f67f', false],
]

/** Networks of ours with USDC of CCTP v2, as published in @circle-fin/bridge-kit 1.15.1 (chains). */
export const domains: readonly Domain[] = table.map(([network, domain, usdc, takesForwarding = true]) => ({
  network,
  chainId: networkByName(network).chainId,
  domain,
  usdc,
  takesForwarding,
}))

export const domainOfChain = (chainId: number): Domain | undefined =>
  domains.find(of => of.chainId === chainId)

export const domainByNumber = (domain: number): Domain | undefined => domains.find(of => of.domain === domain)
