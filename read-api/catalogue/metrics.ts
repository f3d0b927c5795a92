import type pg from 'pg'
import { Gauge } from 'prom-client'
import { networkOfChain } from '../../db/networks.ts'
import { onScrape, registry } from '../../db/process/metrics.ts'
import { readRetired } from '../../db/status.ts'
import type { Moment } from '../moment/snapshot.ts'
import type { CatalogueSource } from './catalogue.ts'

const registers = [registry]

const catalogueVaults = new Gauge({
  name: 'vaultlog_catalogue_vaults',
  help: 'Vaults in the catalogue',
  registers,
})
const catalogueAge = new Gauge({
  name: 'vaultlog_catalogue_age_seconds',
  help: 'Now less the time of the block that the catalogue is of, for chains that are not retired',
  labelNames: ['chain'] as const,
  registers,
})

export function exposeCatalogue(source: CatalogueSource, pool: pg.Pool): void {
  onScrape([catalogueVaults], () => () => {
    if (source.isServed) catalogueVaults.set(source.current().size)
  })
  onScrape([catalogueAge], async () => {
    const retired = await readRetired(pool)
    return () => {
      if (source.isServed) setAges(source.current().moment, retired)
    }
  })
}

function setAges({ chains }: Moment, retired: ReadonlySet<number>): void {
  for (const [chainId, { blockTime }] of chains) {
    if (retired.has(chainId)) continue
    const chain = networkOfChain(chainId)?.name ?? String(chainId)
    catalogueAge.set({ chain }, Math.max(0, Date.now() / 1000 - blockTime))
  }
}
