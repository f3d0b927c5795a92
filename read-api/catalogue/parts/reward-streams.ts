import { inChunks } from '../../moment/chunks.ts'
import { allRewardStreams, theseRewardStreams } from '../../rewards/queries.ts'
import { definePart } from '../part.ts'

export default definePart({
  queries: [allRewardStreams, theseRewardStreams],
  // What a distributor pays may have been known before the vault was.
  names: moves => moves.having('RewardStreamSampled', 'RewardPeriodFunded', 'VaultDiscovered'),
  all: (ask, { streamsSince }) => ask(allRewardStreams, { since: streamsSince }),
  these: (ask, names, _, { streamsSince }) =>
    inChunks(names, vaults => ask(theseRewardStreams, { vaults, since: streamsSince })),
  // A vault without a row pays none.
  fold(raw, chain, rows, asked) {
    const paying = new Map(rows.map(row => [row.vault, row]))
    for (const vault of asked ?? paying.keys()) raw.putStreams(chain, vault, paying.get(vault))
  },
})
