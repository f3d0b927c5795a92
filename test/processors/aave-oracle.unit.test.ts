import { type Address, encodeAbiParameters, encodeFunctionData, parseAbi } from 'viem'
import { expect, test } from 'vitest'
import type { DomainEvent } from '../../db/events/vocabulary.ts'
import aave from '../../processors/protocols/aave-v3/index.ts'

/** @see IPool.sol, IPoolAddressesProvider.sol and IAaveOracle.sol of aave-dao/aave-v3-origin */
const abi = parseAbi([
  'function ADDRESSES_PROVIDER() view returns (address)',
  'function getReservesList() view returns (address[])',
  'function getPriceOracle() view returns (address)',
  'function getAssetPrice(address asset) view returns (uint256)',
  'function getSourceOfAsset(address asset) view returns (address)',
])
const of = (byte: string): Address => `0x${byte.repeat(20)}`
const [pool, provider, oracle, first, second, source] = ['90', '91', '92', 'a1', 'a2', '5c'].map(of) as [
  Address,
  Address,
  Address,
  Address,
  Address,
  Address,
]
const word = (type: 'address' | 'uint256', value: Address | bigint) =>
  encodeAbiParameters([{ type }], [value as never])
const event = (type: DomainEvent['type'], contract: string, data: object) =>
  ({ type, protocol: 'aave-v3', contract, logIndex: 1, transactionHash: '0x', data }) as DomainEvent
const call = (to: Address, functionName: 'getAssetPrice' | 'getSourceOfAsset', asset: Address) => ({
  to,
  data: encodeFunctionData({ abi, functionName, args: [asset] }),
})

test('a pool that was never asked is asked for its addresses provider, once', () => {
  const updated = event('RateUpdated', pool, { market: first })
  const lesson = aave.wants?.(updated)?.lessons?.find(({ key }) => key === `aave pool ${pool}`)
  expect(lesson?.unless).toBe(`LendingPoolDescribed ${pool}`)
  expect(lesson?.calls).toEqual([
    { to: pool, data: encodeFunctionData({ abi, functionName: 'ADDRESSES_PROVIDER' }) },
  ])
  expect(lesson?.events([word('address', provider)])).toEqual([
    {
      type: 'LendingPoolDescribed',
      protocol: 'aave-v3',
      contract: pool,
      data: { addressesProvider: provider },
    },
  ])
  expect(lesson?.events([undefined])).toEqual([])
  expect(lesson?.trouble?.([undefined])?.contract).toBe(pool)
})

test('then its oracle is asked for every reserve, with what the provider says at that moment', () => {
  const described = event('LendingPoolDescribed', pool, { addressesProvider: provider })
  const [sample] = aave.samples?.(described) ?? []
  const read = sample?.read
  expect(read?.calls).toEqual([
    { to: pool, data: encodeFunctionData({ abi, functionName: 'getReservesList' }) },
    { to: provider, data: encodeFunctionData({ abi, functionName: 'getPriceOracle' }) },
  ])
  const list = encodeAbiParameters([{ type: 'address[]' }], [[first, second]])
  const answers = [list, word('address', oracle)]
  expect(read?.follow?.(answers)).toEqual(
    [first, second].flatMap(asset => [
      call(oracle, 'getAssetPrice', asset),
      call(oracle, 'getSourceOfAsset', asset),
    ]),
  )
  const priced = [...answers, word('uint256', 5n), word('address', source), undefined, undefined]
  const told = (asset: Address, of: Address, price?: bigint) => ({
    type: 'OraclePriceSampled',
    protocol: 'aave-v3',
    contract: pool,
    data: { market: asset, asset, oracle: of, price },
  })
  expect(read?.events(priced)).toEqual([told(first, source, 5n), told(second, oracle)])
  expect(read?.trouble?.(priced)).toEqual({ contract: oracle, reason: expect.stringContaining(second) })

  // A provider without an oracle: nothing is known any more, and the operator is told.
  const nameless = [list, word('address', of('00'))]
  expect(read?.follow?.(nameless)).toEqual([])
  expect(read?.events(nameless)).toEqual([told(first, provider), told(second, provider)])
  expect(read?.trouble?.(nameless)?.contract).toBe(provider)
  // Known, or replaced by another: asked in that block.
  expect(aave.wants?.(described)?.subjects).toEqual([pool])
  expect(aave.wants?.(event('OracleChanged', provider, { oracle }))?.subjects).toEqual([provider])
  expect(aave.samples?.(described).map(({ subject }) => subject)).toEqual([pool, provider])
})
