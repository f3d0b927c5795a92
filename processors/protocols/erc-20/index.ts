import { functions as token } from '../../../abi/erc4626/Vault.ts'
import { encodeCall, smallUint } from '../../../abi/words.ts'
import type { DomainEvent } from '../../../db/events/vocabulary.ts'
import { defineProtocol, type StateRead } from '../../protocol.ts'
import { answered, asSymbol, asText } from '../../samples/answers.ts'

/** Assets that events of markets and of vaults of liquidity name. */
function assetsOf(event: DomainEvent): (string | undefined)[] {
  switch (event.type) {
    case 'MarketCreated':
      return [event.data.loanAsset, event.data.collateralAsset]
    case 'ReserveListed':
    case 'CometAssetConfigured':
    case 'FixedTermMarketDescribed':
      return [event.data.asset]
    case 'AmmVaultDescribed':
      return [event.data.token0, event.data.token1]
    case 'CometConfigured':
      return [event.data.baseAsset]
    default:
      return []
  }
}

/** Name, symbol and decimals of a token. One that does not say its decimals is not described. */
function describeAsset(asset: string): StateRead {
  return {
    key: `asset ${asset}`,
    isConstant: true,
    calls: [token.decimals, token.symbol, token.name].map(fn => ({ to: asset, data: encodeCall(fn) })),
    events: ([decimalsAnswer, symbol, name]) => {
      const decimals = answered(decimalsAnswer, hex => smallUint(hex, 2, 8))
      if (decimals === undefined) return []
      const data = { asset, name: asText(name), symbol: asSymbol(symbol), decimals }
      return [{ type: 'AssetDescribed', contract: asset, data }]
    },
  }
}

/** Tokens that lending and fixed-term markets and vaults of liquidity take, described once, for those that are no vault's asset. */
export default defineProtocol({
  name: 'erc-20',
  sources: [],
  remembers: ['AssetDescribed'],
  wants: event => {
    const assets = assetsOf(event).filter(asset => asset !== undefined)
    if (assets.length === 0) return undefined
    return {
      lessons: assets.map(asset => ({ ...describeAsset(asset), unless: `AssetDescribed ${asset}` })),
    }
  },
})
