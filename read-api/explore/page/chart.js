// Lines and bars over time, by uPlot. What is drawn can be read as a table, too.
import { h, table } from './dom.js'
import { day } from './format.js'

/** @typedef {typeof import('uplot')} Charts */

/** @type {Promise<Charts> | undefined} */
let loading

/** The library comes when the first chart is drawn: lists do not wait for it. @returns {Promise<Charts>} */
function charts() {
  loading ??= new Promise((resolve, reject) => {
    const script = h('script', { src: 'charts/uPlot.iife.min.js' })
    script.addEventListener('load', () => resolve(/** @type {any} */ (window).uPlot))
    script.addEventListener('error', () => reject(new Error('The library that draws charts did not load.')))
    document.head.append(h('link', { rel: 'stylesheet', href: 'charts/uPlot.min.css' }), script)
  })
  return loading
}

const HEIGHT = 220
const ROWS_OF_TABLE = 400

/**
 * @typedef {{ label: string, values: (number | null)[], color?: 'line' | 'other' | 'third', isBars?: boolean }} Series
 * @param {{ title: string, times: number[], series: Series[], format: (value: number) => string, empty?: string }} what
 * times: unix seconds, ascending
 */
export async function chart({ title, times, series, format, empty = 'Nothing is known over this time.' }) {
  if (times.length === 0) return h('p.quiet', {}, empty)
  const Plot = await charts()
  const place = h('div.chart', {
    role: 'img',
    'aria-label': `${title}, ${day(times[0] ?? 0)} to ${day(times.at(-1) ?? 0)}`,
  })
  const figure = h(
    'figure',
    {},
    place,
    h(
      'details.table-of-chart',
      {},
      h('summary', {}, 'As a table'),
      table(
        ['Day', ...series.map(({ label }) => label)],
        times
          .map((time, at) => [day(time), ...series.map(({ values }) => said(values[at], format))])
          .slice(-ROWS_OF_TABLE)
          .reverse(),
        { caption: title, numbers: series.map((_, index) => index + 1) },
      ),
    ),
  )
  drawWhenSeen(place, Plot, { times, series, format })
  return figure
}

/** @param {number | null | undefined} value @param {(value: number) => string} format */
const said = (value, format) => (value === null || value === undefined ? 'not known' : format(value))

/**
 * @param {HTMLElement} place @param {Charts} Plot
 * @param {{ times: number[], series: Series[], format: (value: number) => string }} what
 */
function drawWhenSeen(place, Plot, { times, series, format }) {
  // Canvas knows no var() and no light-dark(): an element of that colour says what it comes to.
  const color = (/** @type {string} */ name) => {
    const probe = h(`span.ink-${name}`)
    place.append(probe)
    const found = getComputedStyle(probe).color
    probe.remove()
    return found
  }
  /** @type {import('uplot') | undefined} */
  let plot
  const draw = (/** @type {number} */ width) => {
    const bars = Plot.paths.bars?.({ size: [0.8, 24] })
    plot = new Plot(
      {
        width,
        height: HEIGHT,
        cursor: { points: { size: 6 } },
        // Days are told in UTC, as everywhere in this API.
        tzDate: seconds => Plot.tzDate(new Date(seconds * 1000), 'Etc/UTC'),
        scales: {
          x: { time: true },
          ...(series.some(({ isBars }) => isBars) ? { y: { range: aroundZero } } : {}),
        },
        axes: [
          {
            ...axis(color),
            values: (/** @type {unknown} */ _, /** @type {number[]} */ ticks) =>
              ticks.map(tick => day(tick).slice(5)),
          },
          {
            ...axis(color),
            size: 84,
            values: (/** @type {unknown} */ _, /** @type {number[]} */ ticks) => ticks.map(format),
          },
        ],
        series: [
          {
            label: 'Day',
            value: (/** @type {unknown} */ _, /** @type {number | null} */ time) =>
              time === null ? '' : day(time),
          },
          ...series.map(({ label, isBars, color: which = 'line' }) => ({
            label,
            stroke: color(which),
            width: 1.75,
            spanGaps: false,
            points: { show: times.length === 1 },
            value: (/** @type {unknown} */ _, /** @type {number | null} */ value) =>
              value === null ? '' : format(value),
            ...(isBars && bars ? { paths: bars, fill: color(which) } : {}),
          })),
        ],
      },
      [times, ...series.map(({ values }) => values)],
      place,
    )
  }
  const resized = new ResizeObserver(([entry]) => {
    const width = Math.floor(entry?.contentRect.width ?? 0)
    if (width === 0) return
    if (plot) plot.setSize({ width, height: HEIGHT })
    else draw(width)
  })
  resized.observe(place)
  const scheme = matchMedia('(prefers-color-scheme: dark)')
  scheme.addEventListener('change', function again() {
    plot?.destroy()
    plot = undefined
    // Of a page that was left nothing is drawn any more.
    if (place.isConnected) draw(Math.floor(place.clientWidth))
    else scheme.removeEventListener('change', again)
  })
}

/** Bars stand on zero. @param {unknown} _ @param {number} least @param {number} most @returns {[number, number]} */
const aroundZero = (_, least, most) => [Math.min(0, least) * 1.05, Math.max(0, most) * 1.05 || 1]

/** @param {(name: string) => string} color */
const axis = color => ({
  stroke: color('quiet'),
  grid: { stroke: color('line-faint'), width: 1 },
  ticks: { stroke: color('line-faint'), width: 1 },
  font: '11px system-ui, sans-serif',
})
