// Which page is shown: the part of the address behind #, so that it can be passed on, and never reaches a server.
import { credits, key, onAnswer, RefusedError } from './api.js'
import { decoded, h, refusal } from './dom.js'
import { whole } from './format.js'
import { showMarket, showMarkets } from './markets.js'
import { showNetworks } from './networks.js'
import { createSearch } from './search.js'
import { showVault } from './vault.js'
import { showVaults } from './vaults.js'
import { askForWallet, showWallet } from './wallet.js'

/**
 * A page: its title and what it holds. `signal` ends when another page is shown.
 * @typedef {{ title: string, content: Node[] }} Page
 * @typedef {(where: { path: string[], query: URLSearchParams, signal: AbortSignal }) => Promise<Page> | Page} View
 */

/** @type {Record<string, View>} */
const VIEWS = {
  vaults: showVaults,
  vault: showVault,
  markets: showMarkets,
  market: showMarket,
  wallet: where => (where.path[0] ? showWallet(where) : askForWallet()),
  networks: showNetworks,
}

const main = /** @type {HTMLElement} */ (document.getElementById('main'))
const creditsShown = /** @type {HTMLElement} */ (document.getElementById('credits'))
let leaving = new AbortController()

async function show() {
  takeKey()
  leaving.abort()
  leaving = new AbortController()
  const { signal } = leaving
  const [path = '', query = ''] = location.hash.replace(/^#\/?/, '').split('?')
  const [name = '', ...rest] = path.split('/').map(decoded)
  const view = VIEWS[name || 'vaults']
  for (const other of document.querySelectorAll('nav a')) {
    const isIt = other.getAttribute('href')?.startsWith(`#/${(name || 'vaults').replace(/s$/, '')}`)
    if (isIt) other.setAttribute('aria-current', 'page')
    else other.removeAttribute('aria-current')
  }
  main.setAttribute('aria-busy', 'true')
  if (!main.querySelector('h1')) main.replaceChildren(h('p.quiet', {}, 'Loading'))
  try {
    if (!view) throw new RefusedError(404, `There is no page called ${name}.`)
    const { title, content } = await view({ path: rest, query: new URLSearchParams(query), signal })
    if (signal.aborted) return
    document.title = `${title} · Vaultlog`
    main.replaceChildren(...content)
  } catch (error) {
    if (signal.aborted) return
    main.replaceChildren(
      ...(needsKey(error)
        ? [askForKey(/** @type {Error} */ (error).message)]
        : [refusal(/** @type {Error} */ (error))]),
    )
  } finally {
    if (!signal.aborted) main.removeAttribute('aria-busy')
  }
}

/** @param {unknown} error */
const needsKey = error => error instanceof RefusedError && (error.status === 401 || error.status === 402)

/** A key behind #key= is kept for this tab and leaves the address at once. */
function takeKey() {
  const given = /^#key=([^&/]+)(.*)$/.exec(location.hash)
  if (!given) return
  key.set(decoded(given[1] ?? ''))
  history.replaceState(null, '', given[2] ? `#${given[2]}` : '#/vaults')
}

/** @param {string} [why] */
function askForKey(why) {
  const input = h('input', {
    type: 'password',
    name: 'key',
    required: true,
    autocomplete: 'off',
    'aria-label': 'API key',
  })
  return h(
    'form.key',
    {
      onsubmit: (/** @type {Event} */ event) => {
        event.preventDefault()
        key.set(/** @type {HTMLInputElement} */ (input).value.trim())
        void show()
      },
    },
    h('h1', {}, 'An API key, please'),
    h(
      'p',
      {},
      'This page asks the API as you would, and pays with your credits. The key is kept in this tab and sent nowhere else.',
    ),
    why && key.get() && h('p.refused', { role: 'alert' }, why),
    h('p', {}, input, h('button', {}, 'Look')),
    h('p.quiet', {}, 'An operator makes one with: vaultlog keys create <name>'),
  )
}

onAnswer(() => {
  const left = credits.remaining
  creditsShown.textContent = `${whole(credits.used)} credits used here${left === undefined || left > 1e12 ? '' : `, ${whole(left)} left this month`}`
})
document.getElementById('change-key')?.addEventListener('click', () => main.replaceChildren(askForKey()))
document.querySelector('.skip')?.addEventListener('click', event => {
  event.preventDefault()
  main.focus()
})
document.getElementById('search')?.append(createSearch())
window.addEventListener('hashchange', () => {
  void show()
  window.scrollTo(0, 0)
})
void show()
