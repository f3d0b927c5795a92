import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ConfigError } from '../../db/process/errors.ts'
import { listFeeds } from '../../db/registry/feeds.ts'
import { configuredContracts } from '../../processors/knowledge/contracts-file.ts'

const VAULT = `0x${'Ab'.repeat(20)}`
let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'vaultlog-test-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

async function file(content: unknown): Promise<string> {
  const path = join(folder, 'contracts.json')
  await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content))
  return path
}

test('gives the contracts of a network, and its feeds in place of the list', async () => {
  const path = await file({ base: { 'morpho-blue': [VAULT] }, 'mega-eth': { 'chainlink-feed': [VAULT] } })
  expect(await configuredContracts(path, 'base')).toEqual({ 'morpho-blue': [VAULT] })
  expect(await configuredContracts(path, 'mainnet')).toBeUndefined()
  expect(await configuredContracts(undefined, 'base')).toBeUndefined()
  const feeds = await listFeeds(path)
  expect([...(feeds.get(4326) ?? [])]).toEqual([VAULT.toLowerCase()])
  expect(feeds.get(1)).toEqual((await listFeeds(undefined)).get(1))
  expect(feeds.get(1)?.size).toBeGreaterThan(5)
})

test.each([
  [{ ethereum: {} }, /there is no network ethereum; did you mean mainnet\?/],
  [{ nowhere: {} }, /there is no network nowhere\. Networks: mainnet, /],
  [
    { base: { 'morpho-bleu': [VAULT] } },
    /no protocol watches morpho-bleu \(base\); did you mean morpho-blue\?/,
  ],
  [{ base: { anything: [VAULT] } }, /no protocol watches anything \(base\)\. Kinds: .*chainlink-feed, /],
  [{ base: { 'morpho-blue': ['0x12'] } }, /base\.morpho-blue\.0: must be an address/],
  [{ base: [VAULT] }, /CONTRACTS_FILE .* is no object of networks, kinds and addresses: base/],
  ['{ "base": ', /CONTRACTS_FILE .*contracts\.json cannot be read: .*JSON/],
])('what nobody would watch is refused on every network: %j', async (content, words) => {
  const found = configuredContracts(await file(content), 'mainnet')
  await expect(found).rejects.toThrow(ConfigError)
  await expect(found).rejects.toThrow(words)
})

test('a file that is not there is named', async () => {
  const found = configuredContracts(join(folder, 'nothing.json'), 'base')
  await expect(found).rejects.toThrow(/CONTRACTS_FILE .*nothing\.json cannot be read: ENOENT/)
  await expect(found).rejects.toThrow(ConfigError)
})
