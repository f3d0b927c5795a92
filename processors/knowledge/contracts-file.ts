import { ConfigError } from '../../db/process/errors.ts'
import { misspelt } from '../../db/process/nearest.ts'
import { readContractsFile } from '../../db/registry/contracts-file.ts'
import { FEED_KIND } from '../../db/registry/feeds.ts'
import { IGNORED } from '../../db/registry/ignored.ts'
import { loadProtocols } from '../load-protocols.ts'

/**
 * Contracts by kind that CONTRACTS_FILE names for a network, if there is one.
 *
 * @throws ConfigError for a kind that nobody watches, on any network
 */
export async function configuredContracts(
  file: string | undefined,
  network: string,
): Promise<Record<string, string[]> | undefined> {
  if (!file) return undefined
  const content = await readContractsFile(file)
  const protocols = await loadProtocols()
  const kinds = [FEED_KIND, IGNORED, ...protocols.flatMap(({ sources }) => sources.map(({ kind }) => kind))]
  for (const [name, contracts] of Object.entries(content)) {
    for (const kind of Object.keys(contracts)) {
      if (kinds.includes(kind)) continue
      const meant = misspelt(kind, kinds)
      throw new ConfigError(
        `CONTRACTS_FILE ${file}: no protocol watches ${kind} (${name})${meant ? `; did you mean ${meant}?` : `. Kinds: ${[...new Set(kinds)].sort().join(', ')}.`}`,
      )
    }
  }
  return content[network]
}
