import { spawn } from 'node:child_process'
import type { Command } from 'commander'
import { API_FLAGS } from '../../db/process/api-command.ts'
import { FOLLOW_PARENT } from '../../db/process/follow-parent.ts'
import { LOADER, scriptOf } from '../../db/process/script.ts'

/** The long-running processes, as `npm run` starts them: for whoever has the package and not the repository. */
export default function add(program: Command): void {
  program
    .command('dev')
    .description(
      'run everything on this machine: processors of the networks in .env, worker, API and GraphQL',
    )
    .action(() => run('jobs/dev'))
  program
    .command('processor <networks...>')
    .description('index networks, all in one process: their blocks into the event store')
    .action((networks: string[]) => run('processors/main', networks))
  program
    .command('worker')
    .description('make read models of the events')
    .action(() => run('jobs/main'))
  program
    .command('api')
    .description('serve the read API')
    .action(() => run('read-api/main', [], API_FLAGS))
  program
    .command('graphql')
    .description('serve the raw events as GraphQL')
    .action(() => run('db/graphql'))
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Runs a script in a process of its own and ends as that does; the process ends, too, when this one is killed. */
async function run(
  module: string,
  args: readonly string[] = [],
  flags: readonly string[] = [],
): Promise<void> {
  const child = spawn(process.execPath, [...flags, ...LOADER, ...FOLLOW_PARENT, scriptOf(module), ...args], {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  })
  // Of a terminal it gets Ctrl-C by itself; this one waits for it.
  for (const signal of SIGNALS)
    process.on(signal, () => {
      if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal)
    })
  const [code, signal] = await new Promise<[number | null, NodeJS.Signals | null]>((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (...ended) => resolve(ended))
  })
  process.exitCode = code ?? (signal === 'SIGINT' ? 130 : 1)
}
