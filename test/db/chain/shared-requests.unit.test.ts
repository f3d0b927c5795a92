import { expect, test } from 'vitest'
import { type AskOptions, Endpoint } from '../../../db/chain/endpoint.ts'

/** Asks all at once, and gives which calls went together. */
async function together(asked: readonly [name: string, options?: AskOptions][], batch?: number) {
  const requests: string[][] = []
  const endpoint = new Endpoint('http://node', { batch }, async calls => {
    requests.push(calls.map(({ method }) => method))
    return calls.map(({ method }) => ({ result: method }))
  })
  const answers = await Promise.all(asked.map(([name, options]) => endpoint.request(name, [], options)))
  expect(answers).toEqual(asked.map(([name]) => name))
  return requests
}

const bounded = { maxBytes: 1_000 }
const [one, another] = [{ group: {} }, { group: {} }]

test('calls share a request', async () => {
  expect(await together([['a'], ['b'], ['c']])).toEqual([['a', 'b', 'c']])
})

test('but not those whose answer is bounded, of which one is as long as it wants', async () => {
  expect(await together([['a'], ['b'], ['c', bounded], ['d', bounded], ['e']])).toEqual([
    ['a', 'b'],
    ['c'],
    ['d'],
    ['e'],
  ])
  expect(
    await together([
      ['a', { ...bounded, ...one }],
      ['b', one],
    ]),
  ).toEqual([['a'], ['b']])
})

test('and those of a group only with each other, as many as a request takes', async () => {
  const asked: [string, AskOptions?][] = [
    ['a', one],
    ['b', one],
    ['c', another],
    ['d', another],
    ['e'],
    ['f'],
  ]
  expect(await together(asked)).toEqual([
    ['a', 'b'],
    ['c', 'd'],
    ['e', 'f'],
  ])
  expect(await together(asked.slice(0, 3), 1)).toEqual([['a'], ['b'], ['c']])
})
