import { afterEach, beforeEach, expect, test } from 'vitest'
import { readEvents } from '../../../db/events/event-store.ts'
import type { Fact } from '../../../db/registry/fact.ts'
import {
  followContractsFile,
  ignoreContract,
  readIgnored,
  unignoreContract,
} from '../../../db/registry/ignored.ts'
import { recordFacts } from '../../../db/registry/registry.ts'
import { createPostgres, type TestPostgres } from '../../databases.ts'

const [A, B, C] = ['aA', 'bB', 'cC'].map(byte => `0x${byte.repeat(20)}`) as [string, string, string]
const low = (address: string) => address.toLowerCase()

let postgres: TestPostgres
beforeEach(async () => {
  postgres = await createPostgres()
})
afterEach(() => postgres.drop())

const ignored = async (chain = 1) => [...(await readIgnored(postgres.pool, chain)).ignored.keys()].sort()

test('a contract is ignored on its chain until it is not, and history keeps both', async () => {
  expect(await ignoreContract(postgres.pool, 1, A, 'lies')).toBe(true)
  expect(await ignoreContract(postgres.pool, 1, low(A), 'again')).toBe(false)
  expect(await ignored()).toEqual([low(A)])
  expect(await ignored(10)).toEqual([])
  const before = await readIgnored(postgres.pool, 1)
  expect(before.ignored.get(low(A))).toEqual({ contract: low(A), reason: 'lies', by: 'command' })
  await ignoreContract(postgres.pool, 10, B, undefined)
  expect(await readIgnored(postgres.pool, 1, before)).toBe(before)
  await unignoreContract(postgres.pool, 1, A)
  const after = await readIgnored(postgres.pool, 1, before)
  expect([[...after.ignored], [...after.taken]]).toEqual([[], [low(A)]])
  await expect(unignoreContract(postgres.pool, 1, A)).rejects.toThrow(/not ignored/)
  const events = await readEvents(postgres.pool, 0, { after: 0 })
  expect(events.map(({ position, type }) => [position, type])).toEqual([
    [1, 'FactRecorded'],
    [2, 'FactRecorded'],
    [3, 'FactRemoved'],
  ])
})

test('what an operator said stays when files of facts and CONTRACTS_FILE are recorded, and the reverse', async () => {
  const stated: Fact = { subject: `contract:1:${low(C)}`, kind: 'ignored', value: { reason: 'a copy' } }
  await ignoreContract(postgres.pool, 1, A, undefined)
  await followContractsFile(postgres.pool, 1, [B])
  expect(await recordFacts(postgres.pool, [stated], 1000)).toBe(1)
  expect(await ignored()).toEqual([low(A), low(B), low(C)])
  await expect(unignoreContract(postgres.pool, 1, B)).rejects.toThrow(/CONTRACTS_FILE/)
  await expect(unignoreContract(postgres.pool, 1, C)).rejects.toThrow(/registry record/)
  expect(await followContractsFile(postgres.pool, 1, [B])).toBe(0)
  expect(await followContractsFile(postgres.pool, 10, [])).toBe(0)
  expect(await followContractsFile(postgres.pool, 1, [])).toBe(1)
  expect(await recordFacts(postgres.pool, [], 1001)).toBe(1)
  expect(await ignored()).toEqual([low(A)])
})
