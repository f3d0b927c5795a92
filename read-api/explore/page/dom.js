// Elements. What is put into them is text or another element, never markup: names come from strangers.

/** @typedef {Node | string | number | null | undefined | false} Child */

/**
 * @param {string} tag with classes behind dots: `td.number`
 * @param {Record<string, unknown>} [attributes] functions are listeners; false and undefined are left out
 * @param {...(Child | Child[])} children
 * @returns {HTMLElement}
 */
export function h(tag, attributes = {}, ...children) {
  const [name = 'div', ...classes] = tag.split('.')
  const element = document.createElement(name)
  if (classes.length > 0) element.className = classes.join(' ')
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === false || value === null) continue
    if (typeof value === 'function')
      element.addEventListener(key.slice(2), /** @type {EventListener} */ (value))
    else if (key === 'value') /** @type {HTMLInputElement} */ (element).value = String(value)
    else element.setAttribute(key, value === true ? '' : String(value))
  }
  element.append(
    ...children
      .flat()
      .filter(isThere)
      .map(child => (child instanceof Node ? child : String(child))),
  )
  return element
}

/** @param {Child} child @returns {child is Node | string | number} */
const isThere = child => child !== null && child !== undefined && child !== false

/** A link into this page. @param {string} hash @param {...(Child | Child[])} children */
export const link = (hash, ...children) => h('a', { href: hash }, ...children)

/**
 * A link to somewhere else, where it is one a browser may follow; otherwise its words alone.
 * @param {string | undefined} url @param {string} words
 */
export function outside(url, words) {
  const isWeb = url !== undefined && /^https?:\/\//i.test(url)
  return isWeb
    ? h('a', { href: url, rel: 'noopener noreferrer nofollow', target: '_blank' }, words)
    : h('span', {}, words)
}

/** What a stranger wrote: its direction of writing stays inside of it. @param {string} text */
export const named = text => h('bdi.named', { title: text }, text || 'without a name')

/**
 * @param {string[]} heads @param {Child[][]} rows @param {{ caption?: string, numbers?: number[], empty?: string }} [options]
 * numbers: columns that stand to the right
 */
export function table(heads, rows, { caption, numbers = [], empty = 'Nothing.' } = {}) {
  const kind = (/** @type {number} */ column) => (numbers.includes(column) ? '.number' : '')
  return h(
    'div.wide',
    { tabindex: 0, role: 'region', 'aria-label': caption },
    h(
      'table',
      {},
      caption && h('caption.unseen', {}, caption),
      h(
        'thead',
        {},
        h(
          'tr',
          {},
          heads.map((head, column) => h(`th${kind(column)}`, { scope: 'col' }, head)),
        ),
      ),
      h(
        'tbody',
        {},
        rows.length === 0 && h('tr', {}, h('td.quiet', { colspan: heads.length }, empty)),
        rows.map(cells =>
          h(
            'tr',
            {},
            cells.map((cell, column) => h(`td${kind(column)}`, { 'data-label': heads[column] }, cell)),
          ),
        ),
      ),
    ),
  )
}

/** @param {string} title @param {...(Child | Child[])} children */
export function section(title, ...children) {
  return h('section', { 'aria-label': title }, h('h2', {}, title), ...children)
}

/** Facts beside each other: a word above, its value below. @param {[string, Child][]} facts */
export const facts = facts =>
  h(
    'dl.facts',
    {},
    facts.map(([word, value]) => h('div', {}, h('dt', {}, word), h('dd', {}, value))),
  )

/**
 * A part that is asked for by itself: the rest of the page does not wait for it, and what is refused is said in its place.
 * @param {() => Promise<Node | Node[]>} load
 */
export function later(load) {
  const place = h('div.later', { 'aria-busy': 'true' }, h('p.quiet', {}, 'Loading'))
  load()
    .then(found => place.replaceChildren(...[found].flat()))
    .catch(error => {
      if (error.name !== 'AbortError') place.replaceChildren(refusal(error))
    })
    .finally(() => place.removeAttribute('aria-busy'))
  return place
}

/**
 * A part that costs too much to be asked for unseen: it is asked for when it comes into view.
 * @param {() => Promise<Node | Node[]>} load
 */
export function whenSeen(load) {
  const place = h('div.unread', {}, h('p.quiet', {}, 'Read when it comes into view'))
  const watch = new IntersectionObserver(seen => {
    if (!seen.some(({ isIntersecting }) => isIntersecting)) return
    watch.disconnect()
    place.replaceWith(later(load))
  })
  watch.observe(place)
  return place
}

/** Text of an address as it was meant; as it stands where it is none. @param {string} text */
export function decoded(text) {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** @param {Error} error */
export const refusal = error => h('p.refused', { role: 'alert' }, error.message)
