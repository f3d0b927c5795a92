import { execFile } from 'node:child_process'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { loadEndpoints } from '../../../read-api/http/load-endpoints.ts'
import { serve } from '../../../read-api/http/serve.ts'
import type { ApiHarness } from '../harness.ts'
import { standWebhook } from '../webhooks/stand.ts'
import { type Call, everyCall, hasPython, writePrograms } from './programs.ts'

interface Said {
  status: number
  data: unknown
  asOf?: Record<string, number>
  used?: number
}

/** Both clients, each as a process of its own, over an API in which every example works. */
export function theClientsSpeak(apiOf: () => ApiHarness): void {
  let calls: Call[]
  let written: ReturnType<typeof writePrograms>
  let server: Awaited<ReturnType<typeof serve>>

  beforeAll(async () => {
    calls = everyCall(await loadEndpoints())
    written = writePrograms(calls)
    server = await serve(apiOf().app, { port: 0, host: '127.0.0.1' })
  })
  afterAll(async () => {
    await server?.close()
    written?.remove()
  })

  const run = (command: string, given: string[], input = '') =>
    new Promise<Record<string, Said>>((resolve, reject) => {
      const env = {
        ...process.env,
        BASE_URL: `http://127.0.0.1:${server.port}`,
        API_KEY: apiOf().apiKey,
      }
      const options = { cwd: written.folder, env, maxBuffer: 2 ** 28 }
      const child = execFile(command, given, options, (error, stdout, stderr) =>
        error ? reject(new Error(stderr, { cause: error })) : resolve(JSON.parse(stdout)),
      )
      child.stdin?.end(input)
    })

  /** The same by nothing but fetch. */
  const plain = async ({ method, path, inPath, query, body }: Call) => {
    const search = new URLSearchParams(
      Object.entries(query).flatMap(([name, value]) =>
        (Array.isArray(value) ? value : [value]).map((one): [string, string] => [name, String(one)]),
      ),
    )
    const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
      encodeURIComponent(String(inPath[name])),
    )
    const answer = await fetch(`http://127.0.0.1:${server.port}${filled}?${search}`, {
      method,
      headers: { 'x-api-key': apiOf().apiKey, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    return { answer, data: (await answer.json()) as unknown }
  }

  const expectSame = async (said: Record<string, Said>) => {
    expect(Object.keys(said).sort()).toEqual(calls.map(({ id }) => id).sort())
    await standWebhook(apiOf().pool)
    for (const call of calls) {
      const { answer, data } = await plain(call)
      const got = said[call.id]
      expect(got?.status, call.id).toBe(call.needs.length > 0 ? 503 : 200)
      if (answer.status !== 200)
        expect(JSON.stringify(got?.data)).toContain((data as { message: string }).message)
      // Each makes a webhook of its own, and lists those of the others.
      else if (call.path.startsWith('/beta/webhooks'))
        expect(Object.keys(got?.data as object), call.id).toEqual(Object.keys(data as object))
      else expect(got?.data, call.id).toEqual(data)
      if (got?.asOf)
        expect(
          Object.entries(got.asOf)
            .map(([network, block]) => `${network}=${block}`)
            .join(', '),
          call.id,
        ).toBe(answer.headers.get('x-as-of-block') ?? '')
      if (got?.used !== undefined) expect(String(got.used)).toBe(answer.headers.get('x-credits-used'))
    }
  }

  it('TypeScript: every operation answers as it does over HTTP', async () => {
    await expectSame(await run(process.execPath, ['--import', 'tsx', 'program.ts']))
  })

  // Skipped where there is no Python from 3.11.
  it.skipIf(!hasPython)('Python: every operation answers as it does over HTTP', async () => {
    const given = calls.map(({ id, inPath, query, body }) => ({
      id,
      arguments: { ...inPath, ...query, ...(body === undefined ? {} : { body }) },
    }))
    await expectSame(await run('python3', ['-W', 'error', 'program.py'], JSON.stringify(given)))
  })
}
