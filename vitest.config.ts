import { configDefaults, defineConfig } from 'vitest/config'

export const SLOW = [
  'test/faults/instances.e2e.test.ts',
  'test/faults/kills.e2e.test.ts',
  'test/faults/reorgs.e2e.test.ts',
  'test/jobs/replay.int.test.ts',
]

export const settings = {
  include: ['test/**/*.{unit,int,e2e}.test.ts'],
  globalSetup: ['test/setup.ts'],
  testTimeout: 120_000,
  hookTimeout: 240_000,
  pool: 'forks' as const,
  // Databases and local nodes are shared by two cores: more workers make every test slower.
  maxWorkers: 2,
  // Many tests start the same processes at once; the one that is about metrics names ports.
  env: { PROCESSOR_METRICS_PORT: 'off', WORKER_METRICS_PORT: 'off', API_METRICS_PORT: 'off' },
}

export default defineConfig({ test: { ...settings, exclude: [...configDefaults.exclude, ...SLOW] } })
