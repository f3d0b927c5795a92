import { inChunks } from '../../moment/chunks.ts'
import { definePart } from '../part.ts'
import { changedSamples, theseSamples } from '../queries.ts'

export default definePart({
  queries: [changedSamples, theseSamples],
  names: moves => moves.having('StateSampled'),
  all: ask => ask(changedSamples),
  these: (ask, names, since) => inChunks(names, vaults => ask(theseSamples, { vaults, since })),
  fold(raw, chain, rows) {
    for (const row of rows) raw.putSample(chain, row)
  },
})
