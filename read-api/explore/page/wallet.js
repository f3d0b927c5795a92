// A wallet at any moment: what it held in vaults, what it lends and owes, what lies idle.
import { ask, askReach } from './api.js'
import { chart } from './chart.js'
import { facts, h, later, link, named, section, table } from './dom.js'
import { amount, exact, moment, percent, usd } from './format.js'

const EVM = /^0x[0-9a-fA-F]{40}$/
const DAY = 86_400
/** Places of the slider. */
const STEPS = 365
/** Moments that a curve of the whole span is drawn from. */
const POINTS = 25
const SETTLE_MS = 180

const SPANS = /** @type {const} */ ({ '30 days': 30, '180 days': 180, '1 year': 365, '3 years': 1095 })

export function askForWallet() {
  const input = h('input', {
    name: 'wallet',
    required: true,
    'aria-label': 'Address of a wallet',
    placeholder: '0x… or an address of Solana',
    size: 46,
    autocomplete: 'off',
    spellcheck: 'false',
  })
  return {
    title: 'Wallet',
    content: [
      h('h1', {}, 'A wallet at any moment'),
      h(
        'form',
        {
          onsubmit: (/** @type {Event} */ event) => {
            event.preventDefault()
            location.hash = `#/wallet/${encodeURIComponent(/** @type {HTMLInputElement} */ (input).value.trim())}`
          },
        },
        input,
        ' ',
        h('button', {}, 'Show'),
      ),
    ],
  }
}

/** @param {Parameters<import('./main.js').View>[0]} where @returns {Promise<import('./main.js').Page>} */
export async function showWallet({ path: [wallet = ''], query, signal }) {
  const title = h('h1', {}, 'Wallet ', h('code.named', {}, wallet))
  if (!EVM.test(wallet)) {
    return {
      title: wallet,
      content: [
        title,
        section(
          'In vaults of Solana',
          later(() => solanaPositions(wallet, signal)),
        ),
      ],
    }
  }
  const reach = (await askReach()).filter(({ network }) => network !== 'solana')
  const now = Math.max(...reach.map(({ blockTime }) => blockTime), 0)
  return {
    title: wallet,
    content: [
      title,
      section('In vaults', throughTime(wallet, now, query, signal)),
      section(
        'Lent and borrowed, now',
        later(() => lending(wallet, signal)),
      ),
      section(
        'Idle, now',
        later(() => idle(wallet, signal)),
      ),
    ],
  }
}

/** @param {string} wallet @param {number} now @param {URLSearchParams} query @param {AbortSignal} signal */
function throughTime(wallet, now, query, signal) {
  const chosen = /** @type {keyof typeof SPANS} */ (query.get('span') ?? '180 days')
  const span = (SPANS[chosen] ?? 180) * DAY
  const at = h('output', {}, '')
  const held = h('div', { 'aria-live': 'polite' })
  const slider = /** @type {HTMLInputElement} */ (
    h('input', { type: 'range', min: 0, max: STEPS, step: 1, value: STEPS, 'aria-label': 'Moment' })
  )
  const exactly = /** @type {HTMLInputElement} */ (
    h('input', { type: 'datetime-local', step: 1, 'aria-label': 'Moment in UTC', max: inputMoment(now) })
  )
  let asked = new AbortController()
  let settling = 0
  const showAt = (/** @type {number} */ timestamp) => {
    at.textContent = moment(timestamp)
    slider.setAttribute('aria-valuetext', moment(timestamp))
    exactly.value = inputMoment(timestamp)
    clearTimeout(settling)
    settling = window.setTimeout(async () => {
      asked.abort()
      asked = new AbortController()
      const ending = AbortSignal.any([asked.signal, signal])
      held.setAttribute('aria-busy', 'true')
      try {
        const answer = await ask(`alpha/historical-balances/${wallet}/${timestamp}`, {}, { signal: ending })
        held.replaceChildren(...positions(answer))
      } catch (error) {
        if (!ending.aborted)
          held.replaceChildren(h('p.refused', { role: 'alert' }, /** @type {Error} */ (error).message))
      }
      if (!ending.aborted) held.removeAttribute('aria-busy')
    }, SETTLE_MS)
  }
  slider.addEventListener('input', () =>
    showAt(Math.round(now - span + (span * Number(slider.value)) / STEPS)),
  )
  exactly.addEventListener('change', () => {
    const timestamp = Math.floor(Date.parse(`${exactly.value}Z`) / 1000)
    if (!Number.isFinite(timestamp)) return
    slider.value = String(Math.round(((timestamp - now + span) / span) * STEPS))
    showAt(timestamp)
  })
  showAt(now)
  return h(
    'div',
    {},
    h(
      'p.choices',
      {},
      Object.keys(SPANS).map(name =>
        name === chosen
          ? h('strong', {}, name)
          : link(`#/wallet/${wallet}?span=${encodeURIComponent(name)}`, name),
      ),
    ),
    h('div.slider', {}, slider, at, exactly),
    held,
    curveButton(wallet, now, span, signal),
  )
}

/** @param {number} seconds as an input of date and time wants it, in UTC */
const inputMoment = seconds => new Date(seconds * 1000).toISOString().slice(0, 19)

/** @param {any} answer */
function positions({ data }) {
  const known = data.filter((/** @type {any} */ { lpToken }) => lpToken?.balanceUsd !== undefined)
  const total = known.reduce(
    (/** @type {number} */ sum, /** @type {any} */ { lpToken }) => sum + Number(lpToken.balanceUsd),
    0,
  )
  return [
    facts([
      ['Worth', data.length === 0 ? '$0.00' : known.length === 0 ? 'not known' : usd(total)],
      ['Vaults', String(data.length)],
      ...(known.length < data.length
        ? [
            /** @type {[string, string]} */ ([
              'Without a price at that moment',
              String(data.length - known.length),
            ]),
          ]
        : []),
    ]),
    table(
      ['Vault', 'Network', 'Shares', 'In its asset', 'Worth', 'APY 7 days', 'As of block'],
      data.map((/** @type {any} */ held) => [
        link(`#/vault/${held.network.name}/${held.vaultId}`, named(held.name)),
        held.network.name,
        h(
          'span',
          { title: exact(held.lpToken.balanceNative, held.lpToken.decimals) },
          amount(held.lpToken.balanceNative, held.lpToken.decimals),
        ),
        held.lpToken.positionValueInAsset === undefined
          ? 'not known'
          : `${amount(held.lpToken.positionValueInAsset, held.asset.decimals)} ${held.asset.symbol}`,
        usd(held.lpToken.balanceUsd),
        percent(held.apy?.total),
        held.blockNumber,
      ]),
      {
        caption: 'Positions in vaults',
        numbers: [2, 3, 4, 5, 6],
        empty: 'It held no share of a vault then.',
      },
    ),
  ]
}

/** @param {string} wallet @param {number} now @param {number} span @param {AbortSignal} signal */
function curveButton(wallet, now, span, signal) {
  const button = h('button', { type: 'button' }, `Draw its worth over this time (${POINTS * 5} credits)`)
  button.addEventListener('click', () =>
    button.replaceWith(
      later(async () => {
        const times = Array.from({ length: POINTS }, (_, index) =>
          Math.round(now - span + (span * (index + 1)) / POINTS),
        )
        const answers = []
        for (const time of times)
          answers.push(await ask(`alpha/historical-balances/${wallet}/${time}`, {}, { signal }))
        const values = answers.map(({ data }) =>
          data.some((/** @type {any} */ { lpToken }) => lpToken.balanceUsd === undefined)
            ? null
            : data.reduce(
                (/** @type {number} */ sum, /** @type {any} */ { lpToken }) =>
                  sum + Number(lpToken.balanceUsd),
                0,
              ),
        )
        return chart({ title: 'Worth in vaults', times, format: usd, series: [{ label: 'worth', values }] })
      }),
    ),
  )
  return button
}

/** @param {string} wallet @param {AbortSignal} signal */
async function lending(wallet, signal) {
  const { data } = await ask(`beta/borrow/portfolio/positions/${wallet}`, {}, { signal })
  return table(
    ['Market', 'Network', 'Asset', 'Supplied', 'Borrowed', 'LTV', 'Health factor'],
    data.flatMap((/** @type {any} */ held) =>
      held.assets.map((/** @type {any} */ one) => [
        link(`#/market/${held.network.name}/${held.marketId}`, named(held.name)),
        held.network.name,
        one.asset.symbol,
        amount(one.suppliedNative, one.asset.decimals),
        amount(one.borrowedNative, one.asset.decimals),
        percent(held.ltv),
        held.healthFactor === null ? 'no debt, or not known' : held.healthFactor.toFixed(3),
      ]),
    ),
    {
      caption: 'Lent and borrowed',
      numbers: [3, 4, 5, 6],
      empty: 'It lends and owes nothing in a market that is indexed.',
    },
  )
}

/** @param {string} wallet @param {AbortSignal} signal */
async function idle(wallet, signal) {
  const { data } = await ask(`v2/portfolio/idle-assets/${wallet}`, {}, { signal })
  return table(
    ['Asset', 'Network', 'Amount', 'Worth'],
    data.map((/** @type {any} */ held) => [
      named(held.symbol),
      held.network.name,
      amount(held.balanceNative, held.decimals),
      usd(held.balanceUsd),
    ]),
    { caption: 'Idle assets', numbers: [2, 3], empty: 'It holds none of the assets that vaults take.' },
  )
}

/** @param {string} wallet @param {AbortSignal} signal */
async function solanaPositions(wallet, signal) {
  const { data } = await ask(`beta/svm/portfolio/positions/${wallet}`, {}, { signal })
  return table(
    ['Vault', 'In its asset', 'Worth', 'APY 7 days'],
    data.map((/** @type {any} */ held) => [
      named(held.name),
      `${amount(held.asset.balanceNative, held.asset.decimals)} ${held.asset.symbol}`,
      usd(held.asset.balanceUsd),
      percent(held.apy.total),
    ]),
    { caption: 'Positions on Solana', numbers: [1, 2, 3], empty: 'It holds no share of a vault on Solana.' },
  )
}
