import { type Address, encodeFunctionData, keccak256, parseAbi, toHex } from 'viem'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Aave, deployAave } from '../../chain/aave.ts'
import { type Node, startNode } from '../../chain/node.ts'
import { createPipeline, differencesFromChain, type Pipeline } from '../../pipeline.ts'

/** @see IPoolAddressesProvider.sol, IAaveOracle.sol and AccessControl.sol of @aave/core-v3 1.19.3 */
const abi = parseAbi([
  'function setPriceOracle(address newPriceOracle)',
  'function setACLManager(address newAclManager)',
  'function setAssetSources(address[] assets, address[] sources)',
  'function grantRole(bytes32 role, address account)',
])
const ASSET: Address = '0x00000000000000000000000000000000000a55e7'
const SOURCE: Address = '0x000000000000000000000000000000000000feed'

let node: Node
let pipeline: Pipeline
let aave: Aave
let other: Aave

beforeAll(async () => {
  node = await startNode()
  pipeline = await createPipeline()
  aave = await deployAave(node, [])
  other = await deployAave(node, [])
})
afterAll(async () => {
  await pipeline?.drop()
  await node?.stop()
})

async function send(to: Address, data: `0x${string}`): Promise<void> {
  await node.send({ from: node.accounts[0] ?? '0x', to, data, gas: 1_000_000n })
  await node.mine()
}

const stored = async (contract: Address) => {
  const { rows } = await pipeline.postgres.pool.query<{ type: string; data: unknown }>(
    `SELECT type, data FROM event_log WHERE contract = decode(substr($1, 3), 'hex') ORDER BY position DESC LIMIT 1`,
    [contract],
  )
  return rows[0]
}

it('an oracle and an access control that an event named are watched after a restart, too', async () => {
  const contracts = { 'aave-v3-provider': [aave.addressesProvider] }
  const index = async () => pipeline.indexTo((await node.head()).number, { rpcUrl: node.rpcUrl, contracts })
  await index()
  await send(
    aave.addressesProvider,
    encodeFunctionData({ abi, functionName: 'setPriceOracle', args: [other.oracle] }),
  )
  await send(
    aave.addressesProvider,
    encodeFunctionData({ abi, functionName: 'setACLManager', args: [other.aclManager] }),
  )
  await index()
  await send(
    other.oracle,
    encodeFunctionData({ abi, functionName: 'setAssetSources', args: [[ASSET], [SOURCE]] }),
  )
  await send(
    other.aclManager,
    encodeFunctionData({
      abi,
      functionName: 'grantRole',
      args: [keccak256(toHex('RISK_ADMIN')), SOURCE],
    }),
  )
  await index()

  expect(await stored(other.oracle)).toEqual({
    type: 'OracleChanged',
    data: { market: ASSET, oracle: SOURCE },
  })
  expect(await stored(other.aclManager)).toEqual({
    type: 'RoleChanged',
    data: { role: 'RISK_ADMIN', account: SOURCE, granted: true },
  })
  const { number } = await node.head()
  expect(await differencesFromChain(pipeline.postgres.pool, node.rpcUrl, number, contracts)).toEqual([])
})
