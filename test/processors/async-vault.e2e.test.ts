import { encodeFunctionData } from 'viem'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { calls, deployToken, sendDeployment } from '../chain/deploy.ts'
import { type Node, startNode } from '../chain/node.ts'
import { createPipeline, type Pipeline } from '../pipeline.ts'
import { contract } from '../read-api/artifacts.ts'

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

it('shares that are requested and claimed (ERC-7540) are counted once, as the vault itself counts them', async () => {
  const [, alice = '0x', bob = '0x'] = node.accounts
  const artifact = contract('AsyncVault')
  const asset = await deployToken(node, { decimals: 18 })
  const vault = await sendDeployment(node, artifact, [asset.address])
  await node.mine()
  const act = async (from: `0x${string}`, functionName: string, ...args: unknown[]) => {
    await node.send({
      from,
      to: vault,
      data: encodeFunctionData({ abi: artifact.abi, functionName, args }),
      label: functionName,
    })
    await node.mine()
  }
  for (const user of [alice, bob]) {
    await node.send(calls.mintToken(user, asset.address, user, 1_000n))
    await node.send(calls.approve(user, asset.address, vault, 1_000n))
    await node.mine()
    await act(user, 'requestDeposit', 500n, user, user)
    await act(user, 'fulfil', user)
    await act(user, 'deposit', 500n, user, user)
  }
  await act(alice, 'requestRedeem', 200n, alice, alice)
  await act(alice, 'fulfil', alice)
  await act(alice, 'redeem', 200n, alice, alice)
  await act(bob, 'requestRedeem', 500n, bob, bob)
  await act(bob, 'fulfil', bob)
  await act(bob, 'redeem', 500n, bob, bob)

  await pipeline.indexTo((await node.head()).number, { rpcUrl: node.rpcUrl })
  await pipeline.project()
  const rows = await pipeline.rows<{ holder: string; balance: string }>(
    'SELECT holder, toString(argMax(balance, position)) AS balance FROM holder GROUP BY holder',
  )
  const found = new Map(rows.map(({ holder, balance }) => [holder, BigInt(balance)]))
  for (const holder of [alice, bob, vault]) {
    const balance = await node.client.readContract({
      address: vault,
      abi: artifact.abi,
      functionName: 'balanceOf',
      args: [holder],
    })
    expect([holder, found.get(holder.toLowerCase()) ?? 0n]).toEqual([holder, balance])
  }
  expect(found.get(alice.toLowerCase())).toBe(300n)
})
