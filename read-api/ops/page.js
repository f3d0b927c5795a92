// The operator's page: asks for status.json and draws it. Text goes in as text: reasons of dead letters quote the chain.

const EVERY_MS = 5_000
const WIDTH = 150
const HEIGHT = 28

/** Seconds in words: 42 s, 3 min, 2.5 h, 4 d. Unknown is a dash. */
export function duration(seconds) {
  if (seconds === null || seconds === undefined) return '–'
  if (seconds < 100) return `${Math.round(seconds)} s`
  if (seconds < 6_000) return `${Math.round(seconds / 60)} min`
  if (seconds < 360_000) return `${Math.round(seconds / 360) / 10} h`
  return `${Math.round(seconds / 86_400)} d`
}

/** Events per second between one moment and the next; null where either is not known. */
export function throughput(at, head) {
  return head.map((value, i) => {
    const before = head[i - 1]
    const seconds = at[i] - at[i - 1]
    if (value === null || before === null || before === undefined || !(seconds > 0)) return null
    return Math.max(0, (value - before) / seconds)
  })
}

/** The d of an SVG path through the values over their moments, top at `max`; a gap where a value is null. */
export function linePath(at, values, { width, height, from, to, max }) {
  let isGap = true
  let path = ''
  for (const [i, value] of values.entries()) {
    if (value === null) {
      isGap = true
      continue
    }
    const x = ((at[i] - from) / (to - from)) * width
    const y = height - (max > 0 ? value / max : 0) * height
    path += `${isGap ? 'M' : 'L'}${x.toFixed(1)},${y.toFixed(1)}`
    isGap = false
  }
  return path
}

const number = value => (value === null || value === undefined ? '–' : value.toLocaleString('en-GB'))
const time = text => new Date(text).toISOString().slice(0, 19).replace('T', ' ')

function element(name, properties = {}, ...children) {
  const made = document.createElement(name)
  Object.assign(made, properties)
  made.append(...children)
  return made
}

/** Cells are text, elements, or [text, class]. */
function fill(id, head, rows, nothing) {
  const table = document.getElementById(id)
  if (rows.length === 0) {
    // A caption is as narrow as the table, which is empty.
    table.replaceChildren(
      element('tbody', {}, element('tr', {}, element('td', { className: 'quiet nothing' }, nothing))),
    )
    return
  }
  const cell = content => {
    if (content instanceof Node) return element('td', {}, content)
    const [text, className] = Array.isArray(content) ? content : [content, '']
    return element('td', { className }, text)
  }
  /** On a phone a row is a card, whose cells say themselves what they are. */
  const labelled = (made, i) => {
    made.dataset.label = head[i] ?? ''
    return made
  }
  table.replaceChildren(
    element('thead', {}, element('tr', {}, ...head.map(title => element('th', { scope: 'col' }, title)))),
    element(
      'tbody',
      {},
      ...rows.map(row => element('tr', {}, ...row.map((content, i) => labelled(cell(content), i)))),
    ),
  )
}

const SVG = 'http://www.w3.org/2000/svg'

/** An hour as a line, with its highest value beside it. */
function plot(at, values, now, label, format) {
  const known = values.filter(value => value !== null)
  const max = known.reduce((most, value) => Math.max(most, value), 0)
  const svg = document.createElementNS(SVG, 'svg')
  for (const [name, value] of Object.entries({
    width: WIDTH,
    height: HEIGHT,
    viewBox: `0 -1 ${WIDTH} ${HEIGHT + 2}`,
    role: 'img',
    'aria-label':
      known.length > 0 ? `${label}, at most ${format(max)} in the last hour` : `${label}: not known`,
  }))
    svg.setAttribute(name, value)
  const title = document.createElementNS(SVG, 'title')
  title.textContent = svg.getAttribute('aria-label')
  const path = document.createElementNS(SVG, 'path')
  path.setAttribute(
    'd',
    linePath(at, values, { width: WIDTH, height: HEIGHT, from: now - 3_600, to: now, max }),
  )
  svg.append(title, path)
  return element('div', { className: 'plot' }, svg, known.length > 0 ? `≤ ${format(max)}` : '–')
}

const rate = value => `${value >= 10 ? Math.round(value).toLocaleString('en-GB') : value.toFixed(1)}/s`

/** Whether somebody has to look. An old head is none of it where the chain itself is no further: a test chain's clock stands. */
export const isBad = ({ kind, state }) =>
  kind !== 'registry' && (state.startsWith('STUCK') || state === 'no processor')

/** What is to be said of chains besides their figures: one line each. */
export function remarks({ fault, streams }) {
  return [
    ...(fault ? [fault] : []),
    ...streams.flatMap(({ name, withoutState, samplesSince }) =>
      withoutState === undefined || withoutState === null
        ? []
        : [
            `${name}: ${samplesSince ? `samples since block ${number(samplesSince)}` : 'samples where there is state'}: the node keeps no state of old blocks (met at block ${number(withoutState)}).`,
          ],
    ),
    ...streams.flatMap(({ name, sampledInTurns }) =>
      sampledInTurns.map(
        ({ standing, vaults, hours }) =>
          `${name}: of ${number(vaults)} vaults that nobody listed (${standing}) the last are sampled once in ${number(hours)} hours.`,
      ),
    ),
    ...streams.flatMap(({ name, olderLogs }) =>
      olderLogs > 0 ? [`${name}: what ${number(olderLogs)} contracts logged long ago is being fetched.`] : [],
    ),
  ]
}

/** Projections that are behind, the furthest first: over many chains a table of all would be mostly zeros. */
export function behindOf(streams) {
  return streams
    .flatMap(({ name, projections }) =>
      projections.map(({ name: projection, behind }) => [projection, name, behind]),
    )
    .filter(([, , behind]) => behind > 0)
    .sort((a, b) => b[2] - a[2])
}

function draw(status) {
  document.getElementById('remarks').replaceChildren(...remarks(status).map(text => element('li', {}, text)))
  drawStreams(status)
  drawWork(status)
  drawVerifications(status)
}

function drawStreams({ at, streams, history }) {
  fill(
    'streams',
    [
      'chain',
      'state',
      'block',
      'chain at',
      'lag',
      'events',
      'waiting',
      'dead letters',
      'lag, last hour',
      'events/s, last hour',
    ],
    streams.map(stream => {
      const { lag = [], head = [] } = history.streams[stream.name] ?? {}
      const isChain = stream.kind !== 'registry'
      return [
        [stream.name, 'name'],
        [stream.state, isBad(stream) ? 'bad' : 'quiet'],
        [isChain ? number(stream.headBlock) : '', 'number'],
        [isChain ? number(stream.chainHead) : '', 'number'],
        [isChain ? duration(stream.age) : '', isBad(stream) ? 'number bad' : 'number'],
        [number(stream.head), 'number'],
        [number(stream.waitingContracts + stream.olderLogs), 'number'],
        [number(stream.deadLetters), stream.deadLetters > 0 ? 'number bad' : 'number'],
        isChain ? plot(history.at, lag, at, `Lag of ${stream.name}`, duration) : '',
        plot(history.at, throughput(history.at, head), at, `Events a second of ${stream.name}`, rate),
      ]
    }),
    'Nothing is stored yet: no processor has run on this event store.',
  )
}

function drawWork({ streams, queue, deadLetters, replays }) {
  const hasBegun = streams.some(({ projections }) => projections.length > 0)
  fill(
    'projections',
    ['projection', 'chain', 'events behind'],
    behindOf(streams).map(([projection, name, behind]) => [projection, name, [number(behind), 'number']]),
    hasBegun ? 'All have caught up.' : 'No projection has begun.',
  )

  fill(
    'replays',
    ['for', 'projection', 'stream', 'progress', '', 'begun (UTC)'],
    replays.map(({ purpose, projection, stream, position, goal, startedAt }) => [
      purpose,
      projection,
      stream,
      element('progress', { max: Math.max(1, goal), value: position }),
      [`${number(position)} of ${number(goal)}`, 'number'],
      time(startedAt),
    ]),
    'None.',
  )

  fill(
    'queue',
    ['state', 'jobs'],
    queue ? Object.entries(queue).map(([state, count]) => [state, [number(count), 'number']]) : [],
    'The queue does not answer.',
  )

  fill(
    'letters',
    ['stream', 'stage', 'how many', 'newest (UTC)', 'reason'],
    deadLetters.map(({ stream, stage, count, newest, reason }) => [
      stream,
      stage,
      [number(count), 'number'],
      time(newest),
      [reason, 'reason'],
    ]),
    'None.',
  )
}

function drawVerifications({ verifications }) {
  const different = verifications.filter(({ isEqual }) => !isEqual)
  const newest = verifications
    .map(({ checkedAt }) => checkedAt)
    .sort()
    .at(-1)
  fill(
    'verifications',
    ['table', 'stream', 'outcome', 'when (UTC)'],
    different.length > 0
      ? different.map(({ table, stream, checkedAt }) => [
          table,
          stream,
          ['different', 'bad'],
          time(checkedAt),
        ])
      : newest
        ? [[`all ${verifications.length} tables`, '', 'equal', time(newest)]]
        : [],
    'Never verified: npm run verify.',
  )
}

async function refresh() {
  const moment = document.getElementById('moment')
  try {
    // Without the name and password that the page's own address may hold: fetch refuses those.
    const answer = await fetch(new URL('status.json', location.origin + location.pathname))
    const body = await answer.json()
    if (!answer.ok) throw new Error(body.message)
    draw(body)
    moment.textContent = `as of ${time(body.at * 1000)} UTC`
    moment.className = ''
  } catch (error) {
    moment.textContent = `Not up to date: ${error.message}`
    moment.className = 'bad'
  }
  setTimeout(refresh, EVERY_MS)
}

if (typeof document !== 'undefined') void refresh()
