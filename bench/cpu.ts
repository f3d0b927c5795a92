import { readFileSync } from 'node:fs'
import { z } from 'zod'

/**
 * What a CPU was busy with, as a table: `node --import tsx bench/cpu.ts <file.cpuprofile> <from> <events>`, of what
 * `node --cpu-prof --import tsx bench/run.ts portal` wrote, from so many seconds after its beginning, while so many events were stored.
 */
const profileSchema = z.object({
  nodes: z.array(
    z.object({ id: z.number(), callFrame: z.object({ functionName: z.string(), url: z.string() }) }),
  ),
  samples: z.array(z.number()),
  timeDeltas: z.array(z.number()),
})

/** Names of parts, and what the places in them look like; the first that fits. */
const PARTS: [string, RegExp][] = [
  ['nothing: waiting', /^\(idle\)/],
  ['garbage collection', /^\(garbage collector\)/],
  ['decompressing', /node:zlib/],
  ['HTTP client', /node:internal\/deps\/undici/],
  ['reading and checking blocks', /\/processors\/source\//],
  ['decoding logs', /\/processors\/(handling\/decode|protocols\/)|\/abi\//],
  ['handling blocks', /\/processors\//],
  ['encoding and appending events', /\/db\/events\//],
  ['Postgres client', /\/node_modules\/pg/],
  ['other packages', /\/node_modules\//],
  ['Node itself', /node:|^\S* $|^\(program\)/],
]

const [file = '', from = '0', events = '0'] = process.argv.slice(2)
const { nodes, samples, timeDeltas } = profileSchema.parse(JSON.parse(readFileSync(file, 'utf8')))
const partOf = new Map(
  nodes.map(({ id, callFrame: { functionName, url } }) => [
    id,
    PARTS.find(([, place]) => place.test(`${functionName} ${url}`))?.[0] ?? 'the rest',
  ]),
)
const spent = new Map<string, number>()
let at = 0
for (const [i, id] of samples.entries()) {
  const micros = timeDeltas[i] ?? 0
  at += micros
  if (at < Number(from) * 1e6) continue
  const part = partOf.get(id) ?? 'the rest'
  spent.set(part, (spent.get(part) ?? 0) + micros)
}
const idle = PARTS[0]?.[0] ?? ''
const busy = [...spent].reduce((sum, [part, micros]) => (part === idle ? sum : sum + micros), 0)
const rows = [...spent]
  .filter(([part]) => part !== idle)
  .sort((a, b) => b[1] - a[1])
  .map(
    ([part, micros]) =>
      `| ${part} | ${(micros / Number(events)).toFixed(1)} | ${((100 * micros) / busy).toFixed(0)} % |`,
  )
process.stdout.write(
  [
    '| of the processor’s CPU | ms per 1,000 events | share |',
    '|---|---|---|',
    ...rows,
    `| all | ${(busy / Number(events)).toFixed(1)} | |`,
    '',
  ].join('\n'),
)
