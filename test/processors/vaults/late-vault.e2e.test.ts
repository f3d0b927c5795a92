import { encodeFunctionData } from 'viem'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { checkLedgers, LEDGER_DIFFERS } from '../../../jobs/ledgers.ts'
import { calls, deploySelfLedgerVault, deployToken, sendDeployment } from '../../chain/deploy.ts'
import { type Node, startNode } from '../../chain/node.ts'
import { seededRandom } from '../../chain/random.ts'
import { createPipeline, differencesFromChain, type Pipeline } from '../../pipeline.ts'
import { contract } from '../../read-api/artifacts.ts'

let node: Node
let pipeline: Pipeline
beforeAll(async () => {
  node = await startNode()
  pipeline = await createPipeline()
})
afterAll(async () => {
  await pipeline?.drop()
  await node?.stop()
})

it('shares are counted once, whether Deposit moves them without a transfer or a later mint does', async () => {
  const users = node.accounts.slice(1, 4)
  const { abi, ...artifact } = contract('LateVault')
  const asset = await deployToken(node, { decimals: 18 })
  const late = await sendDeployment(node, { abi, ...artifact }, [asset.address])
  const savings = await deploySelfLedgerVault(node, {
    asset,
    name: 'Savings',
    symbol: 'sTST',
    annualRate: 0.05,
  })
  for (const user of users) {
    await node.send(calls.mintToken(user, asset.address, user, 10n ** 24n))
    await node.send(calls.approve(user, asset.address, late, 10n ** 24n))
    await node.send(calls.approve(user, asset.address, savings.address, 10n ** 24n))
  }
  await node.mine()

  const balanceOf = (vault: `0x${string}`, holder: `0x${string}`) =>
    node.client.readContract({
      address: vault,
      abi,
      functionName: 'balanceOf',
      args: [holder],
    }) as Promise<bigint>
  const execute = (user: `0x${string}`) =>
    node.send({
      from: user,
      to: late,
      data: encodeFunctionData({ abi, functionName: 'execute', args: [user] }),
      label: 'execute',
    })
  const { next } = seededRandom(7)
  const amount = () => 10n ** 18n + BigInt(Math.floor(next() * 1e15))
  // Every step of everybody lands in one block: requests of one beside executions of another, and of the same.
  for (let step = 0; step < 12; step++) {
    for (const user of users) {
      const vault = next() < 0.5 ? late : savings.address
      const held = await balanceOf(vault, user)
      const chance = next()
      if (vault === late && chance < 0.4) await execute(user)
      else if (chance < 0.7 || held < 10n) await node.send(calls.deposit(user, vault, amount()))
      else if (chance < 0.9) await node.send(calls.redeem(user, vault, held / 4n))
      else await node.send(calls.transfer(user, vault, users[0] as `0x${string}`, held / 5n))
    }
    await node.mine()
  }
  for (const user of users) await execute(user)
  await node.mine()

  const head = (await node.head()).number
  await pipeline.indexTo(head, { rpcUrl: node.rpcUrl })
  await pipeline.project()
  const rows = await pipeline.rows<{ vault: string; holder: string; balance: string }>(
    'SELECT vault, holder, toString(argMax(balance, position)) AS balance FROM holder GROUP BY vault, holder',
  )
  const found = new Map(rows.map(({ vault, holder, balance }) => [`${vault} ${holder}`, BigInt(balance)]))
  for (const vault of [late, savings.address]) {
    for (const user of users) {
      const key = `${vault} ${user}`.toLowerCase()
      expect([key, found.get(key) ?? 0n]).toEqual([key, await balanceOf(vault, user)])
    }
  }
  const { postgres, clickhouse } = pipeline
  expect(await checkLedgers(postgres.pool, clickhouse.client)).toEqual([])
  expect([...found.values()].filter(balance => balance > 0n).length).toBeGreaterThan(3)
  // Who settled what is not in the logs: a check of the chain against the store asks for it no more than for a price.
  expect(await differencesFromChain(pipeline.postgres.pool, node.rpcUrl, head)).toEqual([])
})

it('a ledger that does not add up to the supply is named, until it does', async () => {
  const { postgres, clickhouse } = pipeline
  const letters = async () =>
    (
      await postgres.pool.query('SELECT contract, payload, resolved_at FROM dead_letter WHERE reason = $1', [
        LEDGER_DIFFERS,
      ])
    ).rows
  expect(await letters()).toEqual([])
  const [row] = await pipeline.rows<{ vault: string; holder: string; balance: string }>(
    'SELECT vault, holder, toString(held.balance) AS balance FROM holder AS held FINAL WHERE held.balance > 5 LIMIT 1',
  )
  const put = (balance: bigint) =>
    clickhouse.command(
      'test',
      `INSERT INTO holder SELECT * REPLACE (toInt256('${balance}') AS balance) FROM holder FINAL
       WHERE vault = '${row?.vault}' AND holder = '${row?.holder}'`,
    )
  await put(BigInt(row?.balance ?? 0) + 5n)
  const [difference, ...others] = await checkLedgers(postgres.pool, clickhouse.client)
  expect(others).toEqual([])
  expect(BigInt(difference?.ledger ?? 0) - BigInt(difference?.supply ?? 0)).toBe(5n)
  expect(await letters()).toEqual([{ contract: row?.vault, payload: difference, resolved_at: null }])
  await put(BigInt(row?.balance ?? 0))
  expect(await checkLedgers(postgres.pool, clickhouse.client)).toEqual([])
  expect(await letters()).toEqual([expect.objectContaining({ resolved_at: expect.any(Date) })])
})
