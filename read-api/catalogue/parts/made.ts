import { definePart } from '../part.ts'
import { madeVaults } from '../queries.ts'

/** Which vaults the registry's factories made, also before they are known themselves. */
export default definePart({
  rank: 0,
  isWhole: true,
  queries: [madeVaults],
  names: moves => (moves.hasRetraction ? ['*'] : moves.having('VaultCreated', 'VaultDiscovered')),
  all: ask => ask(madeVaults),
  these: ask => ask(madeVaults),
  fold: (raw, chain, rows) => raw.setMade(chain, new Set(rows.map(({ vault }) => vault))),
})
