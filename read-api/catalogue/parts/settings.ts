import { inChunks } from '../../moment/chunks.ts'
import { definePart } from '../part.ts'
import { allSettings, theseSettings } from '../settings-queries.ts'

export default definePart({
  queries: [allSettings, theseSettings],
  names: moves => moves.having('FeeChanged', 'CapChanged', 'Paused', 'Unpaused'),
  all: ask => ask(allSettings),
  these: (ask, names) => inChunks(names, vaults => ask(theseSettings, { vaults })),
  fold(raw, chain, rows) {
    for (const row of rows) raw.putSettings(chain, row)
  },
})
