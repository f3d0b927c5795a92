// Networks, and how far the answers of each reach.
import { ask, askReach } from './api.js'
import { h, table } from './dom.js'
import { lasting, moment, whole } from './format.js'

const AGAIN_MS = 5_000
/** A network is behind when its newest block is older than this many of its own blocks, and this many seconds. */
const BLOCKS_BEHIND = 10
const SECONDS_BEHIND = 60

/** @type {import('./main.js').View} */
export async function showNetworks({ signal }) {
  const all = await ask('v2/networks', {}, { signal })
  const place = h('div')
  const show = async () => {
    const reach = new Map((await askReach()).map(one => [one.network, one]))
    const names = [
      ...all.map((/** @type {any} */ network) => network.name),
      ...(reach.has('solana') ? ['solana'] : []),
    ]
    const indexed = names.filter(name => reach.has(name))
    place.replaceChildren(
      table(
        ['Network', 'Newest block', 'of', 'that is'],
        indexed.map(name => row(/** @type {import('./api.js').Reach} */ (reach.get(name)))),
        { caption: 'Networks', numbers: [1], empty: 'No network is indexed yet.' },
      ),
      h(
        'p.quiet',
        {},
        `Known and not indexed here: ${names.filter(name => !reach.has(name)).join(', ') || 'none'}.`,
      ),
    )
  }
  await show()
  const timer = setInterval(
    () => document.visibilityState === 'visible' && void show().catch(() => {}),
    AGAIN_MS,
  )
  signal.addEventListener('abort', () => clearInterval(timer))
  return { title: 'Networks', content: [h('h1', {}, 'Networks'), place] }
}

/** @param {import('./api.js').Reach} reach */
function row({ network, block, blockTime, secondsPerBlock }) {
  const age = Math.max(0, Math.floor(Date.now() / 1000) - blockTime)
  const isBehind = age > Math.max(SECONDS_BEHIND, BLOCKS_BEHIND * secondsPerBlock)
  return [
    network,
    whole(block),
    moment(blockTime),
    h(isBehind ? 'span.behind' : 'span.fresh', {}, `${lasting(age)} ago${isBehind ? ', behind' : ''}`),
  ]
}
