import type { Run, StoredEvent } from './run.ts'

/**
 * MB that a process may have grown to beside strangers, beyond what it needs without them. Most of it is one answer of a
 * node: logs of 36 MB, as text and as values, before anything of them can be left out.
 */
const MOST_MEMORY_MORE = 350

const keyOf = ({ type, contract, block, log, tx, data }: StoredEvent) =>
  `${block} ${log ?? '-'} ${tx ?? '-'} ${type} ${contract ?? '-'} ${data}`

/** What an event is about: a contract, or one of the markets in it, which anybody may open. */
const subjectOf = ({ contract, data }: StoredEvent): string =>
  /"market": "(0x[0-9a-f]{64})"/.exec(data)?.[1] ?? contract ?? ''
const subjectsOf = (events: readonly StoredEvent[]): Set<string> => new Set(events.map(subjectOf))

/** What a run with strangers shows otherwise than the one without: nothing, where they mislead nobody. */
export function misled(honest: Run, strange: Run): string[] {
  const found: string[] = []
  const mine = new Set(honest.events.map(keyOf))
  const theirs = new Set(strange.events.map(keyOf))
  const missing = [...mine].filter(key => !theirs.has(key))
  if (missing.length > 0) found.push(`${missing.length} events of the honest are missing, e.g. ${missing[0]}`)
  const known = subjectsOf(honest.events)
  const transactions = new Set(honest.events.map(({ tx }) => tx))
  const extra = strange.events.filter(
    event => transactions.has(event.tx) && !mine.has(keyOf(event)) && known.has(subjectOf(event)),
  )
  if (extra[0]) found.push(`${extra.length} events too many of the honest, e.g. ${keyOf(extra[0])}`)

  for (const [question, { status, body }] of honest.answers) {
    const other = strange.answers.get(question)
    if (other?.status !== status) found.push(`${question}: ${other?.status}, not ${status}`)
    else if (status !== 200) found.push(`${question}: ${status} ${body.slice(0, 200)}`)
    else if (withoutGas(other.body) !== withoutGas(body))
      found.push(`${question}: ${difference(withoutGas(body), withoutGas(other.body))}`)
  }
  for (const [question, { status, body }] of strange.aboutStrangers)
    if (status >= 500) found.push(`${question}: ${status} ${body.slice(0, 200)}`)
  return found
}

/** Fuller blocks cost everybody more gas: what is left of the chain's own coin is no figure of ours. */
const withoutGas = (body: string): string =>
  body.replaceAll(/("0x[eE]{40}".*?"balanceNative":)"\d+"/g, '$1"what is left"')

/** Processes whose memory grew beyond the bound. */
export function swollen(honest: Run, strange: Run): string[] {
  return Object.entries(strange.memory)
    .filter(([name, mb]) => mb > (honest.memory[name] ?? 0) + MOST_MEMORY_MORE)
    .map(([name, mb]) => `${name}: ${mb} MB, ${honest.memory[name]} MB without strangers`)
}

function difference(expected: string, found: string): string {
  let at = 0
  while (at < expected.length && expected[at] === found[at]) at++
  const around = (text: string) => text.slice(Math.max(0, at - 80), at + 120)
  return `«${around(found)}», not «${around(expected)}»`
}

export const figures = ({ seconds, delays, memory, events, deadLetters }: Run): string =>
  `history ${seconds.toFixed(1)} s, head ${delays.p50} ms (worst ${delays.worst}), ${events.length} events, ${deadLetters} dead letters, ${Object.entries(
    memory,
  )
    .map(([name, mb]) => `${name} ${mb} MB`)
    .join(', ')}`
