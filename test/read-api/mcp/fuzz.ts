import fc from 'fast-check'
import { expect } from 'vitest'
import type { BoundTool } from '../../../read-api/mcp/bind.ts'
import { stand } from '../stand.ts'
import { exampleOf } from './asking.ts'

type Send = (name: string, given: unknown) => Promise<{ status: number; text: string }>

const RUNS = Number(process.env['FUZZ_RUNS'] ?? 1)

const values = fc.oneof(
  fc.constantFrom(
    ...Object.values(stand),
    'USDX',
    'deposit',
    '',
    '..',
    '../..',
    '\ud800',
    '🦊',
    'x'.repeat(3_000),
  ),
  fc.constantFrom(null, true, false, 0, -1, 1.5, 1e308, 2 ** 60, [], {}, [[]], ['USDX', null], { $gt: '' }),
  fc.double(),
  fc.jsonValue({ maxDepth: 3 }),
  fc.string({ unit: 'binary', maxLength: 200 }),
)

/** Every tool by its example with any argument replaced by anything, and by arguments that are nothing of the kind. */
export async function fuzzTools(tools: readonly BoundTool[], send: Send): Promise<void> {
  for (const bound of tools) {
    const names = Object.keys(bound.inputSchema['properties'] as object)
    const examples = [...bound.routes].map(([choice, route]) => exampleOf(bound, choice, route).arguments)
    const changes = fc.dictionary(fc.oneof(fc.constantFrom(...names), fc.string({ maxLength: 20 })), values, {
      minKeys: 1,
      maxKeys: 3,
    })
    const given = fc.oneof(
      {
        weight: 8,
        arbitrary: fc
          .tuple(fc.constantFrom(...examples), changes)
          .map(([one, more]) => ({ ...one, ...more })),
      },
      { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
    )
    await fc.assert(
      fc.asyncProperty(given, async one => expectNoFailure(bound.tool.name, one, send)),
      { numRuns: RUNS * 12, endOnFailure: RUNS > 1 },
    )
  }
}

export async function expectNoFailure(name: string, given: unknown, send: Send): Promise<void> {
  const { status, text } = await send(name, given)
  const what = `${name} ${JSON.stringify(given)?.slice(0, 600)} → ${status} ${text.slice(0, 600)}`
  expect(status, what).toBeLessThan(500)
  const message = messageIn(text)
  // -32603 is the protocol's 500.
  expect((message['error'] as { code?: number } | undefined)?.code, what).not.toBe(-32_603)
  const said = (message['result'] as { structuredContent?: { statusCode?: number } } | undefined)
    ?.structuredContent
  if (said?.statusCode !== undefined) {
    expect(said.statusCode, what).toBeLessThan(500)
    expect([401, 402, 403, 408, 429], what).not.toContain(said.statusCode)
  }
}

/** A message as JSON, or as the one event of a stream. */
function messageIn(text: string): Record<string, unknown> {
  const data = /^data: (.*)$/m.exec(text)?.[1]
  return JSON.parse(data ?? text) as Record<string, unknown>
}
