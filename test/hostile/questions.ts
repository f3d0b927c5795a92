import type { Address } from 'viem'
import type { Scenario } from '../chain/scenario.ts'

const SORTS = ['tvl', 'apy1day', 'apy7day', 'apy30day'] as const

/** What anybody may ask of an installation whose honest part is this scenario: lists, sums, scores, advice, wallets, markets. */
export function questionsOf(scenario: Scenario): string[] {
  const { users, vaults, morpho, start, end } = scenario
  const wallets = [0, 1, 2, 5].flatMap(n => users[n] ?? [])
  const day = (timestamp: number) => new Date(timestamp * 1000).toISOString().slice(0, 10)
  const range = `fromTimestamp=${start}&toTimestamp=${end}`
  return [
    '/v2/vaults?perPage=200',
    ...SORTS.flatMap(sort => [
      `/v2/detailed-vaults?perPage=200&sortBy=${sort}&sortOrder=desc`,
      `/v2/detailed-vaults?perPage=3&sortBy=${sort}&sortOrder=asc`,
    ]),
    '/v2/detailed-vaults?perPage=200&minTvl=1000&allowedAssets=USDC',
    '/v2/detailed-vaults?perPage=200&allowCorrupted=true',
    ...['assets', 'tags', 'curators', 'protocols', 'networks'].map(list => `/v2/${list}`),
    '/v2/benchmarks/mainnet?code=usd',
    '/v2/benchmarks/mainnet?code=eth',
    ...vaults.flatMap(({ address }) => [
      `/v2/detailed-vaults/mainnet/${address}`,
      `/v2/historical/mainnet/${address}?granularity=1hour&perPage=2000&${range}`,
      `/alpha/mainnet/${address}/holders?perPage=100`,
      `/alpha/historical/mainnet/${address}/daily-flows?fromDate=${day(start)}&toDate=${day(end)}`,
    ]),
    ...wallets.flatMap(wallet => [
      `/v2/portfolio/positions/${wallet}`,
      `/v2/portfolio/idle-assets/${wallet}`,
      `/v2/portfolio/best-vault/${wallet}`,
      `/v2/portfolio/best-deposit-options/${wallet}`,
      `/alpha/historical-balances/${wallet}/${end - 2 * 86_400}`,
      `/alpha/historical-positions/${wallet}`,
      `/beta/borrow/portfolio/positions/${wallet}`,
      ...vaults
        .slice(0, 2)
        .flatMap(({ address }) => [
          `/v2/portfolio/positions/${wallet}/mainnet/${address}`,
          `/v2/portfolio/total-returns/${wallet}/mainnet/${address}`,
          `/v2/portfolio/events/${wallet}/mainnet/${address}`,
          `/v2/transactions/context/${wallet}/mainnet/${address}`,
        ]),
    ]),
    ...morpho.markets.map(({ id }) => `/beta/borrow/markets/mainnet/${id}`),
    '/beta/borrow/markets?perPage=200',
    '/beta/borrow/markets?perPage=2&page=1',
    '/beta/borrow/markets/mainnet?perPage=200&allowedBorrowAssets=USDC',
    '/beta/borrow/markets/mainnet?perPage=200&allowedCollateralAssets=WETH&minTvl=1',
  ]
}

/** What is asked of strangers: any answer will do but an error of ours. */
export function questionsAbout(strangers: readonly Address[], wallet: Address): string[] {
  return [
    '/v2/detailed-vaults?perPage=500&sortBy=tvl&sortOrder=desc&allowUnlisted=true&allowCorrupted=true',
    '/v2/vaults?perPage=500&allowUnlisted=true&allowCorrupted=true',
    '/beta/borrow/markets?perPage=500&allowUnlisted=true',
    `/v2/portfolio/positions/${wallet}?allowUnlisted=true&allowCorrupted=true`,
    ...strangers.flatMap(address => [
      `/v2/detailed-vaults/mainnet/${address}`,
      `/alpha/mainnet/${address}/holders?perPage=100`,
      `/v2/transactions/context/${wallet}/mainnet/${address}`,
      `/v2/transactions/deposit/${wallet}/mainnet/${address}?amount=1000000&simulate=true`,
    ]),
  ]
}
