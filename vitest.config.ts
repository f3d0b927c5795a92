import { configDefaults, defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { SLOW } from './test/slow.ts'

/** Minutes each: begun last, one of them would run alone. */
const LONGEST = [
  'test/faults/suite.e2e.test.ts',
  'test/jobs/replay.int.test.ts',
  'test/jobs/projections.int.test.ts',
  'test/processors/backfill.e2e.test.ts',
  'test/faults/reorgs.e2e.test.ts',
  'test/jobs/rebuild.int.test.ts',
  'test/read-api/fuzz.e2e.test.ts',
  'test/lending.e2e.test.ts',
  'test/hostile/strangers.e2e.test.ts',
  'test/chain/scenario.e2e.test.ts',
  'test/read-api/endpoints.int.test.ts',
]

/** A clone does not know how long its tests take, and would go by the size of their files. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const isLong = ({ moduleId }: TestSpecification) => LONGEST.some(name => moduleId.endsWith(name))
    return [...sorted.filter(isLong), ...sorted.filter(file => !isLong(file))]
  }
}

/** How often what is random is done, where the environment says it: deeper by night, or for a change that needs it. */
const depth = Object.fromEntries(
  ['FUZZ_RUNS', 'HISTORIES', 'WEBHOOK_KILLS'].flatMap(name => {
    const value = process.env[name]
    return value ? [[name, value]] : []
  }),
)

// Many tests start the same processes at once; the one that is about metrics names ports.
const env = { PROCESSOR_METRICS_PORT: 'off', WORKER_METRICS_PORT: 'off', API_METRICS_PORT: 'off' }

/** A level of tests: what stands on nothing, on databases, on databases and nodes. */
const level = (
  name: 'unit' | 'int' | 'e2e',
  more: { globalSetup?: string[]; pool?: 'threads'; isolate?: boolean },
) => ({
  extends: true as const,
  test: {
    name,
    include: [`test/**/*.${name}.test.ts`],
    exclude: [...configDefaults.exclude, ...SLOW],
    ...more,
  },
})

export default defineConfig({
  test: {
    setupFiles: ['test/seed.ts'],
    testTimeout: 120_000,
    // Only what fails takes that long.
    expect: { poll: { timeout: 60_000 } },
    hookTimeout: 240_000,
    sequence: { sequencer: LongestFirst },
    pool: 'forks',
    // Databases and local nodes are shared by two cores: more workers make every test slower.
    maxWorkers: 2,
    env,
    projects: [
      level('unit', { pool: 'threads', isolate: false }),
      level('int', { globalSetup: ['test/setup.ts'], isolate: false }),
      level('e2e', { globalSetup: ['test/setup.ts'], isolate: false }),
      {
        extends: true as const,
        test: {
          name: 'slow',
          include: SLOW,
          globalSetup: ['test/setup.ts'],
          isolate: false,
          env: { ...env, FUZZ_RUNS: '6', WEBHOOK_KILLS: '25', ...depth },
          testTimeout: 300_000,
        },
      },
    ],
  },
})
