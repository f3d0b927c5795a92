import { inChunks } from '../../moment/chunks.ts'
import {
  allHolderSummaries,
  type HolderSummaryRow,
  newestHolderSummaries,
  theseHolderSummaries,
} from '../../vaults/holder-queries.ts'
import { type Ask, definePart } from '../part.ts'

/** By the heads, and by the history for vaults whose heads are ahead of the moment already. */
async function summaries(ask: Ask, names: readonly string[], p: number): Promise<HolderSummaryRow[]> {
  const rows = await inChunks(names, vaults => ask(newestHolderSummaries, { vaults }))
  const ahead = rows.filter(({ newest }) => newest > p).map(({ vault }) => vault)
  const again = await inChunks(ahead, vaults => ask(theseHolderSummaries, { vaults }))
  return [...rows.filter(({ newest }) => newest <= p), ...again]
}

export default definePart({
  isByName: true,
  queries: [allHolderSummaries, newestHolderSummaries, theseHolderSummaries],
  names: moves => moves.having('ShareTransferred', 'Deposited', 'Redeemed'),
  all: ask => ask(allHolderSummaries),
  these: (ask, names, _, { p }) => summaries(ask, names, p),
  // A vault without a row never had a holder.
  fold(raw, chain, rows, asked) {
    const summed = new Map(rows.map(row => [row.vault, row]))
    for (const vault of asked ?? summed.keys()) raw.putHolders(chain, vault, summed.get(vault))
  },
})
