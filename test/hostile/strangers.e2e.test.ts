import { expect, inject, test } from 'vitest'
import { misled, swollen } from './compare.ts'
import { runWith } from './run.ts'
import { strangersOf } from './strangers.ts'

const servers = { databaseUrl: inject('postgresUrl'), clickhouseUrl: inject('clickhouseUrl') }

/** One or two of each family. */
const some = [
  'words of 2.5 MB',
  'an endless loop, asked for its name',
  'a revert with 1 MB, asked for its state',
  'a name that is no UTF-8',
  'a name that turns the text about',
  'asset() with a byte above the address',
  '2^256 - 1 of everything',
  'a vault rich by its own word, under another’s name, with 2,000 invented holders and airdrops',
  'a supply that its logs contradict, and deposits for nobody',
  'two vaults, each the asset of the other',
  'a proxy that becomes an endless loop, and back',
  'a vault that dies, and another at its address',
  'good in simulation only',
  'a mirror of an honest vault',
  'rewards in any token, each named like a known one',
  'every known log of every protocol, from a vault and from nobody',
  'a hundred vaults, each the asset of the next',
]

// All of them, family by family, three times: `npm run test:faults -- --group hostile`.
test('whoever else deploys what on a chain, the honest are indexed, listed, scored and advised as if alone', async () => {
  const strangers = strangersOf(1 / 10).filter(({ name }) => some.includes(name))
  expect(strangers.length).toBe(some.length)
  const alone = await runWith([], servers)
  const beside = await runWith(strangers, servers)
  expect(misled(alone, beside)).toEqual([])
  expect(swollen(alone, beside)).toEqual([])
}, 900_000)
