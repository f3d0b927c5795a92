import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { z } from 'zod'
import { type NetworkName, networkOfChain, networks } from '../db/networks.ts'
import type { HeadsChain } from './heads-node.ts'
import { RECORDINGS } from './recordings.ts'

/** [chain, address, first block, first seen, features, last seen, deposits, redemptions] */
const row = z.object({
  spec: z.object({ chain_id: z.number() }),
  row: z.object({
    _detection_data: z
      .tuple([
        z.number(),
        z.string(),
        z.number(),
        z.string(),
        z.unknown(),
        z.string(),
        z.number(),
        z.number(),
      ])
      .nullish(),
  }),
})
/** Of a vault that is younger than that one cannot tell. */
const SHORTEST_LIFE = 3_600

/**
 * Each network with as many vaults as were recorded there and their deposits and redemptions a second, over each vault's
 * life; those without a recording have as many vaults as it takes to make `vaults` of all, and acts in proportion.
 */
export async function recordedDensity(vaults: number, times: number): Promise<HeadsChain[]> {
  const lines = gunzipSync(await readFile(join(RECORDINGS, 'vaults/vault_metadata.jsonl.gz')))
  const found = new Map<NetworkName, { vaults: number; acts: number }>()
  for (const line of lines.toString('utf8').trim().split('\n')) {
    const { spec, row: known } = row.parse(JSON.parse(line))
    const network = networkOfChain(spec.chain_id)?.name as NetworkName | undefined
    if (!network) continue
    const sum = found.get(network) ?? { vaults: 0, acts: 0 }
    found.set(network, sum)
    sum.vaults++
    const seen = known._detection_data
    if (!seen) continue
    const life = (Date.parse(`${seen[5]}Z`) - Date.parse(`${seen[3]}Z`)) / 1000
    sum.acts += (seen[6] + seen[7]) / Math.max(SHORTEST_LIFE, life)
  }
  const all = [...found.values()].reduce(
    (sum, each) => ({ vaults: sum.vaults + each.vaults, acts: sum.acts + each.acts }),
    { vaults: 0, acts: 0 },
  )
  const names = Object.keys(networks) as NetworkName[]
  const unrecorded = { vaults: Math.ceil(all.vaults / 500), acts: all.acts / 500 }
  return names.map(name => {
    const of = found.get(name) ?? unrecorded
    return { name, vaults: Math.max(5, Math.round((of.vaults * vaults) / all.vaults)), acts: of.acts * times }
  })
}
