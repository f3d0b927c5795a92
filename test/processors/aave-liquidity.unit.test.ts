import { type Address, encodeAbiParameters, encodeFunctionData, parseAbi, parseAbiParameters } from 'viem'
import { expect, test } from 'vitest'
import type { DomainEvent } from '../../db/events/vocabulary.ts'
import aave from '../../processors/protocols/aave-v3/index.ts'

/** @see IPool.sol and DataTypes.sol (ReserveData, from v3.1 on ReserveDataLegacy) of aave-dao/aave-v3-origin */
const abi = parseAbi([
  'function getVirtualUnderlyingBalance(address asset) view returns (uint128)',
  'function getReserveData(address asset)',
  'function balanceOf(address account) view returns (uint256)',
])
const of = (byte: string): Address => `0x${byte.repeat(20)}`
const [pool, asset, aToken] = [of('90'), of('a5'), of('70')]
const number = (value: bigint) => encodeAbiParameters([{ type: 'uint256' }], [value])
const reserve = encodeAbiParameters(
  parseAbiParameters(
    'uint256, uint128, uint128, uint128, uint128, uint128, uint40, uint16, address, address, address, address, uint128, uint128, uint128',
  ),
  [1n, 2n, 3n, 4n, 5n, 6n, 7, 8, aToken, of('71'), of('72'), of('73'), 9n, 10n, 11n],
)
const updated = {
  type: 'RateUpdated',
  protocol: 'aave-v3',
  contract: pool,
  logIndex: 1,
  transactionHash: '0x',
  data: { market: asset, liquidityIndexRay: 10n ** 27n },
} as DomainEvent

test('after each change of a reserve its pool is asked, and where it does not say, what its aToken holds', () => {
  const [read] = aave.wants?.(updated)?.reads ?? []
  expect(read?.calls).toEqual([
    {
      to: pool,
      data: encodeFunctionData({ abi, functionName: 'getVirtualUnderlyingBalance', args: [asset] }),
    },
    { to: pool, data: encodeFunctionData({ abi, functionName: 'getReserveData', args: [asset] }) },
  ])
  const said = (available: bigint) => [
    {
      type: 'ReserveLiquiditySampled',
      protocol: 'aave-v3',
      contract: pool,
      data: { market: asset, available },
    },
  ]
  expect(read?.follow?.([number(0n), reserve])).toEqual([])
  expect(read?.events([number(0n), reserve])).toEqual(said(0n))
  expect(read?.follow?.([undefined, reserve])).toEqual([
    { to: asset, data: encodeFunctionData({ abi, functionName: 'balanceOf', args: [aToken] }) },
  ])
  expect(read?.events([undefined, reserve, number(5n)])).toEqual(said(5n))
  expect(read?.follow?.([undefined, undefined])).toEqual([])
  expect(read?.events([undefined, undefined])).toEqual([])
})
