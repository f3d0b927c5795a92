import { type Address, encodeAbiParameters, encodeFunctionData, parseAbi } from 'viem'
import { expect, test } from 'vitest'
import type { DomainEvent } from '../../db/events/vocabulary.ts'
import type { Facts } from '../../processors/protocol.ts'
import aave from '../../processors/protocols/aave-v3/index.ts'

/** @see ScaledBalanceTokenBase.sol, IncentivizedERC20.sol and PoolInstance.sol of aave-dao/aave-v3-origin */
const abi = parseAbi([
  'function scaledBalanceOf(address user) view returns (uint256)',
  'function POOL() view returns (address)',
  'function POOL_REVISION() view returns (uint256)',
])
const of = (byte: string): Address => `0x${byte.repeat(20)}`
const [token, pool, alice, bob] = [of('70'), of('90'), of('a1'), of('b0')]
const number = (value: bigint) => encodeAbiParameters([{ type: 'uint256' }], [value])
const RAY = 10n ** 27n
const index = (RAY * 3n) / 2n
const told = (logIndex: number, type: string, data: object) =>
  ({ contract: token, protocol: 'aave-v3', logIndex, transactionHash: '0x', type, data }) as DomainEvent
const minted = (logIndex: number, value: bigint, balanceIncrease = 0n, side = 'supply') =>
  told(logIndex, 'ScaledMinted', {
    side,
    caller: bob,
    onBehalf: alice,
    value,
    balanceIncrease,
    indexRay: index,
  })
const revised = (revision: number, sinceLog?: number) =>
  told(99, 'PoolRevisionSampled', { pool, revision, ...(sinceLog === undefined ? {} : { sinceLog }) })
const knowing =
  (event?: DomainEvent): Facts =>
  fact =>
    fact === `PoolRevisionSampled ${token}` ? event : undefined

const readOf = (event: DomainEvent) => aave.wants?.(event)?.reads?.[0]
const changed = (events: readonly DomainEvent[]) =>
  events.map(({ data }) => ('scaledChange' in data ? data.scaledChange : undefined))

test('how a pool rounds is asked once, and after each upgrade of a token', () => {
  const [lesson] = aave.wants?.(minted(1, 7n))?.lessons ?? []
  expect(lesson?.unless).toBe(`PoolRevisionSampled ${token}`)
  expect(lesson?.calls).toEqual([{ to: token, data: encodeFunctionData({ abi, functionName: 'POOL' }) }])
  const named = encodeAbiParameters([{ type: 'address' }], [pool])
  expect(lesson?.follow?.([named])).toEqual([
    { to: pool, data: encodeFunctionData({ abi, functionName: 'POOL_REVISION' }) },
  ])
  expect(lesson?.events([named, number(8n)])).toMatchObject([
    { type: 'PoolRevisionSampled', contract: token, data: { pool, revision: 8 } },
  ])
  expect(lesson?.events([named, undefined])).toEqual([])
  expect(lesson?.events([undefined])).toEqual([])
  const [again] = aave.wants?.(told(4, 'TokenUpgraded', { implementation: bob }))?.lessons ?? []
  expect(again?.unless).toBeUndefined()
  expect(again?.events([named, number(9n)])).toMatchObject([{ data: { pool, revision: 9, sinceLog: 4 } }])
})

test('of pools of v3.5 the scaled balance is asked after what changed it, and of nothing else', () => {
  const read = readOf(minted(1, 7n))
  expect(read?.calls).toEqual([
    { to: token, data: encodeFunctionData({ abi, functionName: 'scaledBalanceOf', args: [alice] }) },
  ])
  expect(read?.isWanted?.(knowing(revised(9)))).toBe(true)
  expect(read?.isWanted?.(knowing(revised(8)))).toBe(false)
  expect(read?.isWanted?.(knowing())).toBe(false)
  // Interest alone, transfers, whose logs are in scaled units, and stable debts.
  expect(readOf(minted(1, 5n, 5n))).toBeUndefined()
  expect(readOf(minted(1, 7n, 0n, 'stableDebt'))).toBeUndefined()
  expect(
    readOf(told(1, 'ScaledTransferred', { from: alice, to: bob, scaledValue: 1n, indexRay: index })),
  ).toBeUndefined()
})

// At an index of 1.5: 5 scaled units are worth 7, 6 are 9, 16 are 24 (floor).
test('the changes of a block follow from the balance at its end, from the last to the first', () => {
  const events = [
    minted(1, 2n),
    told(2, 'ScaledTransferred', { from: alice, to: bob, scaledValue: 4n, indexRay: index }),
    told(3, 'ScaledTransferred', { from: bob, to: alice, scaledValue: 14n, indexRay: index }),
    minted(4, 3n, 3n),
    told(5, 'ScaledBurned', { side: 'supply', from: alice, value: 5n, balanceIncrease: 1n, indexRay: index }),
    told(5, 'Redeemed', {
      sender: alice,
      owner: alice,
      assets: 6n,
      shares: 4n,
      ledger: 'self',
      indexRay: index,
    }),
    told(6, 'ScaledBurned', { side: 'supply', from: bob, value: 5n, balanceIncrease: 1n, indexRay: index }),
  ]
  const amended = readOf(minted(1, 2n))?.amend?.(
    events,
    [number(12n)],
    knowing(revised(9)),
    knowing(revised(9)),
  )
  // 12 (18) + 6 → 24, that is 16; less 14, and 4; 6 (9) less 2 → 7, that is 5.
  expect(changed(amended ?? [])).toEqual([1n, undefined, undefined, undefined, -4n, undefined, undefined])
  expect(amended?.[5]?.data).toMatchObject({ shares: 4n, assets: 6n })
})

test('logs before the upgrade of their block are left as the older code means them', () => {
  const events = [minted(1, 1n), minted(5, 2n)]
  const read = readOf(minted(1, 2n))
  const upgrade = knowing(revised(9, 3))
  expect(changed(read?.amend?.(events, [number(6n)], upgrade, knowing(revised(8))) ?? [])).toEqual([
    undefined,
    1n,
  ])
  // An upgrade from v3.5 to a later one changes nothing.
  expect(changed(read?.amend?.(events, [number(6n)], upgrade, knowing(revised(9))) ?? [])).toEqual([1n, 1n])
})

test('an answer that does not fit the logs changes nothing', () => {
  const events = [minted(1, 200n)]
  const both = [knowing(revised(9)), knowing(revised(9))] as const
  for (const answer of [number(6n), undefined])
    expect(readOf(minted(1, 2n))?.amend?.(events, [answer], ...both)).toEqual(events)
})
