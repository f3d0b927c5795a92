import { domains } from '../../abi/cctp-v2/domains.ts'
import { toBase58 } from '../../db/base58.ts'
import { MORPHO_MARKET } from './lending-world.ts'
import * as w from './world.ts'

/** What the placeholders in the examples of endpoints stand for in the made-up world. */
export const stand: Record<string, string> = {
  '{network}': 'mainnet',
  '{vault}': w.USD_VAULT,
  '{asset}': w.USD_ASSET,
  '{user}': w.ALICE,
  '{timestamp}': String(w.START + 5 * w.DAY),
  '{fromDate}': '2025-01-01',
  '{toDate}': '2025-01-08',
  // Where a world on a node has them: seatWorld says their addresses.
  '{fixedTerm}': `0x${'f7'.repeat(20)}`,
  '{fixedTermAsset}': w.USD_ASSET,
  '{ammVault}': `0x${'a4'.repeat(20)}`,
  '{ammAsset}': w.USD_ASSET,
  '{market}': MORPHO_MARKET,
  '{marketAsset}': `${w.USD_ASSET}-loan`,
  '{bridgeTo}': 'base',
  '{webhook}': `wh_${'A'.repeat(22)}`,
  '{usdc}': domains[0]?.usdc ?? '',
  '{burn}': `0x${'b7'.repeat(32)}`,
  // Where a world has Solana: seatSolana says which.
  '{svmVault}': toBase58(`0x${'5a'.repeat(32)}`),
  '{svmUser}': toBase58(`0x${'5b'.repeat(32)}`),
  '{svmAsset}': 'So11111111111111111111111111111111111111112',
}
