import * as book from '@aave-dao/aave-address-book'
import { z } from 'zod'
import { networks } from '../../../db/networks.ts'
import { hex, market, marketsOf, source } from './address-book.ts'

function markets(): unknown {
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
function vaults(): unknown {
  const found = Object.values(networks).flatMap(network => [
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
  return { source: `${source()}, ASSETS.*.{STATA_TOKEN, A_TOKEN} and AaveSafetyModule`, vaults: found }
}

/** Files of db/registry that the published address book says. */
export default { 'contracts/aave-v3': markets, 'facts/aave-vaults': vaults }
