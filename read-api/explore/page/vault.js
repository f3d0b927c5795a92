// One vault: what it is, what is uncertain about it, how it went, and who is in it.
import { ask, askAll, askReach } from './api.js'
import { chart } from './chart.js'
import { facts, h, later, link, named, outside, section, table, whenSeen } from './dom.js'
import { amount, day, exact, lasting, moment, percent, short, usd, whole } from './format.js'
import { marks } from './vaults.js'

const DAY = 86_400

/** How far back charts reach, and in what steps: what is asked for costs credits by the step. */
const RANGES = /** @type {const} */ ({
  '30 days': { days: 30, granularity: '1day' },
  '90 days': { days: 90, granularity: '1day' },
  '1 year': { days: 365, granularity: '1day' },
  everything: { days: 7300, granularity: '1week' },
})

/** @type {import('./main.js').View} */
export async function showVault({ path: [network = '', vaultId = ''], query, signal }) {
  const [vault, reach] = await Promise.all([
    ask(`v2/detailed-vaults/${network}/${vaultId}`, {}, { signal }),
    askReach(),
  ])
  const now =
    reach.find(one => one.network === vault.network.name)?.blockTime ?? Math.floor(Date.now() / 1000)
  const about = { vault, at: `${vault.network.name}/${vault.vaultId}`, now, signal }
  const range = /** @type {keyof typeof RANGES} */ (query.get('range') ?? '90 days')
  return {
    title: vault.name,
    content: [
      h('h1', {}, named(vault.name), marks(vault)),
      h(
        'p.quiet',
        {},
        `${vault.asset.symbol} on ${vault.network.name}, `,
        outside(vault.protocol.protocolUrl, vault.protocol.displayName ?? vault.protocol.name),
        vault.curator
          ? [
              ', curated by ',
              outside(vault.curator.websiteUrl, vault.curator.displayName ?? vault.curator.name),
            ]
          : '',
      ),
      vault.description ? h('p', {}, h('bdi', {}, vault.description)) : '',
      uncertainties(vault),
      figures(vault),
      section(
        'How it went',
        rangeLinks(about, range),
        later(() => history(about, RANGES[range] ?? RANGES['90 days'])),
      ),
      section(
        'Deposits and redemptions, by day',
        later(() => flows(about, RANGES[range] ?? RANGES['90 days'])),
      ),
      later(() => analytics(about)),
      section(
        'Holders',
        later(() => holders(about, 0)),
      ),
      section(
        'Events',
        whenSeen(async () => (await import('./events.js')).events(about)),
      ),
    ].map(part => (part instanceof Node ? part : document.createTextNode(part))),
  }
}

/** @typedef {{ vault: any, at: string, now: number, signal: AbortSignal }} About */

/** @param {{ content: string, resolution?: string }} flag */
const flagWords = ({ content, resolution }) => (resolution ? `${content} (${resolution})` : content)

/** @param {any} vault */
function uncertainties(vault) {
  const told = new Set([...vault.flags.map(flagWords), ...vault.warnings])
  const hasSaid = (/** @type {string} */ words) => [...told].some(text => text.includes(words))
  const said = [
    vault.standing === 'found' &&
      !hasSaid('vouches') &&
      'Nobody vouches for this vault: what its contract says is a claim. Lists and sums leave it out.',
    vault.standing === 'made' && 'A known factory made it; no registry lists it itself.',
    vault.isCorrupted &&
      'It is marked as corrupted: lists leave it out unless they are asked for such vaults.',
    vault.userEventsIndexed === false &&
      'What its users did is not indexed: positions and returns may be missing.',
    vault.asset.assetPriceInUsd === undefined &&
      'The price of its asset is not known, so nothing of it can be told in dollars.',
    !vault.isTransactional && 'No transactions are built for it.',
    ...told,
  ].filter(text => text !== false)
  if (said.length === 0) return ''
  return h(
    'section.uncertain',
    { 'aria-label': 'What is uncertain' },
    h('h2', {}, 'What is uncertain'),
    h(
      'ul',
      {},
      said.map(text => h('li', {}, text)),
    ),
  )
}

/** @param {any} vault */
function figures(vault) {
  const { decimals, symbol } = vault.asset
  const token = (/** @type {string} */ native) =>
    h('span', { title: `${exact(native, decimals)} ${symbol}` }, `${amount(native, decimals)} ${symbol}`)
  const apy = (/** @type {string} */ window) => {
    const { base, reward, total } = vault.apy[window]
    return h('span', { title: `base ${percent(base)}, rewards ${percent(reward)}` }, percent(total))
  }
  return facts([
    ['TVL', usd(vault.tvl.usd)],
    ['in its asset', token(vault.tvl.native)],
    ['APY, 1 day', apy('1day')],
    ['7 days', apy('7day')],
    ['30 days', apy('30day')],
    ...(vault.score
      ? [/** @type {[string, string]} */ (['Score of 100', vault.score.vaultScore.toFixed(1)])]
      : []),
    ['Holders', whole(vault.holdersData?.totalCount ?? 0)],
    ...(vault.remainingCapacity === undefined
      ? []
      : [/** @type {[string, HTMLElement]} */ (['Room left', token(vault.remainingCapacity)])]),
    ...Object.entries(vault.fees ?? {}).map(
      ([name, fee]) => /** @type {[string, string]} */ ([name.replace('Fee', ' fee'), percent(fee)]),
    ),
    ...(vault.creationData
      ? [/** @type {[string, string]} */ (['Since', day(vault.creationData.deploymentTimestamp)])]
      : []),
    ['Last sample', moment(vault.lastUpdateTimestamp)],
    ['Contract', h('code', { title: vault.address }, short(vault.address))],
  ])
}

/** @param {About} about @param {string} range */
const rangeLinks = ({ at }, range) =>
  h(
    'p.choices',
    {},
    Object.keys(RANGES).map(name =>
      name === range ? h('strong', {}, name) : link(`#/vault/${at}?range=${encodeURIComponent(name)}`, name),
    ),
  )

/** @param {About} about @param {{ days: number, granularity: string }} range */
async function history({ vault, at, now, signal }, { days, granularity }) {
  const fromTimestamp = Math.max(0, now - days * DAY)
  const asked = { granularity, apyInterval: '7day', fromTimestamp, toTimestamp: now, perPage: 1000 }
  const points = await askAll(`v2/historical/${at}`, asked, { signal })
  const times = points.map(({ timestamp }) => timestamp)
  const of = (/** @type {(point: any) => any} */ pick) => points.map(point => number(pick(point)))
  return Promise.all([
    titled(
      'Share price',
      chart({
        title: 'Share price',
        times,
        format: price,
        series: [{ label: `${vault.asset.symbol} a share`, values: of(point => point.sharePrice) }],
      }),
    ),
    titled(
      'TVL',
      chart({
        title: 'TVL',
        times,
        format: usd,
        series: [{ label: 'TVL', values: of(point => point.tvl?.usd) }],
      }),
    ),
    titled(
      'APY over 7 days',
      chart({
        title: 'APY over 7 days',
        times,
        format: percent,
        series: [
          { label: 'all', values: of(point => point.apy?.total) },
          { label: 'without rewards', values: of(point => point.apy?.base), color: 'other' },
        ],
      }),
    ),
  ])
}

/** @param {unknown} value a number or a decimal string; a gap in the line where it is neither */
const number = value => (value === undefined || value === null ? null : Number(value))

const price = (/** @type {number} */ value) => String(Number(value.toPrecision(7)))

/** @param {string} title @param {Promise<HTMLElement>} drawn */
const titled = async (title, drawn) => h('div.titled', {}, h('h3', {}, title), await drawn)

/** @param {About} about @param {{ days: number }} range */
async function flows({ vault, at, now, signal }, { days }) {
  const { decimals, symbol } = vault.asset
  const fromDate = day(Math.max(now - days * DAY, vault.creationData?.deploymentTimestamp ?? 0))
  const asked = { fromDate, toDate: day(now + DAY), perPage: 366 }
  const rows = await askAll(`alpha/historical/${at}/daily-flows`, asked, { signal })
  // A chart may round: the table below it has each day's figures as the vault counts them.
  const drawn = (/** @type {string} */ native, /** @type {number} */ sign) =>
    native === '0' ? null : (sign * Number(native)) / 10 ** decimals
  const picture = await chart({
    title: 'Deposits and redemptions',
    times: rows.map(({ date }) => Date.parse(date) / 1000),
    format: value => `${value.toLocaleString('en', { notation: 'compact' })} ${symbol}`,
    series: [
      { label: 'deposited', values: rows.map(row => drawn(row.totalDeposits, 1)), isBars: true },
      {
        label: 'redeemed',
        values: rows.map(row => drawn(row.totalRedemptions, -1)),
        isBars: true,
        color: 'other',
      },
    ],
    empty: 'Nothing was deposited or redeemed over this time.',
  })
  const moved = rows
    .filter(row => row.depositCount + row.redemptionCount > 0)
    .slice(-14)
    .reverse()
  return [
    picture,
    table(
      ['Day', `Deposited, ${symbol}`, 'Deposits', `Redeemed, ${symbol}`, 'Redemptions'],
      moved.map(row => [
        row.date,
        exact(row.totalDeposits, decimals),
        whole(row.depositCount),
        exact(row.totalRedemptions, decimals),
        whole(row.redemptionCount),
      ]),
      { caption: 'Last days with flows', numbers: [1, 2, 3, 4], empty: 'No day with flows.' },
    ),
  ]
}

/** @param {About} about */
async function analytics({ vault, at, signal }) {
  const { decimals, symbol } = vault.asset
  const select = { maxDrawdown: true, composition: true, withdrawalPauseRatio: true, utilizationRate: true }
  const { maxDrawdown, composition, withdrawalPauseRatio, utilizationRate } = await ask(
    `beta/advanced-analytics/${at}`,
    {},
    { signal, body: { select } },
  )
  return [
    section(
      'Risk',
      facts([
        ['Largest fall in 30 days', percent(maxDrawdown.mdd30days)],
        ['in 90 days', percent(maxDrawdown.mdd90days)],
        ['in a year', percent(maxDrawdown.mdd365days)],
        [
          'Withdrawals were paused',
          withdrawalPauseRatio.value === null
            ? 'not known'
            : `${percent(withdrawalPauseRatio.value)} of the time`,
        ],
        ['Lent out', utilizationRate.value === null ? 'not known' : percent(utilizationRate.value)],
      ]),
    ),
    section(
      'What it holds',
      table(
        ['Where', 'Share of the vault', `Amount, ${symbol}`],
        composition.items.map((/** @type {any} */ item) => [
          named(item.name),
          percent(item.allocation),
          exact(item.valueNative, decimals),
        ]),
        { caption: 'Composition', numbers: [1, 2], empty: 'What it holds is not known.' },
      ),
    ),
  ]
}

const HOLDERS = 15

/** @param {About} about @param {number} page @returns {Promise<HTMLElement>} */
async function holders(about, page) {
  const { vault, at, signal } = about
  const decimals = vault.lpToken?.decimals ?? vault.asset.decimals
  const answer = await ask(`alpha/${at}/holders`, { page, perPage: HOLDERS }, { signal })
  const place = h('div')
  const turn = (/** @type {number} */ to, /** @type {string} */ words) =>
    h('button', { type: 'button', onclick: () => place.replaceWith(later(() => holders(about, to))) }, words)
  place.append(
    table(
      ['Holder', 'Shares', 'Worth', 'Of all', 'What it did'],
      answer.data.map((/** @type {any} */ holder) => [
        link(`#/wallet/${holder.address}`, h('code', { title: holder.address }, short(holder.address))),
        h('span', { title: exact(holder.lpTokenBalance, decimals) }, amount(holder.lpTokenBalance, decimals)),
        usd(holder.balanceUsd),
        percent(holder.share),
        eventsOf(about, holder.address),
      ]),
      { caption: 'Holders', numbers: [1, 2, 3], empty: 'Nobody holds a share.' },
    ),
    h(
      'p.pager',
      {},
      page > 0 ? turn(page - 1, '← larger') : '',
      h('span.quiet', {}, `${whole(answer.totalCount)} holders`),
      answer.nextPage === null ? '' : turn(answer.nextPage, 'smaller →'),
    ),
  )
  return place
}

/** Deposits and withdrawals of one wallet, asked for when they are opened. @param {About} about @param {string} wallet */
function eventsOf({ vault, at, now, signal }, wallet) {
  const details = h('details', {}, h('summary', {}, 'events'))
  details.addEventListener(
    'toggle',
    () =>
      details.append(
        later(async () => {
          const { data, asset } = await ask(`v2/portfolio/events/${wallet}/${at}`, {}, { signal })
          return h(
            'ol.events',
            {},
            data.length === 0 && h('li', {}, 'Its shares came by transfer alone.'),
            data
              .reverse()
              .map((/** @type {any} */ event) =>
                h(
                  'li',
                  { title: `transaction ${event.transactionHash}` },
                  `${event.eventType} of ${amount(event.assetAmountNative, asset.decimals)} ${vault.asset.symbol}, ${lasting(Math.max(0, now - event.timestamp))} before the newest block`,
                ),
              ),
          )
        }),
      ),
    { once: true },
  )
  return details
}
