import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import fc from 'fast-check'
import solc from 'solc'
import { type AbiEvent, toEventSelector, toEventSignature, toFunctionSelector } from 'viem'
import { describe, expect, test } from 'vitest'
import { contracts, generate } from '../../abi/generate.ts'
import type { EventAbi, FunctionAbi } from '../../abi/words.ts'
import { MalformedLogError } from '../../db/process/errors.ts'
import { encodedEvent } from './arbitraries.ts'

interface GeneratedModule {
  events?: readonly EventAbi<Record<string, unknown>>[]
  functions?: Record<string, FunctionAbi>
}

const all = await Promise.all(
  contracts().map(async c => {
    const module = (await import(`${c.path}.ts`)) as GeneratedModule
    const abi = c.json as ({ type: string; name: string } & AbiEvent)[]
    return { ...c, module, events: abi.filter(e => e.type === 'event') }
  }),
)

describe.each(all)('$family/$contract', ({ contract, path, json, module, events }) => {
  test('the generated TypeScript has not drifted from the ABI', () => {
    expect(readFileSync(`${path}.ts`, 'utf8')).toBe(generate(contract, json))
  })

  test('signatures, topics and selectors are those viem computes', () => {
    expect(module.events?.map(e => [e.signature, e.topic0]) ?? []).toEqual(
      events.map(e => [toEventSignature(e), toEventSelector(e)]),
    )
    for (const fn of Object.values(module.functions ?? {})) {
      expect(fn.selector).toBe(toFunctionSelector(fn.signature))
    }
  })

  test.each(events.map((event, i) => ({ event, decoder: module.events?.[i] })))(
    '$event.name: what viem encodes is what we decode',
    ({ event, decoder }) => {
      fc.assert(
        fc.property(encodedEvent(event), ({ args, log }) => {
          expect(log.topics.length).toBe(decoder?.topicCount)
          const bytes = (log.data.length - 2) / 2
          if (typeof decoder?.dataLength === 'number') expect(bytes).toBe(decoder.dataLength)
          else expect(bytes).toBeGreaterThanOrEqual(decoder?.dataLength.min ?? Infinity)
          expect(decoder?.decode(log)).toEqual(args)
        }),
        { numRuns: 50 },
      )
    },
  )
})

describe('words that do not hold what the signature says', () => {
  const find = (path: string, name: string) => {
    const [family, contract] = path.split('/')
    const found = all.find(c => c.family === family && c.contract === contract)
    const decoder = found?.module.events?.find(e => e.name === name)
    if (!decoder) throw new Error(`no ${path}.${name}`)
    return decoder
  }
  const dirty = `0x${'1'.repeat(64)}`

  test('an address with dirty padding, in a topic or in data', () => {
    const transfer = find('erc4626/Vault', 'Transfer')
    const clean = `0x${'0'.repeat(24)}${'a'.repeat(40)}`
    const data = `0x${'0'.repeat(64)}`
    expect(transfer.decode({ topics: [transfer.topic0, clean, clean], data })).toMatchObject({ value: 0n })
    expect(() => transfer.decode({ topics: [transfer.topic0, clean, dirty], data })).toThrow(
      MalformedLogError,
    )
    expect(() => find('erc4626/Pausable', 'Paused').decode({ topics: [], data: dirty })).toThrow(
      MalformedLogError,
    )
  })

  test('a bool of 2, a uint16 of 2^16, missing data, an offset beyond the end', () => {
    const repay = find('aave-v3/Pool', 'Repay')
    const address = `0x${'0'.repeat(64)}`
    const topics = [repay.topic0, address, address, address]
    expect(() => repay.decode({ topics, data: `0x${'0'.repeat(127)}2` })).toThrow(MalformedLogError)
    expect(() => repay.decode({ topics, data: '0x' })).toThrow(MalformedLogError)
    const fee = find('euler/EVault', 'GovSetInterestFee')
    expect(() => fee.decode({ topics: [], data: `0x${'10000'.padStart(64, '0')}` })).toThrow(
      MalformedLogError,
    )
    const created = find('euler/GenericFactory', 'ProxyCreated')
    const word = (n: number) => n.toString(16).padStart(64, '0')
    const head = word(1) + word(0)
    const topic = [created.topic0, address]
    expect(() => created.decode({ topics: topic, data: `0x${head}${word(4096)}${word(0)}` })).toThrow(
      MalformedLogError,
    )
    expect(() => created.decode({ topics: topic, data: `0x${head}${word(96)}${word(999)}` })).toThrow(
      MalformedLogError,
    )
  })
})

// An ABI compiled from Morpho.sol alone has no events and would decode nothing, silently.
test('Morpho Blue: our events are all those that the published EventsLib declares', () => {
  const root = 'node_modules/@morpho-org/morpho-blue/src/'
  const input = {
    language: 'Solidity',
    sources: {
      'libraries/EventsLib.sol': { content: readFileSync(`${root}libraries/EventsLib.sol`, 'utf8') },
    },
    settings: { outputSelection: { '*': { EventsLib: ['abi'] } } },
  }
  const output = JSON.parse(
    solc.compile(JSON.stringify(input), {
      import: (file: string) => ({ contents: readFileSync(root + file, 'utf8') }),
    }),
  ) as { contracts: Record<string, Record<string, { abi: AbiEvent[] }>> }
  const published = output.contracts['libraries/EventsLib.sol']?.EventsLib?.abi ?? []
  const ours = all.find(c => basename(c.path) === 'Morpho')?.events ?? []
  expect(published.length).toBeGreaterThan(10)
  expect(new Set(ours.map(e => toEventSignature(e)))).toEqual(
    new Set(published.map(e => toEventSignature(e))),
  )
})
