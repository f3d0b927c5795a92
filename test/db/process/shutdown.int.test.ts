import { spawn } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const root = fileURLToPath(new URL('../../../', import.meta.url))

/** A process with this program; `said` resolves with what it wrote when that matches. */
function run(program: string) {
  const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', program], {
    cwd: root,
    env: { ...process.env, LOG_LEVEL: 'silent' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let text = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
  })
  const ended = new Promise<number | null>(resolve => child.once('exit', resolve))
  const said = (pattern: RegExp) => expect.poll(() => text).toMatch(pattern)
  return { child, ended, said, text: () => text }
}

const closing = (ms: number) => `
  import { onShutdown } from './db/process/shutdown.ts'
  onShutdown('slow', async () => {
    await new Promise(resolve => setTimeout(resolve, ${ms}))
    console.log('closed')
  })
  setInterval(() => {}, 1000)
  console.log('ready')`

it('a Ctrl-C that comes twice at once, as by npm, closes everything all the same', async () => {
  const { child, ended, said, text } = run(closing(400))
  await said(/ready/)
  child.kill('SIGINT')
  await sleep(30)
  child.kill('SIGINT')
  expect(await ended).toBe(0)
  expect(text()).toContain('closed')
})

it('a second Ctrl-C ends it at once', async () => {
  const { child, ended, said, text } = run(closing(10_000))
  await said(/ready/)
  child.kill('SIGINT')
  await sleep(3_000)
  child.kill('SIGINT')
  expect(await ended).toBe(130)
  expect(text()).not.toContain('closed')
})

const isAlive = (pid: number) => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

it('what is supervised ends with its supervisor, even when that is killed', async () => {
  const { child, ended, said, text } = run(`
    import { supervise } from './jobs/supervisor.ts'
    const { processes } = supervise(
      [{ name: 'child', args: ['--input-type=module', '-e', 'setInterval(() => {}, 1000); console.log("up")'] }],
      line => console.log(line, processes[0].pid),
    )`)
  await said(/up \d+/)
  const pid = Number(/up (\d+)/.exec(text())?.[1])
  expect(isAlive(pid)).toBe(true)
  child.kill('SIGKILL')
  await ended
  await expect.poll(() => isAlive(pid)).toBe(false)
})
