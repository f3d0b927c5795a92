// The box above every page: vaults by name, symbol or address, and any wallet.
import { askAll } from './api.js'
import { h, link, named } from './dom.js'

const MOST = 8
const ADDRESS = /^(0x[0-9a-fA-F]{40}|[1-9A-HJ-NP-Za-km-z]{32,44})$/

/** @typedef {{ vaultId: string, address: string, name: string, network: { name: string }, asset: { symbol: string } }} VaultName */

/** Every vault's name, asked for once, when somebody begins to search. @type {Promise<VaultName[]> | undefined} */
let names

export function createSearch() {
  const input = /** @type {HTMLInputElement} */ (
    h('input', {
      type: 'search',
      placeholder: 'Vault, asset or wallet',
      'aria-label': 'Search vaults and wallets',
      autocomplete: 'off',
      spellcheck: 'false',
    })
  )
  const results = h('ul', { 'aria-label': 'Found' })
  const status = h('p.unseen', { role: 'status' })
  const form = h('form', { role: 'search' }, input, status, results)

  const clear = () => {
    results.replaceChildren()
    status.textContent = ''
  }
  const look = async () => {
    const text = input.value.trim()
    if (!text) return clear()
    names ??= askAll('v2/vaults', { perPage: 5000 }).catch(error => {
      names = undefined
      throw error
    })
    try {
      const found = matching(await names, text)
      if (input.value.trim() !== text) return
      const rows = found.map(({ name, asset, network, vaultId }) =>
        h(
          'li',
          {},
          link(
            `#/vault/${network.name}/${vaultId}`,
            named(name),
            h('span.quiet', {}, ` ${asset.symbol} · ${network.name}`),
          ),
        ),
      )
      if (ADDRESS.test(text)) rows.push(h('li', {}, link(`#/wallet/${text}`, `The wallet ${text}`)))
      status.textContent = `${rows.length} found`
      results.replaceChildren(
        ...(rows.length > 0 ? rows : [h('li.quiet', {}, 'No listed vault is called so.')]),
      )
    } catch (error) {
      results.replaceChildren(h('li.refused', {}, /** @type {Error} */ (error).message))
    }
  }
  input.addEventListener('input', () => void look())
  form.addEventListener('submit', event => {
    event.preventDefault()
    const first = results.querySelector('a')
    if (first) location.hash = first.getAttribute('href') ?? ''
  })
  form.addEventListener('keydown', event => {
    const places = [input, ...results.querySelectorAll('a')]
    const at = places.indexOf(/** @type {HTMLInputElement} */ (document.activeElement))
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (event.key === 'Escape') clear()
    if (step === 0 || at < 0) return
    event.preventDefault()
    places[(at + step + places.length) % places.length]?.focus()
  })
  window.addEventListener('hashchange', () => {
    clear()
    input.value = ''
  })
  return form
}

/** @param {VaultName[]} vaults @param {string} text */
function matching(vaults, text) {
  const words = text.toLowerCase().split(/\s+/)
  const found = []
  for (const vault of vaults) {
    const said =
      `${vault.name} ${vault.asset.symbol} ${vault.network.name} ${vault.address} ${vault.vaultId}`.toLowerCase()
    if (words.every(word => said.includes(word))) found.push(vault)
    if (found.length === MOST) break
  }
  return found
}
