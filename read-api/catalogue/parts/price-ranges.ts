import { inChunks } from '../../moment/chunks.ts'
import { allPriceRanges, thesePriceRanges } from '../../vaults/price-queries.ts'
import { definePart } from '../part.ts'

export default definePart({
  queries: [allPriceRanges, thesePriceRanges],
  names: moves => moves.having('StateSampled'),
  all: (ask, { rangeSince }) => ask(allPriceRanges, { since: rangeSince }),
  these: (ask, names, _, { rangeSince }) =>
    inChunks(names, vaults => ask(thesePriceRanges, { vaults, since: rangeSince })),
  fold(raw, chain, rows) {
    for (const row of rows) raw.putRange(chain, row)
  },
})
