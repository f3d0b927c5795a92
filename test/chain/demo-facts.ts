import type { Fact } from '../../db/registry/fact.ts'
import { COIN_ADDRESS } from '../../db/registry/feeds.ts'
import type { Guests } from './guests.ts'
import type { Scenario } from './scenario.ts'

/** What .vaultlog/demo.json holds: all that tests, benches and people's scripts need of a running demo. */
export interface DemoFile {
  baseUrl: string
  apiKey: string
  adminKey: string
  network: string
  vaults: { vaultId: string; asset: string; kind: string }[]
  /** Honest and on no list: shown to who asks for them. */
  unlisted: { vaultId: string; asset: string; kind: string }[]
  /** Contracts that are not what they say, and what each does. */
  strangers: { address: string; what: string }[]
  users: string[]
  markets: { marketId: string; assetIds: string[] }[]
  /** Markets of Pendle; the first has ended. */
  fixedTerm: string[]
  /** Vaults of liquidity. */
  amm: string[]
  /** Of Solana; the node is of the demo's own. */
  svm: { vaults: string[]; users: string[]; rpcUrl: string }
  /** USDC on its way to Base: one transfer was claimed, one waits for it. The node stands in for Base. */
  bridge: { user: string; usdc: string; claimed: string; waiting: string; rpcUrl: string }
  rpcUrl: string
  databaseUrl: string
  clickhouseUrl: string
}

const DAY = 86_400

/** What a list of curated vaults says of these, besides what every one of them has. */
const curated: Record<string, Record<string, Fact['value']>> = {
  dvUSDC: { featured: true, tags: ['stablecoins', 'blue chip'], curator: 'northlight' },
  dvUSDT: { tags: ['stablecoins'], curator: 'northlight' },
  dvWETH: {
    tags: ['ether'],
    curator: 'harbour',
    flags: [
      {
        content: 'Lost 12 % of its assets in one day.',
        severity: 'critical',
        resolution: 'Made good out of the yield of the weeks after.',
      },
    ],
  },
  dvWBTC: { tags: ['bitcoin'], curator: 'harbour' },
  dsDAI: { featured: true, tags: ['stablecoins', 'savings'], incentives: 'One point for every DAI and day.' },
  dvdvUSDT: { tags: ['stablecoins', 'nested'] },
  bvUSDC: { flags: [{ content: 'Closed: everybody has redeemed.', severity: 'info' }] },
  davUSDC: {
    tags: ['stablecoins', 'asynchronous'],
    curator: 'northlight',
    transactional: { depositStepsType: 'complex', redeemStepsType: 'complex', rewardsSupported: false },
  },
}

const instant = { depositStepsType: 'instant', redeemStepsType: 'instant', rewardsSupported: false }
const noFees = { performanceFee: 0, managementFee: 0, depositFee: 0, withdrawalFee: 0 }

/**
 * Curated facts of the demo chain: its vaults but two (one that a known factory made, one that nobody lists), the people
 * behind them, which feed prices which asset, and a stream of rewards.
 */
export function demoFacts(scenario: Scenario, guests: Guests): Fact[] {
  const facts: Fact[] = scenario.feeds.map(({ asset, proxy, decimals }) => ({
    subject: `asset:1:${asset.address}`,
    kind: 'feed',
    value: { feed: proxy, decimals },
  }))
  for (const { asset } of scenario.feeds) {
    const logo = `https://demo.example/logos/${asset.symbol.toLowerCase()}.svg`
    facts.push({ subject: `asset:1:${asset.address}`, kind: 'logo', value: logo })
  }
  const ether = scenario.feeds.find(({ asset }) => asset.symbol === 'WETH')
  if (ether)
    facts.push({
      subject: `asset:1:${COIN_ADDRESS}`,
      kind: 'feed',
      value: { feed: ether.proxy, decimals: ether.decimals },
    })
  for (const { id } of scenario.morpho.markets)
    facts.push({ subject: `market:1:${id}`, kind: 'listed', value: {} })
  facts.push({ subject: `asset:1:${guests.reward.address}`, kind: 'peg', value: { usd: '0.5' } })
  for (const [name, profile] of Object.entries(profiles)) {
    facts.push({ subject: name, kind: 'profile', value: profile })
  }
  for (const vault of [...scenario.vaults, guests.asynchronous]) {
    const subject = `vault:1:${vault.address}`
    const listed = {
      protocol: 'demo',
      product: vault.kind === 'self-ledger' ? 'savings' : 'vaults',
      version: '1',
      description: `${vault.name}: takes ${vault.asset.symbol}, on the chain of the demo.`,
      lendUrl: `https://demo.example/vaults/${vault.symbol}`,
      protocolVaultUrl: `https://demo.example/vaults/${vault.symbol}/about`,
    }
    const values = { listed, fees: noFees, transactional: instant, ...curated[vault.symbol] }
    for (const [kind, value] of Object.entries(values)) facts.push({ subject, kind, value })
  }
  const rewarded = scenario.vaults.find(({ symbol }) => symbol === 'dvUSDC')
  const stream = {
    asset: guests.reward,
    amount: (4_000n * 10n ** 18n).toString(),
    startDate: scenario.end - 30 * DAY,
    endDate: scenario.end + 30 * DAY,
    distributor: 'merkl',
  }
  const { address, name, symbol, decimals } = stream.asset
  const value = [{ ...stream, asset: { address, name, symbol, decimals } }]
  if (rewarded) facts.push({ subject: `vault:1:${rewarded.address}`, kind: 'rewards', value })
  return facts
}

const profiles = {
  'protocol:demo': {
    displayName: 'Demo Finance',
    protocolId: 'demo',
    protocolUrl: 'https://demo.example',
    protocolLogo: 'https://demo.example/logo.svg',
    description: 'Vaults of the demo chain.',
  },
  'protocol:morpho': {
    displayName: 'Morpho',
    protocolId: 'morpho',
    protocolUrl: 'https://morpho.org',
    protocolLogo: 'https://demo.example/logos/morpho.svg',
    description: 'Isolated lending markets and the curated vaults that supply them.',
  },
  'curator:northlight': {
    displayName: 'Northlight Research',
    description: 'Curates the dollar vaults of the demo.',
    websiteUrl: 'https://northlight.example',
  },
  'curator:harbour': {
    displayName: 'Harbour Desk',
    description: 'Curates the ether and bitcoin vaults of the demo.',
    websiteUrl: 'https://harbour.example',
  },
}

/** What Merkl's service would say of the demo's users, by path. */
export function rewardAnswers({ reward, rewards }: Guests): [string, unknown][] {
  const { address, symbol, name, decimals } = reward
  return rewards.map(({ user, amount, proof }) => [
    `/v4/users/${user}/rewards`,
    [
      {
        chain: { id: 1 },
        rewards: [
          { amount: String(amount), proofs: proof, token: { address, symbol, name, decimals, price: 0.5 } },
        ],
      },
    ],
  ])
}

/** Requests worth trying, as they can be pasted into a shell. */
export function exampleRequests(file: DemoFile, scenario: Scenario): { what: string; curl: string }[] {
  const vault = scenario.vaults[0]?.address
  const user = scenario.users[0]
  const day = (timestamp: number) => new Date(timestamp * 1000).toISOString().slice(0, 10)
  const get = (path: string) => `curl -s -H 'x-api-key: ${file.apiKey}' '${file.baseUrl}${path}'`
  const month = scenario.end - 30 * 86_400
  return [
    { what: 'every vault, largest first', curl: get('/v2/detailed-vaults?sortBy=tvl&sortOrder=desc') },
    {
      what: 'those for which nobody vouches, too: an honest one, and strangers that are not what they say',
      curl: get('/v2/detailed-vaults?sortBy=tvl&sortOrder=desc&allowUnlisted=true&allowCorrupted=true'),
    },
    { what: 'one vault', curl: get(`/v2/detailed-vaults/mainnet/${vault}`) },
    {
      what: 'its daily APY, TVL and share price',
      curl: get(`/v2/historical/mainnet/${vault}?granularity=1day`),
    },
    {
      what: 'its deposits and redemptions of the last days',
      curl: get(
        `/alpha/historical/mainnet/${vault}/daily-flows?fromDate=${day(month)}&toDate=${day(scenario.end)}`,
      ),
    },
    {
      what: 'the vaults of one curator that have a tag',
      curl: get('/v2/detailed-vaults?curators=northlight&tags=stablecoins'),
    },
    { what: 'fixed-term markets that run', curl: get('/beta/fixed-term') },
    {
      what: 'one that has ended, whose principal tokens are redeemed',
      curl: get(`/beta/fixed-term/detailed/mainnet/${file.fixedTerm[0]}`),
    },
    { what: 'vaults of liquidity', curl: get('/beta/amm/deep/detailed-vaults') },
    { what: 'stake pools and lending vaults on Solana', curl: get('/beta/svm/detailed-vaults') },
    {
      what: 'what a wallet did there',
      curl: get(`/beta/svm/portfolio/events/${file.svm.users[0]}`),
    },
    {
      what: 'USDC that is on its way to Base, with what claims it',
      curl: get(`/alpha/transactions/cctp/money-in-transit/${file.bridge.user}`),
    },
    {
      what: 'a transaction that bridges 5 more, ready to be signed',
      curl: get(
        `/alpha/transactions/cctp/transactions/bridge/${file.bridge.user}/mainnet/base?assetAddress=${file.bridge.usdc}&amount=5000000`,
      ),
    },
    { what: 'rewards that a wallet can claim', curl: get(`/v2/transactions/rewards/context/${user}`) },
    { what: 'who holds it', curl: get(`/alpha/mainnet/${vault}/holders?perPage=5`) },
    {
      what: 'what a wallet held a month ago, to the last unit',
      curl: get(`/alpha/historical-balances/${user}/${month}`),
    },
    { what: 'which vaults that wallet ever held', curl: get(`/alpha/historical-positions/${user}`) },
    {
      what: 'how deep the share price ever fell',
      curl: `curl -s -X POST -H 'x-api-key: ${file.apiKey}' -H 'content-type: application/json' -d '{"select":{"maxDrawdown":true}}' '${file.baseUrl}/beta/advanced-analytics/mainnet/${vault}'`,
    },
  ]
}
