import { type ChildProcess, spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { createServer, Socket } from 'node:net'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import { NodeFailedError, RpcError } from './errors.ts'

const rpcAnswer = z.union([
  z.object({ error: z.object({ code: z.number(), message: z.string() }) }),
  z.object({ result: z.unknown() }),
])

export async function callRpc(url: string, method: string, params: unknown[]): Promise<unknown> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  const answer = rpcAnswer.parse(await response.json())
  if ('error' in answer) throw new RpcError(method, answer.error.code, answer.error.message)
  return answer.result
}

/** The binary inside the package of this platform; the wrapper's own bin needs an install script to have run. */
export function anvilBinary(): string {
  const require = createRequire(import.meta.url)
  const arch = process.arch === 'x64' ? 'amd64' : process.arch
  const platform = process.platform === 'win32' ? 'win32' : process.platform
  const name = `@foundry-rs/anvil-${platform}-${arch}`
  try {
    const binary = process.platform === 'win32' ? 'anvil.exe' : 'anvil'
    return join(dirname(require.resolve(`${name}/package.json`)), 'bin', binary)
  } catch (cause) {
    throw new NodeFailedError(`${name} is not installed: run npm install (with optional dependencies)`, {
      cause,
    })
  }
}

/**
 * Kills the node when this process ends: an exit handler for ordinary ends, and for SIGKILL a shell that waits for
 * the pipe from us to close.
 */
export function guardAgainstOrphan(child: ChildProcess): { end(): void } {
  const onExit = () => child.kill('SIGKILL')
  process.once('exit', onExit)
  const watcher =
    process.platform === 'win32'
      ? undefined
      : spawn('/bin/sh', ['-c', `cat >/dev/null; kill -9 ${child.pid} 2>/dev/null`], {
          stdio: ['pipe', 'ignore', 'ignore'],
          detached: true,
        })
  const end = () => {
    process.off('exit', onExit)
    // The watcher goes first, so that it cannot kill a process that got the number later.
    watcher?.kill('SIGKILL')
  }
  child.once('exit', end)
  // Nor do the two keep this process from ending by itself.
  for (const each of [watcher, child]) {
    each?.unref()
    for (const pipe of each?.stdio ?? []) if (pipe instanceof Socket) pipe.unref()
  }
  return { end }
}

export async function untilAnswering(child: ChildProcess, rpcUrl: string): Promise<void> {
  let words = ''
  child.stderr?.on('data', chunk => {
    words = `${words}${chunk}`.slice(-2000)
  })
  const failed = new Promise<never>((_, reject) => {
    child.once('error', cause => reject(new NodeFailedError('anvil could not be started', { cause })))
    child.once('exit', code => reject(new NodeFailedError(`anvil ended with code ${code}: ${words}`)))
  })
  failed.catch(() => {})
  const deadline = performance.now() + 20_000
  const answering = async () => {
    while (performance.now() < deadline) {
      try {
        await callRpc(rpcUrl, 'eth_chainId', [])
        return
      } catch {
        await new Promise(resolve => setTimeout(resolve, 25))
      }
    }
    throw new NodeFailedError(`anvil did not answer on ${rpcUrl} within 20 s`)
  }
  await Promise.race([answering(), failed])
}

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const bound = server.address()
      const port = typeof bound === 'object' && bound !== null ? bound.port : 0
      server.close(() => resolve(port))
    })
  })
}
