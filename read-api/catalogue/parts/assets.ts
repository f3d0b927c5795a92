import { definePart } from '../part.ts'
import { describedAssets } from '../queries.ts'

/** Tokens that lending markets name. */
export default definePart({
  rank: 2,
  isWhole: true,
  queries: [describedAssets],
  names: moves => moves.having('AssetDescribed'),
  all: ask => ask(describedAssets),
  these: ask => ask(describedAssets),
  fold(raw, chain, rows) {
    for (const row of rows) raw.putAsset(chain, row)
  },
})
