import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { callRpc } from './anvil-process.ts'
import {
  calls,
  deployVault,
  deposit,
  donateYield,
  redeem,
  takeLoss,
  transferShares,
  type Vault,
} from './deploy.ts'
import { TransactionFailedError } from './errors.ts'
import { placeMulticall3 } from './multicall.ts'
import { type Node, startNode } from './node.ts'
import { balancesOf, vaultView } from './views.ts'

describe('a node with one vault of 6 and 18 decimals', () => {
  let node: Node
  let vault: Vault
  const unit = 10n ** 18n
  const user = (n: number) => node.accounts[n] ?? '0x'

  beforeAll(async () => {
    node = await startNode()
    await placeMulticall3(node)
    vault = await deployVault(node, { assetDecimals: 6, offset: 12 })
  })
  afterAll(() => node?.stop())

  test('the building blocks move shares and price, and the past stays readable', async () => {
    expect(vault.decimals).toBe(18)
    await deposit(node, { vault, user: user(11), assets: 1_000_000n })
    const before = await node.head()
    await donateYield(node, { vault, assets: 500_000n })
    await transferShares(node, { vault, from: user(11), to: user(12), shares: unit / 4n })
    await redeem(node, { vault, user: user(12), shares: unit / 8n })
    await takeLoss(node, { vault, assets: 100_000n })
    const holders = [user(11), user(12)]
    expect([...(await balancesOf(node, vault.address, holders)).values()]).toEqual([
      (unit * 3n) / 4n,
      unit / 8n,
    ])
    // 1.5 assets a share, less the one for the virtual share; 1/8 share redeemed; 0.1 assets lost of 1.312501.
    expect(await vaultView(node, vault)).toMatchObject({
      totalAssets: 1_212_501n,
      totalSupply: (unit * 7n) / 8n,
    })
    const past = await vaultView(node, vault, before.number)
    expect(past).toMatchObject({ sharePrice: 1_000_000n, totalAssets: 1_000_000n, totalSupply: unit })
  })

  test('a transaction that reverts is an error, unless it was meant to', async () => {
    const call = calls.redeem(user(13), vault.address, unit)
    await node.send(call)
    await expect(node.mine()).rejects.toThrow(TransactionFailedError)
    await node.send({ ...call, mayFail: true })
    await node.mine()
  })

  test.each([1, 3, 12])('a reorg %i deep replaces blocks, transactions and state', async depth => {
    await node.mineEmpty(20, 3600)
    const before = await node.head()
    await transferShares(node, { vault, from: user(11), to: user(14), shares: 5n })
    await node.mineEmpty(depth - 1, 12)
    const old = await node.head()
    expect(old.number).toBe(before.number + depth)
    const call = calls.transfer(user(11), vault.address, user(15), 7n)
    const held = await balancesOf(node, vault.address, [user(14), user(15)], before.number)
    await node.reorg(depth, [{ call, block: depth - 1 }])

    const head = await node.head()
    expect(head.number).toBe(old.number)
    expect(head.hash).not.toBe(old.hash)
    expect(head.timestamp).toBeGreaterThan(before.timestamp)
    const logs = await node.logs({ fromBlock: before.number + 1 })
    expect(logs.map(log => [log.blockNumber, BigInt(log.data)])).toEqual([[head.number, 7n]])
    const now = await balancesOf(node, vault.address, [user(14), user(15)])
    expect(now.get(user(14))).toBe(held.get(user(14)))
    expect(now.get(user(15))).toBe((held.get(user(15)) ?? 0n) + 7n)
    // Nonces start again from what the new branch holds.
    await transferShares(node, { vault, from: user(11), to: user(16), shares: 1n })
  })

  test('rollback and snapshot go back', async () => {
    const { number } = await node.head()
    await node.mineEmpty(3)
    await node.rollback(3)
    expect((await node.head()).number).toBe(number)
    const restore = await node.snapshot()
    await transferShares(node, { vault, from: user(11), to: user(16), shares: 1n })
    await restore()
    expect((await node.head()).number).toBe(number)
  })

  test('blocks come by themselves when asked, in simulated time', async () => {
    const before = await node.head()
    await node.setIntervalMining(1)
    await expect.poll(async () => (await node.head()).number).toBeGreaterThan(before.number + 1)
    await node.setIntervalMining(0)
    const { timestamp } = await node.head()
    expect(timestamp - before.timestamp).toBeLessThan(60)
  })
})

test('the node ends when its owner is killed', async () => {
  const module = fileURLToPath(new URL('./node.ts', import.meta.url))
  const script = `import(${JSON.stringify(module)}).then(m => m.startNode()).then(n => { console.log(n.rpcUrl); setInterval(() => {}, 1000) })`
  const owner = spawn(process.execPath, ['--import', 'tsx', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = await once(owner.stdout, 'data')
  const url = z.url().parse(String(line).trim())
  const isAnswering = () =>
    callRpc(url, 'eth_chainId', []).then(
      () => true,
      () => false,
    )
  expect(await isAnswering()).toBe(true)
  owner.kill('SIGKILL')
  await expect.poll(isAnswering).toBe(false)
})
