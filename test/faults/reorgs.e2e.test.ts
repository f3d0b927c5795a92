import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { rewindChain } from '../../db/events/rewind.ts'
import { DeepForkError } from '../../processors/failures.ts'
import { calls, deposit } from '../chain/deploy.ts'
import { createPipeline, type Pipeline } from '../pipeline.ts'
import { expectLikeCleanRun, storeSum, untilAtHead } from './checks.ts'
import { endow, type SmallChain, startSmallChain } from './small-chain.ts'

const FINALITY = 20
const MAINNET = 1

let chain: SmallChain
let pipeline: Pipeline
let run: ReturnType<Pipeline['follow']> | undefined

beforeEach(async () => {
  chain = await startSmallChain(7)
  await chain.live(26)
  pipeline = await createPipeline()
})
afterEach(async () => {
  await run?.stop().catch(() => {})
  run = undefined
  await pipeline?.drop()
  await chain?.node.stop()
})

function follow(options: { startBlock?: number } = {}) {
  run = pipeline.follow({ rpcUrl: chain.node.rpcUrl, finality: FINALITY, ...options })
  return run
}
const atHead = () => untilAtHead(pipeline.postgres.pool, chain)

/**
 * Replaces the newest blocks by as many others, with other deposits in some of them. evm-processor asks a polled node
 * for its height only, so it sees the new branch with the first block above the old head.
 */
async function reorg(depth: number): Promise<void> {
  const replaced = Array.from({ length: depth }, (_, block) => ({ call: chain.someCall(), block }))
  await chain.node.reorg(
    depth,
    replaced.filter(({ block }) => block % 3 !== 1),
  )
  await chain.live(1, 12)
}

/** What the store appends while `change` happens and is followed, by type; what was there before stays as it was. */
async function appendedBy(change: () => Promise<void>): Promise<Record<string, number>> {
  const { pool } = pipeline.postgres
  const before = await storeSum(pool)
  await change()
  const { rows } = await pool.query<{ type: string; count: number }>(
    'SELECT type, count(*)::int AS count FROM stored_events($1, $2, 9007199254740991) GROUP BY type ORDER BY type',
    [MAINNET, before.last],
  )
  expect(await storeSum(pool, before.last)).toEqual(before)
  return Object.fromEntries(rows.map(({ type, count }) => [type, count]))
}

async function expectClean(options: { startBlock?: number } = {}): Promise<void> {
  await run?.stop()
  run = undefined
  await pipeline.project()
  await expectLikeCleanRun(pipeline, chain, { finality: FINALITY, ...options })
}

describe('blocks replaced while the processor follows', () => {
  test.each([1, 3, 12])('%i deep', async depth => {
    follow()
    await atHead()
    await pipeline.project()
    const appended = await appendedBy(async () => {
      await reorg(depth)
      await atHead()
    })
    console.info(`a reorg of depth ${depth} appended ${JSON.stringify(appended)}`)
    expect(appended.BlockRetracted).toBe(depth)
    expect(appended.Deposited).toBeGreaterThanOrEqual(Math.ceil((depth * 2) / 3))
    await pipeline.project()
    await chain.live(3)
    await atHead()
    await expectClean()
  })

  test('six by three, then growing past', async () => {
    follow()
    await atHead()
    await pipeline.project()
    const appended = await appendedBy(async () => {
      await chain.node.rollback(6)
      await chain.live(3, 12)
      // Lower than what is stored: nothing can be told from its height until it grows.
      await new Promise(resolve => setTimeout(resolve, 300))
      await chain.live(5)
      await atHead()
    })
    expect(appended.BlockRetracted).toBe(6)
    await expectClean()
  })

  test('several in a row, some on top of each other', async () => {
    follow()
    await atHead()
    for (const [depth, blocks] of [
      [2, 0],
      [5, 1],
      [1, 0],
      [9, 2],
      [12, 4],
      [3, 0],
    ] as const) {
      await appendedBy(async () => {
        await reorg(depth)
        if (depth !== 5) await atHead()
        await chain.live(blocks)
        if (blocks % 2 === 0) await pipeline.project()
      })
    }
    await chain.live(2)
    await atHead()
    await expectClean()
  })

  test('over an hour: the block that carried the hourly samples is another one afterwards', async () => {
    follow()
    await chain.live(4, 1500)
    await atHead()
    await reorg(4)
    await chain.live(2, 3600)
    await atHead()
    await expectClean()
  })
})

describe('the block in which a vault was discovered is replaced', () => {
  test('it is discovered again on the new branch, its events neither lost nor doubled', async () => {
    follow()
    await atHead()
    const vault = await chain.addVault()
    const [user, other] = chain.users
    if (!user || !other) return expect.fail('no users')
    await chain.node.mine()
    // A log of the vault before the one that tells that it is a vault.
    await endow(chain.node, vault, user)
    await chain.node.send(calls.transfer(user, vault.address, other, 0n))
    await chain.node.mine()
    await chain.node.mineEmpty(1)
    // Stored as empty, and given its events by the very next transaction.
    await atHead()
    await deposit(chain.node, { vault, user, assets: 5_000_000n })
    await atHead()
    await pipeline.project()
    const found = () =>
      pipeline.rows<{ block: string }>(
        `SELECT toString(block_number) AS block FROM vault
         WHERE vault = {vault:String} AND (chain_id, position) NOT IN (SELECT stream, position FROM retracted)`,
        { vault: vault.address },
      )
    const discovered = Number((await found())[0]?.block)
    expect(discovered).toBe((await chain.node.head()).number)

    // Its deployment stays, its first deposit goes: for three blocks it is nothing to us.
    await reorg(2)
    await atHead()
    await pipeline.project()
    expect(await found()).toEqual([])
    await chain.live(2)
    await deposit(chain.node, { vault, user, assets: 7_000_000n })
    await atHead()
    await pipeline.project()
    expect(await found()).toHaveLength(1)
    await expectClean()
  })

  test('with its deployment, and deployed again by another transaction', async () => {
    follow()
    await atHead()
    const before = (await chain.node.head()).number
    const vault = await chain.addVault()
    const [user] = chain.users
    if (!user) return expect.fail('no users')
    await chain.node.mine()
    await deposit(chain.node, { vault, user, assets: 5_000_000n })
    await atHead()
    await chain.node.reorg((await chain.node.head()).number - before)
    await chain.live(1)
    await atHead()
    const again = await chain.addVault()
    expect(again.address).toBe(vault.address)
    await chain.node.mine()
    chain.vaults.pop()
    await deposit(chain.node, { vault: again, user, assets: 9_000_000n })
    await chain.live(2)
    await atHead()
    await expectClean()
  })

  test('a vault with a history before the first block indexed: the history is not stored twice', async () => {
    const startBlock = (await chain.node.head()).number - 4
    const sleeping = chain.vaults
    follow({ startBlock })
    await atHead()
    // The vaults of the chain were active all the time; a third one only before and after.
    expect(sleeping.length).toBe(2)
    await chain.live(3)
    await atHead()
    const appended = await appendedBy(async () => {
      await reorg(6)
      await atHead()
    })
    expect(appended.BlockRetracted).toBeGreaterThan(0)
    await chain.live(4)
    await atHead()
    await expectClean({ startBlock })
  })
})

describe('blocks replaced while the processor is stopped', () => {
  test.each([
    ['still above finality', 0],
    ['final by now', 40],
  ])('%s', async (_, later) => {
    follow()
    await atHead()
    await run?.stop()
    await pipeline.project()
    const appended = await appendedBy(async () => {
      await reorg(6)
      await chain.live(4)
      await chain.node.mineEmpty(later)
      follow()
      await atHead()
    })
    expect(appended.BlockRetracted).toBe(6)
    await expectClean()
  })

  test('shorter than before when it starts again', async () => {
    follow()
    await atHead()
    await run?.stop()
    await chain.node.rollback(6)
    await chain.live(3, 12)
    follow()
    await new Promise(resolve => setTimeout(resolve, 300))
    await chain.live(5)
    await atHead()
    await expectClean()
  })

  test('a vault discovered after the stop keeps its logs in blocks that were stored as hot', async () => {
    follow()
    const vault = await chain.addVault()
    const [user, other] = chain.users
    if (!user || !other) return expect.fail('no users')
    await chain.node.mine()
    await endow(chain.node, vault, user)
    await chain.node.send(calls.transfer(user, vault.address, other, 0n))
    await chain.live(1)
    await atHead()
    await run?.stop()
    await deposit(chain.node, { vault, user, assets: 5_000_000n })
    await chain.node.mineEmpty(40)
    follow()
    await atHead()
    const { rows } = await pipeline.postgres.pool.query(
      `SELECT FROM event_log WHERE stream = $1 AND type = 'ShareTransferred' AND contract = decode(substr($2, 3), 'hex')`,
      [MAINNET, vault.address],
    )
    expect(rows).toHaveLength(2)
    await expectClean()
  })
})

describe('a fork deeper than finality', () => {
  test.each(['while it runs', 'while it is stopped'])(
    '%s: it stops loudly and changes nothing; rewind heals it',
    async when => {
      follow()
      await atHead()
      const { pool } = pipeline.postgres
      const before = await storeSum(pool)
      const common = (await chain.node.head()).number - (FINALITY + 5)
      if (when === 'while it is stopped') await run?.stop()
      await reorg(FINALITY + 5)
      await chain.live(2)
      if (when === 'while it is stopped') follow()
      const failure: unknown = await run?.reached(1_000_000).catch((error: unknown) => error)
      expect(failure).toBeInstanceOf(DeepForkError)
      expect((failure as DeepForkError).message).toContain('vaultlog rewind mainnet --to')
      expect((failure as DeepForkError).message).toContain('FINALITY_MAINNET')
      expect(await storeSum(pool)).toEqual(before)

      expect(await rewindChain(pool, MAINNET, 'mainnet', common)).toBeGreaterThan(0)
      expect(await storeSum(pool, before.last)).toEqual(before)
      follow()
      await atHead()
      await expectClean()
    },
  )

  test('rewound to a block that is not final on the new branch', async () => {
    follow()
    await atHead()
    const { pool } = pipeline.postgres
    const common = (await chain.node.head()).number - (FINALITY + 3)
    await chain.node.rollback(FINALITY + 3)
    await chain.live(FINALITY + 4, 60)
    await expect(run?.reached(1_000_000)).rejects.toThrow(DeepForkError)
    await rewindChain(pool, MAINNET, 'mainnet', common)
    await chain.node.rollback(10)
    follow()
    await atHead()
    await expectClean()
  })

  test('rewinding past the discovery of a vault does not double what was stored of it before', async () => {
    const startBlock = (await chain.node.head()).number - 3
    follow({ startBlock })
    await atHead()
    await chain.live(3)
    await atHead()
    await run?.stop()
    run = undefined
    await rewindChain(pipeline.postgres.pool, MAINNET, 'mainnet', startBlock - 2)
    follow({ startBlock })
    await atHead()
    await expectClean({ startBlock })
  })
})
