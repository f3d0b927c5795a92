import { LRUCache } from 'lru-cache'
import type { Address } from 'viem'
import type { ChainReader } from '../chain/reader.ts'
import { view } from '../chain/view.ts'
import { erc20Abi } from '../transactions/abis.ts'

export interface RewardToken {
  address: Address
  name: string
  symbol: string
  decimals: number
}

/** Names and decimals of tokens, read once each. */
export function createTokenFinder(reader: ChainReader) {
  const known = new LRUCache<string, RewardToken>({ max: 5_000 })
  return async (network: string, address: Address): Promise<RewardToken> => {
    const key = `${network} ${address}`
    const found = known.get(key)
    if (found) return found
    const { values } = await reader.read(network, {
      name: view(erc20Abi, address, 'name', []),
      symbol: view(erc20Abi, address, 'symbol', []),
      decimals: view(erc20Abi, address, 'decimals', []),
    })
    const symbol = values.symbol ?? address.slice(0, 10)
    const token = { address, symbol, name: values.name ?? symbol, decimals: values.decimals ?? 18 }
    if (values.decimals !== undefined) known.set(key, token)
    return token
  }
}

export type TokenFinder = ReturnType<typeof createTokenFinder>
