// The list of vaults, with the filters and orders that the API's own list has.
import { ask } from './api.js'
import { h, link, named, table } from './dom.js'
import { percent, usd, whole } from './format.js'

const PER_PAGE = 50

/** What a form field sends to the API, and how it is asked for. */
const FIELDS = /** @type {const} */ ([
  { name: 'allowedNetworks', label: 'Network', from: 'networks' },
  { name: 'allowedAssets', label: 'Asset', hint: 'USDC' },
  { name: 'allowedProtocols', label: 'Protocol', from: 'protocols' },
  { name: 'curators', label: 'Curator', from: 'curators' },
  { name: 'tags', label: 'Tag', from: 'tags' },
  { name: 'minTvl', label: 'TVL from, $', hint: '100000' },
  { name: 'maxTvl', label: 'TVL to, $' },
  { name: 'minApy', label: 'APY from, %', percent: true },
  { name: 'maxApy', label: 'APY to, %', percent: true },
  { name: 'minVaultScore', label: 'Score from', hint: '50' },
])

const SWITCHES = /** @type {const} */ ([
  ['onlyTransactional', 'Transactions can be built'],
  ['onlyAppFeatured', 'Featured'],
  ['allowCorrupted', 'Also corrupted ones'],
  ['allowUnlisted', 'Also ones that nobody vouches for'],
])

const COLUMNS = /** @type {const} */ ([
  ['tvl', 'TVL'],
  ['apy1day', 'APY 1 day'],
  ['apy7day', '7 days'],
  ['apy30day', '30 days'],
])

/** @type {import('./main.js').View} */
export async function showVaults({ query, signal }) {
  const page = Number(query.get('page') ?? 0)
  const sortBy = query.get('sortBy') ?? 'tvl'
  const sortOrder = query.get('sortOrder') ?? 'desc'
  const answer = await ask(
    'v2/detailed-vaults',
    { ...filtersOf(query), page, perPage: PER_PAGE, sortBy, sortOrder },
    { signal },
  )
  const address = (/** @type {Record<string, string | number>} */ change) => {
    const next = new URLSearchParams(query)
    for (const [name, value] of Object.entries(change)) next.set(name, String(value))
    return `#/vaults?${next}`
  }
  const heads = COLUMNS.map(([key, word]) => {
    const isIt = key === sortBy
    const order = isIt && sortOrder === 'desc' ? 'asc' : 'desc'
    return h(
      'a',
      { href: address({ sortBy: key, sortOrder: order, page: 0 }), 'aria-label': `Sort by ${word}` },
      word,
      isIt ? (sortOrder === 'desc' ? ' ↓' : ' ↑') : '',
    )
  })
  const unsupported = Object.values(answer.errors ?? {}).flat()
  return {
    title: 'Vaults',
    content: [
      h('h1', {}, 'Vaults'),
      filterForm(query),
      unsupported.length > 0 ? h('p.warning', {}, `Nobody here knows ${unsupported.join(', ')}.`) : '',
      vaultTable(answer.data, heads),
      pager(page, answer, address),
    ].map(part => (part instanceof Node ? part : document.createTextNode(part))),
  }
}

/** @param {any[]} vaults @param {HTMLElement[]} heads */
function vaultTable(vaults, heads) {
  const shown = table(
    ['Vault', 'Asset', 'Network', 'Protocol', ...COLUMNS.map(([, word]) => word), 'Score', 'Holders'],
    vaults.map(vault => [
      h('span', {}, link(`#/vault/${vault.network.name}/${vault.vaultId}`, named(vault.name)), marks(vault)),
      vault.asset.symbol,
      vault.network.name,
      vault.protocol.displayName ?? vault.protocol.name,
      usd(vault.tvl.usd),
      ...['1day', '7day', '30day'].map(window => apyCell(vault, window)),
      vault.score ? vault.score.vaultScore.toFixed(1) : '',
      whole(vault.holdersData?.totalCount ?? 0),
    ]),
    { caption: 'Vaults', numbers: [4, 5, 6, 7, 8, 9], empty: 'No vault passes these filters.' },
  )
  // Sorting is a link in the head of its column.
  const cells = shown.querySelectorAll('thead th')
  for (const [index, head] of heads.entries()) cells[index + 4]?.replaceChildren(head)
  return shown
}

/** A window without a value is 0 on the wire, and named in the warnings. @param {any} vault @param {string} window */
function apyCell(vault, window) {
  const isUnknown = vault.warnings.some((/** @type {string} */ text) => text.includes(window))
  return isUnknown
    ? h('span.quiet', { title: 'not known over this window' }, '–')
    : percent(vault.apy[window].total)
}

/** @param {any} vault */
export function marks(vault) {
  const said = [
    vault.standing !== 'listed' &&
      h('span.mark', {}, vault.standing === 'made' ? 'made by a known factory' : 'nobody vouches for it'),
    vault.isCorrupted && h('span.mark.bad', {}, 'corrupted'),
    ...vault.flags.map((/** @type {any} */ flag) =>
      h(`span.mark.${flag.severity}`, { title: flag.content }, flag.severity),
    ),
  ].filter(mark => mark !== false)
  return said.length > 0 ? h('span.marks', {}, ...said) : ''
}

/** @param {URLSearchParams} query */
function filtersOf(query) {
  /** @type {Record<string, string>} */
  const filters = {}
  for (const field of FIELDS) {
    const value = query.get(field.name)
    if (value) filters[field.name] = 'percent' in field ? String(Number(value) / 100) : value
  }
  for (const [name] of SWITCHES) if (query.get(name) === 'true') filters[name] = 'true'
  return filters
}

/** @param {URLSearchParams} query */
function filterForm(query) {
  const form = /** @type {HTMLFormElement} */ (
    h(
      'form.filters',
      { 'aria-label': 'Filters' },
      FIELDS.map(field =>
        h(
          'label',
          {},
          field.label,
          h('input', {
            name: field.name,
            value: query.get(field.name) ?? '',
            placeholder: 'hint' in field ? field.hint : undefined,
            list: 'from' in field ? `known-${field.from}` : undefined,
            inputmode: 'from' in field || field.name === 'allowedAssets' ? undefined : 'decimal',
          }),
        ),
      ),
      SWITCHES.map(([name, label]) =>
        h(
          'label.switch',
          {},
          h('input', { type: 'checkbox', name, value: 'true', checked: query.get(name) === 'true' }),
          label,
        ),
      ),
      h('div', {}, h('button', {}, 'Filter'), ' ', link('#/vaults', 'All vaults')),
      FIELDS.map(field => 'from' in field && h('datalist', { id: `known-${field.from}` })),
    )
  )
  form.addEventListener('submit', event => {
    event.preventDefault()
    const next = new URLSearchParams()
    for (const [name, value] of new FormData(form)) if (value) next.set(name, String(value).trim())
    for (const kept of ['sortBy', 'sortOrder']) if (query.has(kept)) next.set(kept, query.get(kept) ?? '')
    location.hash = `#/vaults?${next}`
  })
  // What can be chosen is asked for when somebody is about to choose: the list itself does not wait for it.
  form.addEventListener('focusin', () => void fillChoices(form), { once: true })
  const isOpen = FIELDS.some(({ name }) => query.get(name)) || SWITCHES.some(([name]) => query.get(name))
  return h('details', { open: isOpen }, h('summary', {}, 'Filters'), form)
}

/** @param {HTMLFormElement} form */
async function fillChoices(form) {
  await Promise.all(
    ['networks', 'protocols', 'curators', 'tags'].map(async kind => {
      const list = form.querySelector(`#known-${kind}`)
      const found = await ask(`v2/${kind}`).catch(() => [])
      const words = new Set(found.map((/** @type {any} */ one) => (typeof one === 'string' ? one : one.name)))
      list?.replaceChildren(...[...words].map(word => h('option', { value: word })))
    }),
  )
}

/** @param {number} page @param {any} answer @param {(change: Record<string, number>) => string} address */
function pager(page, answer, address) {
  if (page === 0 && answer.nextPage === null) return h('p.quiet', {}, `${whole(answer.itemsOnPage)} in all`)
  return h(
    'nav.pager',
    { 'aria-label': 'Pages of the list' },
    page > 0 ? link(address({ page: page - 1 }), '← before') : '',
    h('span.quiet', {}, `page ${page + 1}`),
    answer.nextPage === null ? '' : link(address({ page: answer.nextPage }), 'after →'),
  )
}
