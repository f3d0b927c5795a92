import type { Tool } from './tool.ts'

/** Filters of lists that an agent can do without: each is a hundred bytes in the context of everybody who lists the tools. */
const RARE = [
  'disallowedNetworks',
  'disallowedAssets',
  'disallowedProtocols',
  'disallowedCollateralAssets',
  'disallowedBorrowAssets',
  'disallowedAssetMints',
  'allowedAssetMints',
  'onlyAppFeatured',
  'allowCorrupted',
  'sortDirection',
  'minLiquidity',
  'minExpiry',
  'maxExpiry',
  'assetSymbol',
]
/** By what vaults are chosen, rather than what is held of them. */
const OF_THE_VAULT = [
  'minTvl',
  'maxTvl',
  'minApy',
  'maxApy',
  'minVaultScore',
  'tags',
  'curators',
  'onlyTransactional',
]

/**
 * The tools, in the order in which agents see them. An entry is all that a tool takes. None signs or sends anything: an endpoint that
 * does either is not to be named here, and a test holds it.
 */
export const tools: readonly Tool[] = [
  {
    name: 'find_vaults',
    description:
      'Search DeFi vaults: APY, TVL, share price, score, fees, flags. sortOrder=desc for the largest first. kind=fixedTerm are principal tokens with a fixed rate, kind=liquidity vaults of two tokens in a pool.',
    asks: {
      argument: 'kind',
      of: {
        vaults: 'GET /v2/detailed-vaults',
        fixedTerm: 'GET /beta/fixed-term',
        liquidity: 'GET /beta/amm/deep/detailed-vaults',
        solana: 'GET /beta/svm/detailed-vaults',
      },
    },
    without: RARE,
  },
  {
    name: 'get_vault',
    description:
      'Everything known of one vault now, with what is uncertain or dangerous about it (flags, warnings).',
    asks: {
      argument: 'kind',
      of: {
        vaults: 'GET /v2/detailed-vaults/{network}/{vaultId}',
        fixedTerm: 'GET /beta/fixed-term/detailed/{network}/{vaultId}',
        solana: 'GET /beta/svm/detailed-vaults/{vaultAddress}',
      },
    },
  },
  {
    name: 'get_vault_history',
    description: 'How APY, TVL and share price of a vault went, by hour, day or week.',
    asks: {
      argument: 'figure',
      of: {
        all: 'GET /v2/historical/{network}/{vaultId}',
        apy: 'GET /v2/historical/{network}/{vaultId}/apy',
        tvl: 'GET /v2/historical/{network}/{vaultId}/tvl',
        sharePrice: 'GET /v2/historical/{network}/{vaultId}/sharePrice',
      },
    },
  },
  {
    name: 'get_vault_flows',
    description: 'What was deposited into and redeemed from a vault, day by day.',
    asks: 'GET /alpha/historical/{network}/{vaultId}/daily-flows',
  },
  {
    name: 'get_vault_holders',
    description: 'Who holds the shares of a vault, largest first: how concentrated it is.',
    asks: 'GET /alpha/{network}/{vaultId}/holders',
  },
  {
    name: 'analyze_vault',
    description:
      'Risk figures of a vault: largest fall of its share price, what it has lent or put where, share of time paused, utilization. Name those wanted in select; each costs credits.',
    asks: 'POST /beta/advanced-analytics/{network}/{vaultId}',
  },
  {
    name: 'read_vault_on_chain',
    description:
      'Share price, total assets and supply of a vault read from its contract at this moment, where the newest indexed block is not new enough.',
    asks: 'GET /v2/nrt/vault/{network}/{vaultId}',
  },
  {
    name: 'get_benchmark',
    description:
      'What the largest USD or ETH vaults of a network earn, now or day by day: the yardstick for an APY.',
    asks: {
      argument: 'when',
      of: { now: 'GET /v2/benchmarks/{network}', history: 'GET /v2/historical-benchmarks/{network}' },
    },
  },
  {
    name: 'list_names',
    description: 'Networks, assets, protocols, curators or tags that filters of other tools take.',
    asks: {
      argument: 'of',
      of: {
        networks: 'GET /v2/networks',
        assets: 'GET /v2/assets',
        protocols: 'GET /v2/protocols',
        curators: 'GET /v2/curators',
        tags: 'GET /v2/tags',
      },
    },
  },
  {
    name: 'get_asset_price_history',
    description: 'The USD price of a token over time, as its curated feed said.',
    asks: 'GET /v2/historical/asset-prices/{network}/{assetAddress}',
  },
  {
    name: 'get_positions',
    description:
      'What a wallet holds in vaults now, or supplied to and owes lending markets, with USD values, APY or health factor.',
    asks: {
      argument: 'kind',
      of: {
        vaults: 'GET /v2/portfolio/positions/{userAddress}',
        lending: 'GET /beta/borrow/portfolio/positions/{userAddress}',
        solana: 'GET /beta/svm/portfolio/positions/{userAddress}',
      },
    },
    without: [...RARE, ...OF_THE_VAULT],
  },
  {
    name: 'get_vault_position',
    description:
      'A wallet in one vault: what it holds, what it earned in all its life or between two moments, or every deposit and withdrawal.',
    asks: {
      argument: 'figure',
      of: {
        holding: 'GET /v2/portfolio/positions/{userAddress}/{network}/{vaultId}',
        totalReturns: 'GET /v2/portfolio/total-returns/{userAddress}/{network}/{vaultId}',
        returnsBetween: 'GET /beta/portfolio/partial-returns/{userAddress}/{network}/{vaultId}',
        events: 'GET /v2/portfolio/events/{userAddress}/{network}/{vaultId}',
        liquidity: 'GET /beta/amm/deep/positions/{userAddress}/{network}/{vaultId}',
      },
    },
  },
  {
    name: 'get_balances_at',
    description:
      'What a wallet held in vaults at any moment of the past: exact balances with the prices and APY of then.',
    asks: 'GET /alpha/historical-balances/{userAddress}/{timestamp}',
    without: [...RARE, ...OF_THE_VAULT],
  },
  {
    name: 'get_idle_assets',
    description: 'Tokens that a wallet holds uninvested although vaults take them.',
    asks: {
      argument: 'kind',
      of: {
        evm: 'GET /v2/portfolio/idle-assets/{userAddress}',
        solana: 'GET /beta/svm/portfolio/idle-assets/{userAddress}',
      },
    },
    without: [...RARE, 'sortBy', 'sortOrder'],
  },
  {
    name: 'get_deposit_options',
    description:
      'For what a wallet holds idle: the best vaults for each token, or the one deposit that would earn most.',
    asks: {
      argument: 'which',
      of: {
        options: 'GET /v2/portfolio/best-deposit-options/{userAddress}',
        best: 'GET /v2/portfolio/best-vault/{userAddress}',
      },
    },
    without: [...RARE, 'maxTvl', 'maxApy', 'tags', 'curators'],
  },
  {
    name: 'get_lending_markets',
    description:
      'Lending markets with rates, totals, utilization and liquidation thresholds: all, or one of them.',
    asks: {
      argument: 'which',
      of: { all: 'GET /beta/borrow/markets', one: 'GET /beta/borrow/markets/{network}/{marketId}' },
    },
    without: RARE,
  },
  {
    name: 'get_lending_history',
    description: 'Rates and totals of an asset of a lending market over time.',
    asks: 'GET /beta/borrow/markets/historical/{network}/{marketId}/{assetId}',
  },
  {
    name: 'get_transaction_options',
    description:
      'How a wallet stands with a vault or market and which actions it can take, or which rewards it can claim. Ask before prepare_transaction.',
    asks: {
      argument: 'kind',
      of: {
        vault: 'GET /v2/transactions/context/{userAddress}/{network}/{vaultId}',
        rewards: 'GET /v2/transactions/rewards/context/{userAddress}',
        lending: 'GET /beta/borrow/markets/transactions/context/{userAddress}/{network}/{marketId}/{assetId}',
        fixedTerm: 'GET /beta/fixed-term/context/{userAddress}/{network}/{vaultId}',
        solana: 'GET /beta/svm/transactions/context/{userAddress}/{vaultAddress}',
      },
    },
  },
  {
    name: 'prepare_transaction',
    description:
      'Unsigned calldata of an action, tried out before it is handed over. Nothing is signed or sent: the user reads it and signs it in their own wallet.',
    asks: {
      argument: 'kind',
      of: {
        vault: 'GET /v2/transactions/{action}/{userAddress}/{network}/{vaultId}',
        rewards: 'GET /v2/transactions/rewards/claim/{userAddress}',
        lending:
          'GET /beta/borrow/markets/transactions/{action}/{userAddress}/{network}/{marketId}/{assetId}',
        fixedTerm: 'GET /beta/fixed-term/transactions/{action}/{userAddress}/{network}/{vaultId}',
        liquidityDeposit: 'GET /beta/amm/deep/deposit/{userAddress}/{network}/{vaultId}',
        liquidityWithdraw: 'GET /beta/amm/deep/withdraw/{userAddress}/{network}/{vaultId}',
        solana: 'GET /beta/svm/transactions/{action}/{userAddress}/{vaultAddress}',
      },
    },
  },
  {
    name: 'bridge_usdc',
    description:
      'USDC from one chain to another by Circle’s CCTP: what a wallet can do, unsigned calldata, how far a transfer is, what is under way.',
    asks: {
      argument: 'step',
      of: {
        options:
          'GET /alpha/transactions/cctp/context/{userAddress}/{srcNetwork}/{dstNetwork}/{assetAddress}',
        prepare: 'GET /alpha/transactions/cctp/transactions/{action}/{userAddress}/{srcNetwork}/{dstNetwork}',
        status: 'GET /alpha/transactions/cctp/status',
        inTransit: 'GET /alpha/transactions/cctp/money-in-transit/{userAddress}',
      },
    },
  },
]
