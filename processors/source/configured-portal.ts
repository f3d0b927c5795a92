import { publicPortal } from '../../db/networks.ts'
import { variableOf } from '../../db/process/env.ts'
import { openPortal, type Portal } from './portal-client.ts'

/** The Portals that a network's settings name; undefined where they name none. */
export function configuredPortal(
  network: { name: string; portal?: string | undefined },
  { urls, apiKey }: { urls: readonly string[] | undefined; apiKey: string | undefined },
  signal: AbortSignal,
): Portal | undefined {
  if (!urls) return undefined
  const { name, portal: dataset = '' } = network
  const key = variableOf(name, 'PORTAL_API_KEY_')
  return openPortal({
    network: name,
    urls: urls.map(url => (url === 'sqd' ? publicPortal(dataset) : url)),
    apiKey,
    settings: { url: variableOf(name, 'PORTAL_'), key: `PORTAL_API_KEY or ${key}` },
    signal,
  })
}
