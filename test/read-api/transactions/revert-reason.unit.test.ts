import { encodeErrorResult, parseAbi } from 'viem'
import { expect, test } from 'vitest'
import '../../../read-api/load-protocols.ts'
import { revertReason } from '../../../read-api/transactions/revert-reason.ts'

/** @see Errors.sol of euler-vault-kit and euler-price-oracle, CometMainInterface.sol of compound-finance/comet */
const abi = parseAbi([
  'error E_AccountLiquidity()',
  'error PriceOracle_TooStale(uint256 staleness, uint256 maxStaleness)',
  'error NotCollateralized()',
])

test('errors of lending markets have words', () => {
  const of = (errorName: 'E_AccountLiquidity' | 'NotCollateralized') =>
    revertReason(encodeErrorResult({ abi, errorName }))
  // As it was met on chain.
  expect(encodeErrorResult({ abi, errorName: 'E_AccountLiquidity' })).toBe('0x34373fbc')
  expect(of('E_AccountLiquidity')).toBe(
    'the collateral would not cover what the account owes (E_AccountLiquidity())',
  )
  expect(of('NotCollateralized')).toContain('would not cover the debt')
  const stale = encodeErrorResult({ abi, errorName: 'PriceOracle_TooStale', args: [90_000n, 86_400n] })
  expect(stale.slice(0, 10)).toBe('0xa6e68d63')
  expect(revertReason(stale)).toBe(
    "a price of the vault's oracle is older than it may be (PriceOracle_TooStale(90000, 86400))",
  )
})

test('errors of fixed-term markets have words', () => {
  // @see Errors.sol of @pendle/core-v2 6.11.0
  expect(revertReason('0xb2094b59')).toBe('the market has ended: its PT is redeemed (MarketExpired())')
})
