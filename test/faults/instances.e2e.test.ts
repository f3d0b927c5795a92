import { afterEach, beforeEach, describe, expect, inject, test } from 'vitest'
import { readStatus } from '../../db/status.ts'
import { createPipeline, type Pipeline } from '../pipeline.ts'
import { expectLikeCleanRun, storeSum, untilAtHead } from './checks.ts'
import { start, vaultlog } from './command.ts'
import { type SmallChain, startSmallChain } from './small-chain.ts'

const FINALITY = 20

let chain: SmallChain
let pipeline: Pipeline
let env: Record<string, string>

beforeEach(async () => {
  chain = await startSmallChain(31)
  await chain.live(30)
  pipeline = await createPipeline()
  env = {
    DATABASE_URL: pipeline.postgres.url,
    CLICKHOUSE_URL: inject('clickhouseUrl'),
    CLICKHOUSE_DATABASE: pipeline.clickhouse.database,
    REDIS_URL: '',
    RPC_MAINNET: chain.node.rpcUrl,
    FINALITY_MAINNET: String(FINALITY),
    POLL_INTERVAL_MS: '50',
  }
})
afterEach(async () => {
  await pipeline?.drop()
  await chain?.node.stop()
})

describe('two instances', () => {
  test('a second processor of a chain refuses to start and says why; the first goes on', async () => {
    const first = start(['processors/main.ts', 'mainnet'], env)
    try {
      await untilAtHead(pipeline.postgres.pool, chain)
      const second = await start(['processors/main.ts', 'mainnet'], env).ended
      expect(second.code).not.toBe(0)
      expect(second.stderr).toContain('SECOND_WRITER')
      expect(second.stderr).toContain('Another processor of mainnet is running on this event store')
      await chain.live(3)
      await untilAtHead(pipeline.postgres.pool, chain)
      const rewind = await vaultlog(env, 'rewind', 'mainnet', '--to', '10')
      expect(rewind.code).toBe(1)
      expect(rewind.stderr).toContain('Another processor of mainnet is running on this event store')
    } finally {
      first.child.kill('SIGTERM')
      expect((await first.ended).code).toBe(0)
    }
    await pipeline.project()
    await expectLikeCleanRun(pipeline, chain, { finality: FINALITY })
  })

  test('two workers share the load, and every row is made once', async () => {
    const run = pipeline.follow({ rpcUrl: chain.node.rpcUrl, finality: FINALITY })
    const workers = [1, 2].map(() => start(['jobs/main.ts'], { ...env, LOG_LEVEL: 'debug' }))
    try {
      const batches = () => workers.map(({ said }) => said().split('"msg":"batch"').length - 1)
      await expect
        .poll(
          async () => {
            await chain.live(1)
            return Math.min(...batches())
          },
          { timeout: 120_000, interval: 250 },
        )
        .toBeGreaterThanOrEqual(5)
      console.info(`batches by worker: ${batches().join(' and ')}`)
      await untilAtHead(pipeline.postgres.pool, chain)
      await run.stop()
      await expect
        .poll(
          async () => {
            const [mainnet] = await readStatus(pipeline.postgres.pool)
            return mainnet?.projections.filter(({ behind }) => behind > 0).length
          },
          { timeout: 120_000 },
        )
        .toBe(0)
    } finally {
      for (const { child } of workers) child.kill('SIGTERM')
      for (const { ended } of workers) expect((await ended).code).toBe(0)
    }
    // Not merged away later: made once.
    for (const { name, streams } of pipeline.projections) {
      if (streams !== 'evm') continue
      const [row] = await pipeline.rows<{ made: string; merged: string }>(
        'SELECT (SELECT count() FROM {table:Identifier}) AS made, (SELECT count() FROM {table:Identifier} FINAL) AS merged',
        { table: name },
      )
      expect(row?.made, name).toBe(row?.merged)
    }
    await expectLikeCleanRun(pipeline, chain, { finality: FINALITY })
  })
})

describe('a log that cannot be read', () => {
  test('on a watched vault: it is a dead letter, and the rest is indexed', async () => {
    const [vault] = chain.vaults
    const [user] = chain.users
    if (!vault || !user) return expect.fail('no vault')
    const { node } = chain
    const run = pipeline.follow({ rpcUrl: node.rpcUrl, finality: FINALITY })
    await untilAtHead(pipeline.postgres.pool, chain)
    // The vault's code gives way, for one block, to one that logs Deposit(address,address) with 4 bytes of data:
    // PUSH1 0 PUSH1 0 PUSH32 <topic0> PUSH1 4 PUSH1 0 LOG3 STOP.
    // What is set lands in the newest block's state as well: in one that nobody samples.
    await node.mine()
    const code = await node.client.getCode({ address: vault.address })
    const deposit = 'dcbc1c05240f31ff3ad067ef1ee35ce4997762752e3a095284754544f4c709d7'
    await node.rpc('anvil_setCode', [vault.address, `0x600060007f${deposit}60046000a300`])
    await node.send({ from: user, to: vault.address })
    await node.mine()
    await node.rpc('anvil_setCode', [vault.address, code])
    const { number } = await node.head()
    await chain.live(4)
    await untilAtHead(pipeline.postgres.pool, chain)
    await run.stop()

    const letters = await vaultlog(env, 'deadletters')
    expect(letters.code).toBe(0)
    const line = letters.stdout.split('\n').find(text => text.includes(vault.address))
    expect(line).toMatch(/decode/)
    expect(line).toContain(String(number))
    expect(line).toContain('no Deposit(address,address,uint256,uint256)')
    expect((await readStatus(pipeline.postgres.pool)).map(({ deadLetters }) => deadLetters)).toEqual([1])
    expect((await storeSum(pipeline.postgres.pool)).count).toBeGreaterThan(60)
    await pipeline.project()
    await expectLikeCleanRun(pipeline, chain, { finality: FINALITY })
  })
})
