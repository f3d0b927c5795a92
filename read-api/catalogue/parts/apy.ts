import { inChunks } from '../../moment/chunks.ts'
import { definePart } from '../part.ts'
import { changedApy, theseApy } from '../queries.ts'

export default definePart({
  queries: [changedApy, theseApy],
  names: moves => moves.having('StateSampled'),
  all: ask => ask(changedApy),
  these: (ask, names, since) => inChunks(names, vaults => ask(theseApy, { vaults, since })),
  fold(raw, chain, rows) {
    for (const row of rows) raw.putApy(chain, row)
  },
})
