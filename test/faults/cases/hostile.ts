import { figures, misled, swollen } from '../../hostile/compare.ts'
import { type Run, runWith } from '../../hostile/run.ts'
import { FAMILIES, type Stranger, strangers } from '../../hostile/strangers.ts'
import type { OwnCheck } from '../check.ts'
import { CheckFailedError, type Servers } from '../system.ts'

let honest: Promise<Run> | undefined

/** The run without strangers is made once: it is the same every time, and a test holds that. */
const without = (servers: Servers): Promise<Run> => {
  honest ??= runWith([], servers)
  return honest
}

const beside = (name: string, group: readonly Stranger[]): OwnCheck => ({
  name,
  group: 'hostile',
  async run({ servers }) {
    const expected = await without(servers)
    const found = await runWith(group, servers)
    const problems = [...misled(expected, found), ...swollen(expected, found)]
    if (problems.length > 0)
      throw new CheckFailedError(`${problems.length}: ${problems.slice(0, 5).join('; ')}`)
    const times = (of: number, than: number) => (of / than).toFixed(1)
    return `stop nobody, mislead nobody; history takes ${times(found.seconds, expected.seconds)} times as long, the head ${times(found.delays.p50, expected.delays.p50)}; ${figures(found)}; without strangers ${figures(expected)}`
  },
})

const checks: OwnCheck[] = [
  beside('nobody strange: two runs over the same chain are equal', []),
  ...FAMILIES.map(family =>
    beside(
      `strangers: ${family}`,
      strangers.filter(one => one.family === family),
    ),
  ),
  beside('every stranger at once', strangers),
]

export default checks
