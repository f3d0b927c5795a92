// Lending markets: what is lent and owed, at which rates, and how one asset of one market went.
import { ask, askReach } from './api.js'
import { chart } from './chart.js'
import { h, later, link, named, section, table } from './dom.js'
import { amount, percent, usd } from './format.js'

const PER_PAGE = 50
const DAYS = 90
const DAY = 86_400

/** @type {import('./main.js').View} */
export async function showMarkets({ query, signal }) {
  const page = Number(query.get('page') ?? 0)
  const answer = await ask('beta/borrow/markets/', { page, perPage: PER_PAGE }, { signal })
  const rows = answer.data.flatMap((/** @type {any} */ market) =>
    market.assetsData.map((/** @type {any} */ one) => [
      link(`#/market/${market.network.name}/${market.marketId}`, named(market.name)),
      market.network.name,
      one.asset.symbol,
      usd(one.totalSupplied.usd),
      usd(one.totalBorrowed.usd),
      percent(one.supplyRate),
      one.assetConfig.isBorrowEnabled ? percent(one.borrowRate) : 'not lent',
      percent(one.utilizationRate),
    ]),
  )
  return {
    title: 'Markets',
    content: [
      h('h1', {}, 'Lending markets'),
      table(
        ['Market', 'Network', 'Asset', 'Supplied', 'Borrowed', 'Supply rate', 'Borrow rate', 'Utilization'],
        rows,
        {
          caption: 'Lending markets',
          numbers: [3, 4, 5, 6, 7],
          empty: 'No market is listed here.',
        },
      ),
      h(
        'p.pager',
        {},
        page > 0 ? link(`#/markets?page=${page - 1}`, '← before') : '',
        answer.nextPage === null ? '' : link(`#/markets?page=${answer.nextPage}`, 'after →'),
      ),
    ],
  }
}

/** @type {import('./main.js').View} */
export async function showMarket({ path: [network = '', marketId = ''], query, signal }) {
  const [market, reach] = await Promise.all([
    ask(`beta/borrow/markets/${network}/${marketId}`, {}, { signal }),
    askReach(),
  ])
  const now =
    reach.find(one => one.network === market.network.name)?.blockTime ?? Math.floor(Date.now() / 1000)
  const at = `${market.network.name}/${market.marketId}`
  const chosen =
    market.assetsData.find((/** @type {any} */ one) => one.marketAssetId === query.get('asset')) ??
    market.assetsData[0]
  return {
    title: market.name,
    content: [
      h('h1', {}, named(market.name)),
      h(
        'p.quiet',
        {},
        `${market.protocol.displayName ?? market.protocol.name} ${market.protocol.version ?? ''} on ${market.network.name}`,
      ),
      market.standing === 'found'
        ? h('p.warning', {}, 'Nobody vouches for this market: what its contracts say is a claim.')
        : '',
      table(
        [
          'Asset',
          'Supplied',
          'Borrowed',
          'To be had',
          'Supply rate',
          'Borrow rate',
          'Utilization',
          'LTV at most',
          'Liquidated at',
        ],
        market.assetsData.map((/** @type {any} */ one) => [
          link(`#/market/${at}?asset=${encodeURIComponent(one.marketAssetId)}`, named(one.asset.symbol)),
          held(one.totalSupplied, one.asset),
          held(one.totalBorrowed, one.asset),
          held(one.availableLiquidity, one.asset),
          percent(one.supplyRate),
          one.assetConfig.isBorrowEnabled ? percent(one.borrowRate) : 'not lent',
          percent(one.utilizationRate),
          percent(one.defaultRiskParameters?.maxLtv),
          percent(one.defaultRiskParameters?.liquidationThreshold),
        ]),
        { caption: 'Assets of the market', numbers: [1, 2, 3, 4, 5, 6, 7, 8] },
      ),
      chosen
        ? section(
            `${chosen.asset.symbol} over ${DAYS} days`,
            later(() => history(at, chosen, now, signal)),
          )
        : '',
    ].map(part => (part instanceof Node ? part : document.createTextNode(part))),
  }
}

/** @param {{ native: string, usd: string }} sum @param {any} asset */
const held = (sum, asset) => h('span', { title: usd(sum.usd) }, amount(sum.native, asset.decimals))

/** @param {string} at @param {any} asset @param {number} now @param {AbortSignal} signal */
async function history(at, asset, now, signal) {
  const { data } = await ask(
    `beta/borrow/markets/historical/${at}/${asset.marketAssetId}`,
    { granularity: '1day', fromTimestamp: now - DAYS * DAY, toTimestamp: now, perPage: 1000 },
    { signal },
  )
  const times = data.map((/** @type {any} */ point) => point.timestamp)
  const of = (/** @type {string} */ name) => data.map((/** @type {any} */ point) => point[name] ?? null)
  const inDollars = (/** @type {string} */ name) =>
    data.map((/** @type {any} */ point) => (point[name]?.usd === undefined ? null : Number(point[name].usd)))
  return [
    h('h3', {}, 'Rates'),
    await chart({
      title: 'Rates',
      times,
      format: percent,
      series: [
        { label: 'borrow', values: of('borrowRate') },
        { label: 'supply', values: of('supplyRate'), color: 'other' },
        { label: 'utilization', values: of('utilizationRate'), color: 'third' },
      ],
    }),
    h('h3', {}, 'Supplied and borrowed'),
    await chart({
      title: 'Supplied and borrowed',
      times,
      format: usd,
      series: [
        { label: 'supplied', values: inDollars('totalSupplied') },
        { label: 'borrowed', values: inDollars('totalBorrowed'), color: 'other' },
      ],
    }),
  ]
}
