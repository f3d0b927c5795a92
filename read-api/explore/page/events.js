// What happened in a vault, newest first: answers of the feed, read backwards by stretches of its network's events.
import { ask } from './api.js'
import { h, link, refusal, table } from './dom.js'
import { amount, exact, moment, short, whole } from './format.js'
import { movementsOf, ZERO } from './movements.js'

const TYPES = 'Deposited,Redeemed,ShareTransferred'
/** Rows that are added at once. */
const ROWS = 25
/** Events of the network that one answer of the feed looks through at most, and how many answers are asked for to fill up the rows. */
const STRETCH = 20_000
const STRETCHES = 4

/**
 * @typedef {import('./movements.js').Message} Message
 * @typedef {{ messages: Message[], read: (signal: AbortSignal) => Promise<void>, lookedAt: () => number, isAtBeginning: () => boolean }} Past
 */

/** The newest stretch; those before it are read when they are asked for. @param {import('./vault.js').About} about @returns {Promise<HTMLElement>} */
export async function events(about) {
  const past = await pastOf(about)
  await past.read(about.signal)
  const place = h('div')
  show(place, about, past, ROWS)
  return place
}

/** What the feed tells of a vault, stretch by stretch towards the beginning. @param {import('./vault.js').About} about @returns {Promise<Past>} */
async function pastOf({ vault, signal }) {
  const asked = { networks: vault.network.name, vaults: vault.address, types: TYPES, perPage: 1000 }
  const { after } = await ask('beta/feed', asked, { signal })
  const [chain = '', text = '0'] = String(after).split('.')
  const head = Number.parseInt(text, 10)
  let end = head
  /** @type {Message[]} */
  const messages = []
  return {
    messages,
    lookedAt: () => head - end,
    isAtBeginning: () => end === 0,
    async read(until) {
      const begin = Math.max(0, end - STRETCH)
      /** @type {Message[]} */
      const found = []
      for (let from = begin; from < end; ) {
        const answer = await ask('beta/feed', { ...asked, after: `${chain}.${from}` }, { signal: until })
        found.push(...answer.messages.filter((/** @type {Message} */ { position }) => position <= end))
        const reached = Number.parseInt(String(answer.after).split('.')[1] ?? '0', 10)
        if (answer.isCaughtUp || reached <= from) break
        from = reached
      }
      end = begin
      messages.push(...found)
    },
  }
}

/**
 * @param {HTMLElement} place @param {import('./vault.js').About} about @param {Past} past @param {number} most rows
 * @param {HTMLElement} [refused] why no more was read
 */
function show(place, about, past, most, refused) {
  const known = movementsOf(past.messages)
  const shown = known.slice(0, most)
  const isFull = shown.length === most
  const further = async () => {
    button.disabled = true
    try {
      for (let i = 0; i < STRETCHES && !past.isAtBeginning(); i++) {
        if (movementsOf(past.messages).length > shown.length) break
        await past.read(about.signal)
      }
      show(place, about, past, isFull ? most + ROWS : most)
    } catch (error) {
      show(place, about, past, most, refusal(/** @type {Error} */ (error)))
    }
    place.querySelector('button')?.focus({ preventScroll: true })
  }
  const words = isFull ? 'older →' : 'look further back →'
  const button = /** @type {HTMLButtonElement} */ (h('button', { type: 'button', onclick: further }, words))
  const hasMore = known.length > most || !past.isAtBeginning()
  place.replaceChildren(
    table(
      ['When', 'What', 'Who', `Amount, ${about.vault.asset.symbol}`, 'Shares', 'Transaction'],
      shown.map(message => rowOf(message, about.vault)),
      {
        caption: 'Deposits, redemptions and transfers',
        numbers: [3, 4],
        empty: past.isAtBeginning() ? 'Nothing happened in it.' : 'Nothing of it is among these.',
      },
    ),
    h('p.pager', {}, h('span.quiet', {}, reachOf(past, known.length)), hasMore && button),
    refused ?? '',
  )
}

/** Positions go by when something was stored: history that was fetched late stands among the last. @param {Past} past @param {number} count */
const reachOf = (past, count) =>
  past.isAtBeginning()
    ? `${whole(count)} events, all that are stored, by time`
    : `${whole(count)} by time, found among the ${whole(past.lookedAt())} events of the network that were stored last; some that were stored before these may be newer`

/** @param {Message} message @param {any} vault */
function rowOf({ type, data, timestamp, transactionHash }, vault) {
  const decimals = vault.lpToken?.decimals ?? vault.asset.decimals
  const of = (/** @type {string | undefined} */ native, /** @type {number} */ digits) =>
    native === undefined ? '' : h('span', { title: exact(native, digits) }, amount(native, digits))
  const wallet = (/** @type {string} */ address) =>
    link(`#/wallet/${address}`, h('code', { title: address }, short(address)))
  const who =
    type !== 'ShareTransferred'
      ? wallet(data.owner)
      : data.from === ZERO
        ? wallet(data.to)
        : data.to === ZERO
          ? wallet(data.from)
          : h('span', {}, wallet(data.from), ' to ', wallet(data.to))
  return [
    moment(timestamp),
    wordOf(type, data),
    who,
    of(data.assets, vault.asset.decimals),
    of(data.shares, decimals),
    h('code', { title: transactionHash }, short(transactionHash)),
  ]
}

/** @param {string} type @param {any} data */
function wordOf(type, data) {
  if (type === 'Deposited') return 'deposit'
  if (type === 'Redeemed') return 'redemption'
  if (data.from === ZERO) return 'shares made'
  return data.to === ZERO ? 'shares burned' : 'transfer'
}
