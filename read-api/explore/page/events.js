// What happened in a vault, newest first: pages of the feed, read backwards by stretches of its network's events.
import { ask } from './api.js'
import { h, later, link, table } from './dom.js'
import { amount, exact, moment, short, whole } from './format.js'

const ZERO = `0x${'0'.repeat(40)}`
const TYPES = 'Deposited,Redeemed,ShareTransferred'
/** Rows of a page. */
const ROWS = 25
/** Events of the network that are looked through at once, and how often for one page. */
const STRETCH = 10_000
const STRETCHES = 4

/**
 * @typedef {{ id: string, kind: string, position: number, type: string, blockNumber: string, timestamp: number,
 *   transactionHash: string, logIndex: number, data: any }} Message
 * @typedef {{ read: (signal: AbortSignal) => Promise<Message[]>, lookedAt: () => number, isAtBeginning: () => boolean }} Past
 */

/** @param {import('./vault.js').About} about @returns {Promise<HTMLElement>} */
export async function events(about) {
  return page(about, await pastOf(about), [], 0)
}

/** What the feed tells of a vault, stretch by stretch towards the beginning. @param {import('./vault.js').About} about @returns {Promise<Past>} */
async function pastOf({ vault, signal }) {
  const asked = { networks: vault.network.name, vaults: vault.address, types: TYPES, perPage: 1000 }
  const { after } = await ask('beta/feed', asked, { signal })
  const [chain = '', head = '0'] = String(after).split('.')
  let end = Number(head)
  /** What forks took back, as it was told later than what it is of. @type {{ fromPosition: number, toPosition: number }[]} */
  const gone = []
  return {
    lookedAt: () => Number(head) - end,
    isAtBeginning: () => end === 0,
    async read(until) {
      const begin = Math.max(0, end - STRETCH)
      /** @type {Message[]} */
      const found = []
      for (let from = begin; from < end; ) {
        const answer = await ask('beta/feed', { ...asked, after: `${chain}.${from}` }, { signal: until })
        found.push(...answer.messages.filter((/** @type {Message} */ { position }) => position <= end))
        const reached = Number(String(answer.after).split('.')[1])
        if (answer.isCaughtUp || reached <= from) break
        from = reached
      }
      end = begin
      gone.push(...found.filter(({ kind }) => kind === 'retraction').map(({ data }) => data))
      const stands = (/** @type {Message} */ { position }) =>
        !gone.some(({ fromPosition, toPosition }) => position >= fromPosition && position <= toPosition)
      return withoutTwins(found.filter(message => message.kind === 'event' && stands(message))).reverse()
    },
  }
}

/** Shares that a deposit makes and a redemption burns are told twice. @param {Message[]} messages */
function withoutTwins(messages) {
  const flows = new Set(
    messages.filter(({ type }) => type !== 'ShareTransferred').map(({ transactionHash }) => transactionHash),
  )
  return messages.filter(
    ({ type, data, transactionHash }) =>
      type !== 'ShareTransferred' || !([data.from, data.to].includes(ZERO) && flows.has(transactionHash)),
  )
}

/**
 * @param {import('./vault.js').About} about @param {Past} past @param {Message[]} known what was read already
 * @param {number} first place of the first row @returns {Promise<HTMLElement>}
 */
async function page(about, past, known, first) {
  for (let i = 0; i < STRETCHES && known.length < first + ROWS && !past.isAtBeginning(); i++)
    known.push(...(await past.read(about.signal)))
  const shown = known.slice(first, first + ROWS)
  const place = h('div')
  const turn = (/** @type {number} */ to, /** @type {string} */ words) =>
    h(
      'button',
      { type: 'button', onclick: () => place.replaceWith(later(() => page(about, past, known, to))) },
      words,
    )
  const hasMore = known.length > first + ROWS || !past.isAtBeginning()
  const isFull = shown.length === ROWS
  place.append(
    table(
      ['When', 'What', 'Who', `Amount, ${about.vault.asset.symbol}`, 'Shares', 'Transaction'],
      shown.map(message => rowOf(message, about.vault)),
      {
        caption: 'Deposits, redemptions and transfers',
        numbers: [3, 4],
        empty: past.isAtBeginning() ? 'Nothing happened in it.' : 'Nothing happened in it in this time.',
      },
    ),
    h(
      'p.pager',
      {},
      first > 0 ? turn(Math.max(0, first - ROWS), '← newer') : '',
      h(
        'span.quiet',
        {},
        past.isAtBeginning()
          ? `${whole(known.length)} events from the beginning on`
          : `${whole(known.length)} among the newest ${whole(past.lookedAt())} of the network`,
      ),
      hasMore ? turn(isFull ? first + ROWS : first, isFull ? 'older →' : 'look further back →') : '',
    ),
  )
  return place
}

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
