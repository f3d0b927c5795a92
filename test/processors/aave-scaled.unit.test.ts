import { type Address, encodeAbiParameters, encodeFunctionData, parseAbi } from 'viem'
import { expect, test } from 'vitest'
import type { DomainEvent } from '../../db/events/vocabulary.ts'
import aave from '../../processors/protocols/aave-v3.ts'

/** @see ScaledBalanceTokenBase.sol, IncentivizedERC20.sol and PoolInstance.sol of aave-dao/aave-v3-origin */
const abi = parseAbi([
  'function scaledBalanceOf(address user) view returns (uint256)',
  'function scaledTotalSupply() view returns (uint256)',
  'function POOL() view returns (address)',
  'function POOL_REVISION() view returns (uint256)',
])
const of = (byte: string): Address => `0x${byte.repeat(20)}`
const [token, pool, alice, bob] = [of('70'), of('90'), of('a1'), of('b0')]
const number = (value: bigint) => encodeAbiParameters([{ type: 'uint256' }], [value])
const log = { contract: token, logIndex: 1, transactionHash: '0x' }
const minted = (side: 'supply' | 'variableDebt' | 'stableDebt') =>
  ({
    ...log,
    type: 'ScaledMinted',
    data: { side, caller: bob, onBehalf: alice, value: 7n, balanceIncrease: 2n, indexRay: 10n ** 27n },
  }) as DomainEvent

test('after each change of a scaled balance the token and its pool are asked', () => {
  const [read, ...others] = aave.wants?.(minted('variableDebt'))?.reads ?? []
  expect(others).toEqual([])
  expect(read?.calls).toEqual([
    { to: token, data: encodeFunctionData({ abi, functionName: 'scaledBalanceOf', args: [alice] }) },
    { to: token, data: encodeFunctionData({ abi, functionName: 'scaledTotalSupply' }) },
    { to: token, data: encodeFunctionData({ abi, functionName: 'POOL' }) },
  ])
  const answers = [number(123n), number(456n), encodeAbiParameters([{ type: 'address' }], [pool])]
  expect(read?.follow?.(answers)).toEqual([
    { to: pool, data: encodeFunctionData({ abi, functionName: 'POOL_REVISION' }) },
  ])
  const sampled = {
    type: 'ScaledBalanceSampled',
    contract: token,
    data: { account: alice, scaled: 123n, total: 456n },
  }
  expect(read?.events([...answers, number(9n)])).toEqual([sampled])
  // Before v3.5 the logs say all, and a pool that does not answer says nothing.
  expect(read?.events([...answers, number(8n)])).toEqual([])
  expect(read?.events([...answers, undefined])).toEqual([])
  expect(read?.follow?.([undefined, undefined, undefined])).toEqual([])
  expect(read?.events([undefined, undefined, undefined])).toEqual([])
})

test('a transfer changes both balances, stable debts are not scaled, the rest changes none', () => {
  const keysOf = (event: DomainEvent) => aave.wants?.(event)?.reads?.map(({ key }) => key)
  const moved = {
    ...log,
    type: 'ScaledTransferred',
    data: { from: alice, to: bob, scaledValue: 1n, indexRay: 1n },
  }
  expect(keysOf(moved as DomainEvent)).toEqual([`scaled ${token} ${alice}`, `scaled ${token} ${bob}`])
  expect(keysOf(minted('stableDebt'))).toBeUndefined()
  const enabled = { ...log, type: 'CollateralEnabled', data: { market: token, user: alice } }
  expect(keysOf(enabled as DomainEvent)).toBeUndefined()
})
