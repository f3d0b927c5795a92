import { appendFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { type OwnName, startOwn } from './own-servers.ts'
import { type Servers, System, type SystemOptions } from './system.ts'

export type Group = 'rpc' | 'data' | 'reorgs' | 'crashes' | 'head' | 'beyond' | 'hostile'

/** What a check may use besides the system itself. */
export interface Circumstances {
  /** Durations named by a check in seconds; shortened in the subset that runs with every test run. */
  seconds(real: number): number
  /** Of the soak. */
  soakSeconds: number
  servers: Servers
}

export interface Check {
  name: string
  group: Group
  /** When the fault happens: while history is being read, at the head of the chain, or before anything runs. */
  phase: 'start' | 'backfill' | 'head'
  options?: Partial<SystemOptions>
  /** Servers that the fault hits: the check gets its own. */
  own?: readonly OwnName[]
  /** Which of them lies on a small disk of its own. */
  onSmallDisk?: OwnName
  /** Which processes run; processor and worker unless told. */
  parts?: ('processor' | 'worker' | 'api')[]
  /** What is on the chain before anything runs; 60 blocks of life (1,500 for a backfill) unless told. */
  prepare?(system: System): void | Promise<void>
  /** The fault, from its beginning to its end. What it throws fails the check; what it gives is a note for the table. */
  inject(system: System, circumstances: Circumstances): Promise<unknown>
  /** What has to hold besides the tables being those of the oracle; after everything has caught up. */
  expect?(system: System, circumstances: Circumstances): Promise<unknown>
  /** Of those that `npm run test:slow` runs, shortened. */
  isQuick?: boolean
}

/** A check that makes its own chain and processes. */
export interface OwnCheck extends Pick<Check, 'name' | 'group' | 'isQuick'> {
  /** What it throws fails the check; what it gives is a note for the table. */
  run(circumstances: Circumstances): Promise<string>
}

export interface Outcome {
  passed: boolean
  seconds: number
  note: string
}

/** One run of a check on databases of its own. */
export async function runCheck(
  check: Check | OwnCheck,
  circumstances: Circumstances,
  seed: number,
): Promise<Outcome> {
  const began = Date.now()
  const outcome = (passed: boolean, note: string): Outcome => ({
    passed,
    seconds: (Date.now() - began) / 1000,
    note,
  })
  if ('run' in check) {
    return check.run(circumstances).then(
      note => outcome(true, note),
      (error: Error) => outcome(false, error.message),
    )
  }
  const own = check.own ? await startOwn(check.own, check.onSmallDisk) : undefined
  const { postgres, clickhouse, redis } = own?.servers ?? {}
  const servers: Servers = {
    databaseUrl: postgres?.url ?? circumstances.servers.databaseUrl,
    clickhouseUrl: clickhouse?.url ?? circumstances.servers.clickhouseUrl,
    ...(redis ? { redisUrl: redis.url } : {}),
  }
  const system = await System.open({
    seed,
    ...servers,
    ...(own ? { own: own.servers } : {}),
    ...(own?.disk ? { disk: own.disk } : {}),
    ...check.options,
  })
  try {
    if (check.prepare) await check.prepare(system)
    else system.chain.live(check.phase === 'backfill' ? 1500 : 60)
    if (check.phase !== 'start') {
      if (check.phase === 'backfill') system.node.faults = { delay: 10 }
      system.start(...(check.parts ?? ['processor', 'worker']))
      if (check.phase === 'backfill')
        await system.until('backfill', 120, async () => (await system.height()) > 50)
      else await system.settle()
    }
    const notes = [await check.inject(system, circumstances)]
    system.node.faults = {}
    const mending = Date.now()
    await system.settle()
    const mended = `caught up ${((Date.now() - mending) / 1000).toFixed(1)} s later`
    await system.compare()
    notes.push(await check.expect?.(system, circumstances), mended)
    return outcome(true, notes.filter(note => typeof note === 'string').join('; '))
  } catch (error) {
    return outcome(false, (error as Error).message)
  } finally {
    // What the processes said, for a look at why.
    const file = process.env['FAULT_WORDS']
    if (file) appendFileSync(file, `\n## ${check.name}\n${system.words()}`)
    await system.close().catch(() => {})
    await own?.stop()
  }
}

/** Blocks go on coming, one every `every` milliseconds, for some seconds. */
export async function liveFor(system: System, seconds: number, every = 500): Promise<void> {
  const end = Date.now() + seconds * 1000
  while (Date.now() < end) {
    system.chain.live(1)
    await pause(Math.min(every, Math.max(0, end - Date.now())))
  }
}
