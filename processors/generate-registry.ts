import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import * as book from '@aave-dao/aave-address-book'
import { z } from 'zod'
import { networks } from '../db/networks.ts'

/**
 * Writes contracts/aave-v3.json, contracts/chainlink.json and facts/aave-vaults.json in db/registry from the published
 * Aave address book, which also lists Chainlink's feeds. `npm run registry` after the package was updated.
 */

const hex = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/)
  .transform(s => s.toLowerCase())
const market = z.object({
  CHAIN_ID: z.number(),
  POOL_ADDRESSES_PROVIDER: hex,
  POOL: hex,
  POOL_CONFIGURATOR: hex,
  ORACLE: hex,
  ACL_MANAGER: hex,
  STATA_FACTORY: hex.optional(),
  DEFAULT_INCENTIVES_CONTROLLER: hex.optional(),
  ASSETS: z.record(
    z.string(),
    z.object({ UNDERLYING: hex, A_TOKEN: hex, V_TOKEN: hex, decimals: z.number() }),
  ),
})

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

const lockfile = z.object({ packages: z.record(z.string(), z.object({ version: z.string().optional() })) })

/** The package and its version, as the lockfile pins it. */
function source(): string {
  const path = join(import.meta.dirname, '../package-lock.json')
  const { packages } = lockfile.parse(JSON.parse(readFileSync(path, 'utf8')))
  return `@aave-dao/aave-address-book@${packages['node_modules/@aave-dao/aave-address-book']?.version}`
}

function marketsOf(chainId: number) {
  return Object.entries(book)
    .filter(([name]) => name.startsWith('AaveV3'))
    .flatMap(([name, value]) => {
      const parsed = market.safeParse(value)
      return parsed.success && parsed.data.CHAIN_ID === chainId ? [{ name, ...parsed.data }] : []
    })
}

function feedsOf(chainId: number): Record<string, string> {
  const name = marketsOf(chainId)[0]?.name.replace('AaveV3', 'Chainlink')
  const found = Object.entries(book).find(([key]) => key === name)
  return found ? (z.record(z.string(), z.unknown()).parse(found[1]) as Record<string, string>) : {}
}

export function aave(): unknown {
  const entries = Object.values(networks).flatMap(network => {
    const markets = marketsOf(network.chainId).map(m => ({
      name: m.name,
      addressesProvider: m.POOL_ADDRESSES_PROVIDER,
      pool: m.POOL,
      configurator: m.POOL_CONFIGURATOR,
      oracle: m.ORACLE,
      aclManager: m.ACL_MANAGER,
      ...(m.STATA_FACTORY ? { stataFactory: m.STATA_FACTORY } : {}),
      ...(m.DEFAULT_INCENTIVES_CONTROLLER ? { rewardsController: m.DEFAULT_INCENTIVES_CONTROLLER } : {}),
      reserves: Object.entries(m.ASSETS).map(([symbol, a]) => ({
        symbol,
        asset: a.UNDERLYING,
        aToken: a.A_TOKEN,
        variableDebtToken: a.V_TOKEN,
      })),
    }))
    return markets.length > 0 ? [[network.name, markets] as const] : []
  })
  return { source: source(), networks: Object.fromEntries(entries) }
}

export function chainlink(): unknown {
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

const wrapped = z.object({ STATA_TOKEN: hex.optional(), A_TOKEN: hex })

const entry = (
  network: string,
  address: string,
  of: {
    product: string
    description: string
    tags: string[]
    rewardsSupported: boolean
    redeemStepsType?: 'instant' | 'complex'
  },
) => ({
  network,
  address,
  listed: {
    protocol: 'aave',
    product: of.product,
    version: 'v3',
    description: of.description,
    lendUrl: 'https://app.aave.com/',
    protocolVaultUrl: '',
  },
  tags: of.tags,
  transactional: {
    depositStepsType: 'instant',
    redeemStepsType: of.redeemStepsType ?? 'instant',
    rewardsSupported: of.rewardsSupported,
  },
})

/** Reserves whose aToken is listed, and whose stata token (an ERC-4626 wrap of the supply position). */
const LISTED = new Set(
  'WETH wstETH weETH USDC USDT USDt USDT0 DAI GHO EURC EURe cbBTC WBTC BTCB BTCb USDe USDS USDG WBNB WPOL WAVAX CELO'.split(
    ' ',
  ),
)

/** Stakes of the safety module, by what they hold. */
const STAKES = {
  STK_AAVE: 'AAVE',
  STK_GHO: 'GHO',
  STK_AAVE_WSTETH_BPTV2: "Balancer's pool of AAVE and wstETH",
} as const

function stakes(network: { name: string; chainId: number }) {
  const { AaveSafetyModule } = book
  if (AaveSafetyModule.CHAIN_ID !== network.chainId) return []
  return Object.entries(STAKES).map(([name, held]) =>
    entry(network.name, AaveSafetyModule[name as keyof typeof STAKES].toLowerCase(), {
      product: 'safety-module',
      description: `A stake of ${held} that answers for shortfalls of Aave, redeemed after a cooldown.`,
      tags: ['staking'],
      rewardsSupported: true,
      redeemStepsType: 'complex',
    }),
  )
}

/** Facts of Aave's own vaults, as facts-file.ts reads them. */
export function aaveVaults(): unknown {
  const vaults = Object.values(networks).flatMap(network => [
    ...stakes(network),
    ...Object.entries(book)
      .filter(([name]) => name.startsWith('AaveV3'))
      .flatMap(([, value]) => {
        const parsed = market.safeParse(value)
        if (!parsed.success || parsed.data.CHAIN_ID !== network.chainId) return []
        return Object.entries((value as { ASSETS: Record<string, unknown> }).ASSETS).flatMap(
          ([symbol, asset]) => {
            if (!LISTED.has(symbol)) return []
            const { STATA_TOKEN: stata, A_TOKEN: aToken } = wrapped.parse(asset)
            return [
              ...(stata
                ? [
                    entry(network.name, stata, {
                      product: 'stata',
                      description: `A supply position of ${symbol} in Aave v3, as shares that grow in value.`,
                      tags: ['lending', 'wrapper'],
                      rewardsSupported: false,
                    }),
                  ]
                : []),
              entry(network.name, aToken, {
                product: 'supply',
                description: `A supply position of ${symbol} in Aave v3, as a token whose balance grows.`,
                tags: ['lending'],
                rewardsSupported: true,
              }),
            ]
          },
        )
      }),
  ])
  return { source: `${source()}, ASSETS.*.{STATA_TOKEN, A_TOKEN} and AaveSafetyModule`, vaults }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  for (const [file, content] of [
    ['contracts/aave-v3', aave()],
    ['contracts/chainlink', chainlink()],
    ['facts/aave-vaults', aaveVaults()],
  ] as const) {
    writeFileSync(
      join(import.meta.dirname, '../db/registry', `${file}.json`),
      `${JSON.stringify(content, null, 1)}\n`,
    )
  }
}
