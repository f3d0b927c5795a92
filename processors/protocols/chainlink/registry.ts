import * as book from '@aave-dao/aave-address-book'
import { z } from 'zod'
import { networks } from '../../../db/networks.ts'
import { hex, marketsOf, source } from '../aave-v3/address-book.ts'

/** Feeds of these quantities in USD; all answer with 8 decimals (checked on chain when a processor starts). */
const QUOTED_IN_USD = [
  'AAVE',
  'AVAX',
  'BNB',
  'BTC',
  'CELO',
  'DAI',
  'ETH',
  'EUR',
  'EURC',
  'FDUSD',
  'FRAX',
  'GBP',
  'GHO',
  'LINK',
  'LUSD',
  'MATIC',
  'POL',
  'PYUSD',
  'RLUSD',
  'SOL',
  'USDC',
  'USDS',
  'USDT',
  'USDe',
  'CRVUSD',
  'WBTC',
  'XAU',
] as const

/** Symbols of the address book, by the feed that prices them; a bridged or wrapped token stands at its original's price. */
const PRICED_BY: Record<string, string> = {
  WETH: 'ETH',
  WETHe: 'ETH',
  ETH: 'ETH',
  WBTC: 'BTC',
  WBTCe: 'BTC',
  BTCB: 'BTC',
  BTCb: 'BTC',
  cbBTC: 'BTC',
  tBTC: 'BTC',
  USDC: 'USDC',
  USDCn: 'USDC',
  USDCe: 'USDC',
  USDbC: 'USDC',
  USDT: 'USDT',
  USDt: 'USDT',
  USDT0: 'USDT',
  DAI: 'DAI',
  DAIe: 'DAI',
  WXDAI: 'DAI',
  EURC: 'EURC',
  EURS: 'EUR',
  EURe: 'EUR',
  EURA: 'EUR',
  jEUR: 'EUR',
  EURm: 'EUR',
  LINK: 'LINK',
  LINKe: 'LINK',
  AAVE: 'AAVE',
  AAVEe: 'AAVE',
  GHO: 'GHO',
  USDS: 'USDS',
  USDe: 'USDe',
  PYUSD: 'PYUSD',
  RLUSD: 'RLUSD',
  LUSD: 'LUSD',
  FRAX: 'FRAX',
  FDUSD: 'FDUSD',
  crvUSD: 'CRVUSD',
  WAVAX: 'AVAX',
  WBNB: 'BNB',
  WPOL: 'POL',
  CELO: 'CELO',
}
/** The feed of a network's native asset where it is not named like the asset. */
const NATIVE_FEED: Record<string, string> = { XDAI: 'DAI' }
/** A closer feed of a symbol, and the one to take where a network has not got it. */
const PREFERRED: Record<string, string> = { WBTC: 'WBTC', WBTCe: 'WBTC' }
const FALLBACK: Record<string, string> = { POL: 'MATIC' }

function feedsOf(chainId: number): Record<string, string> {
  const name = marketsOf(chainId)[0]?.name.replace('AaveV3', 'Chainlink')
  const found = Object.entries(book).find(([key]) => key === name)
  return found ? (z.record(z.string(), z.unknown()).parse(found[1]) as Record<string, string>) : {}
}

function feeds(): unknown {
  const entries = Object.values(networks).flatMap(network => {
    const listed = feedsOf(network.chainId)
    const tokens = marketsOf(network.chainId).flatMap(m => Object.entries(m.ASSETS))
    const listedBase = (base: string) => (`${base}__USD` in listed ? base : FALLBACK[base])
    const feedOf = (symbol: string) => {
      const preferred = PREFERRED[symbol]
      if (preferred && `${preferred}__USD` in listed) return preferred
      return listedBase(PRICED_BY[symbol] ?? '')
    }
    const nativeFeed = listedBase(NATIVE_FEED[network.native.symbol] ?? network.native.symbol)
    const feeds = QUOTED_IN_USD.flatMap(base => {
      const proxy = hex.safeParse(listed[`${base}__USD`])
      // Of Solana, which has none of these feeds: one is enough.
      if (!proxy.success || (base === 'SOL' && network.name !== 'mainnet')) return []
      const assets = tokens.filter(([symbol]) => feedOf(symbol) === base).map(([, a]) => a.UNDERLYING)
      const native = nativeFeed === base
      return [
        { base, quote: 'USD', proxy: proxy.data, decimals: 8, native, assets: [...new Set(assets)].sort() },
      ]
    })
    return feeds.length > 0 ? [[network.name, feeds] as const] : []
  })
  return { source: source(), networks: Object.fromEntries(entries) }
}

/** Feeds that the published Aave address book lists. */
export default { 'contracts/chainlink': feeds }
