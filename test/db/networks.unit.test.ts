import { readFileSync } from 'node:fs'
import * as viemChains from 'viem/chains'
import { describe, expect, test } from 'vitest'
import { findNetwork, isNetworkName, networkOfChain, networks } from '../../db/networks.ts'

/** The specification's table: name and chain id. */
const SPECIFIED: [string, number][] = [
  ['mainnet', 1],
  ['optimism', 10],
  ['arbitrum', 42161],
  ['polygon', 137],
  ['gnosis', 100],
  ['base', 8453],
  ['unichain', 130],
  ['swellchain', 1923],
  ['celo', 42220],
  ['worldchain', 480],
  ['berachain', 80094],
  ['ink', 57073],
  ['bsc', 56],
  ['hyperliquid', 999],
  ['plasma', 9745],
  ['avalanche', 43114],
  ['katana', 747474],
  ['linea', 59144],
  ['mega-eth', 4326],
  ['monad', 143],
  ['etherlink', 42793],
  ['robinhood', 4663],
]

describe('networks', () => {
  test('are the 22 of the specification, in its order', () => {
    expect(Object.values(networks).map(n => [n.name, n.chainId])).toEqual(SPECIFIED)
    expect(Object.keys(networks)).toEqual(SPECIFIED.map(([name]) => name))
  })

  test.each(SPECIFIED)('%s is found by name, chain id and CAIP-2', (name, chainId) => {
    const network = findNetwork(name)
    expect(network).toEqual({ name, chainId, networkCaip: `eip155:${chainId}` })
    expect(networkOfChain(chainId)).toBe(network)
    expect(findNetwork(`eip155:${chainId}`)).toBe(network)
  })

  test('what is none of ours is not found', () => {
    for (const name of ['ethereum', '', 'toString', '__proto__']) {
      expect(findNetwork(name)).toBeUndefined()
      expect(isNetworkName(name)).toBe(false)
    }
    for (const caip of ['eip155:2', 'eip155:01', 'solana:1']) expect(findNetwork(caip)).toBeUndefined()
  })

  test.each(Object.values(networks))('$name agrees with viem on native asset', network => {
    const known = Object.values(viemChains).filter(c => 'id' in c && c.id === network.chainId)
    expect(known.some(c => c.nativeCurrency.symbol === network.native.symbol)).toBe(true)
    expect(known.some(c => c.nativeCurrency.decimals === network.native.decimals)).toBe(true)
  })

  test('finality and block time are sensible', () => {
    for (const { finality, blockTime, shortestBlockTime = blockTime, portal } of Object.values(networks)) {
      expect(finality).toBeGreaterThanOrEqual(5)
      expect(shortestBlockTime).toBeGreaterThan(0)
      // Nothing is kept for longer than the indexer takes a block to last.
      expect(shortestBlockTime).toBeLessThanOrEqual(blockTime)
      if (portal) expect(portal).toMatch(/^[a-z]+-(mainnet|one)$/)
    }
  })
})

test('the tables of contracts name only our networks and lower-case addresses', () => {
  for (const file of ['aave-v3', 'chainlink', 'morpho-blue', 'vault-factories']) {
    const text = readFileSync(`db/registry/contracts/${file}.json`, 'utf8')
    for (const [found] of text.matchAll(/0x[0-9a-fA-F]+/g)) {
      if (file === 'vault-factories' && found === '0xa9c3') continue
      expect(found).toMatch(/^0x[0-9a-f]{40}$/)
    }
  }
})
