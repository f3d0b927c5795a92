import { startEmbedded } from '../../../db/embedded/up.ts'
import { readEnv } from '../../../db/process/env.ts'
import { onShutdown } from '../../../db/process/shutdown.ts'

/** What a main does: start, register the stop, work. Prints the ids of what it started. */
const up = await startEmbedded(readEnv())
onShutdown('embedded parts', () => up.stop())
setInterval(() => {}, 1000)
process.stdout.write(`${JSON.stringify(up.pids())}\n`)
