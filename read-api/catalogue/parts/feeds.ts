import { inChunks } from '../../moment/chunks.ts'
import { definePart } from '../part.ts'
import { changedFeeds, theseFeeds } from '../queries.ts'

export default definePart({
  queries: [changedFeeds, theseFeeds],
  names: moves => moves.feeds,
  all: ask => ask(changedFeeds),
  these: (ask, names, since) => inChunks(names, feeds => ask(theseFeeds, { feeds, since })),
  fold(raw, chain, rows) {
    for (const row of rows) raw.putFeed(chain, row)
  },
})
