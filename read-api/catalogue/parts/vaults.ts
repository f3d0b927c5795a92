import { inChunks } from '../../moment/chunks.ts'
import { definePart } from '../part.ts'
import { changedVaults, theseVaults } from '../queries.ts'

export default definePart({
  rank: 1,
  queries: [changedVaults, theseVaults],
  names: moves => moves.having('VaultDiscovered'),
  all: ask => ask(changedVaults),
  these: (ask, names) => inChunks(names, vaults => ask(theseVaults, { vaults })),
  fold(raw, chain, rows) {
    for (const row of rows) raw.putVault(chain, row)
  },
})
