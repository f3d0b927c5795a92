// live.mjs <first> <last>: ends well where the process of this container answers /live on its metrics port, which is one
// of these; or where none listens because the container waits (processor.sh of a network that is not enabled).
import { readdirSync, readFileSync } from 'node:fs'

const [first, last] = process.argv.slice(2).map(Number)
const LISTENING = /:([0-9A-F]{4}) [0-9A-F]+:0000 0A/g
const read = path => {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return ''
  }
}
const ports = ['/proc/net/tcp', '/proc/net/tcp6']
  .flatMap(path => [...read(path).matchAll(LISTENING)])
  .map(([, port]) => Number.parseInt(port, 16))
  .filter(port => port >= first && port <= last)

if (ports.length === 0) {
  const isWaiting = readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .some(pid =>
      read(`/proc/${pid}/cmdline`)
        .split('\0')
        .slice(0, 2)
        .some(word => word.endsWith('deploy/processor.sh')),
    )
  process.exit(isWaiting ? 0 : 1)
}
const answer = await fetch(`http://127.0.0.1:${ports[0]}/live`, { signal: AbortSignal.timeout(4_000) }).catch(
  () => undefined,
)
process.exit(answer?.ok ? 0 : 1)
