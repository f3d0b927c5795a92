// Asks the API that this page is served by, with the key of whoever looks.

const API = new URL('../', new URL('.', location.href))
const KEY = 'vaultlog-key'

/** Credits that this page has used since it was opened, and those left of the month as the last answer said. */
export const credits = { used: 0, remaining: /** @type {number | undefined} */ (undefined) }

/** @type {Set<() => void>} */
const listeners = new Set()

/** @param {() => void} listener called after every answer */
export function onAnswer(listener) {
  listeners.add(listener)
}

/** Kept until the tab is closed, and sent to this API alone. */
export const key = {
  get: () => sessionStorage.getItem(KEY) ?? '',
  /** @param {string} value */
  set: value => sessionStorage.setItem(KEY, value),
}

/** What the API refused, in its own words. */
export class RefusedError extends Error {
  /** @param {number} status @param {string} message */
  constructor(status, message) {
    super(message)
    this.status = status
  }
}

/**
 * @param {string} path below the API's root, without a slash before it
 * @param {Record<string, string | number | boolean | readonly string[] | undefined>} [query] what is empty is left out
 * @param {{ signal?: AbortSignal, body?: unknown }} [options]
 * @returns {Promise<any>} the parsed answer
 */
export async function ask(path, query = {}, { signal, body } = {}) {
  const url = new URL(path, API)
  for (const [name, value] of Object.entries(query)) {
    for (const one of Array.isArray(value) ? value : [value])
      if (one !== undefined && one !== '') url.searchParams.append(name, String(one))
  }
  const response = await fetch(url, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      ...(key.get() ? { 'x-api-key': key.get() } : {}),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    body: body === undefined ? undefined : JSON.stringify(body),
    signal,
  })
  credits.used += Number(response.headers.get('x-credits-used') ?? 0)
  const remaining = response.headers.get('x-credits-remaining')
  if (remaining !== null) credits.remaining = Number(remaining)
  for (const listener of listeners) listener()
  const answer = await response.json().catch(() => undefined)
  if (response.ok) return answer
  throw new RefusedError(response.status, answer?.message ?? `The API answered ${response.status}.`)
}

/**
 * The items of every page of a list.
 * @param {string} path @param {Record<string, string | number>} query with `perPage` @param {{ signal?: AbortSignal }} [options]
 * @returns {Promise<any[]>}
 */
export async function askAll(path, query, options) {
  /** @type {any[]} */
  const found = []
  for (let page = /** @type {number | null} */ (0); page !== null; ) {
    const answer = await ask(path, { ...query, page }, options)
    found.push(...answer.data)
    page = answer.nextPage
  }
  return found
}

/** @typedef {{ network: string, block: number, blockTime: number, secondsPerBlock: number }} Reach */

/** @returns {Promise<Reach[]>} the newest block that answers are of, by network; wants no key */
export async function askReach() {
  const response = await fetch(new URL('explore/reach.json', API))
  if (!response.ok) throw new RefusedError(response.status, 'The API does not say how far it reaches.')
  return response.json()
}
