import { expect, test } from 'vitest'
import { networks } from '../../db/networks.ts'

/** Lines of slip-0044.md of github.com/satoshilabs/slips: coin type, its path component, symbol. */
const registry = [
  [60, 0x8000003c, 'ETH'],
  [700, 0x800002bc, 'XDAI'],
  [714, 0x800002ca, 'BNB'],
  [966, 0x800003c6, 'MATIC'],
  [1729, 0x800006c1, 'XTZ'],
  [2457, 0x80000999, 'HYPE'],
  [8008, 0x80001f48, 'BERA'],
  [9000, 0x80002328, 'AVAX'],
  [268_435_779, 0x90000143, 'MON'],
] as const

test.each(Object.values(networks))(
  'the coin of $name has its registered coin type',
  ({ name, native: coin }) => {
    if (coin.slip44 === undefined) expect(['plasma', 'celo']).toContain(name)
    else
      expect(registry.map(([, path, symbol]) => [path, symbol])).toContainEqual([
        // Coin types are hardened: the highest bit is set.
        coin.slip44 + 2 ** 31,
        // POL took the place of MATIC, one to one; the registry still has the name of before.
        coin.symbol === 'POL' ? 'MATIC' : coin.symbol,
      ])
  },
)
