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
  '{market}': MORPHO_MARKET,
  '{marketAsset}': `${w.USD_ASSET}-loan`,
}
