import { join } from 'node:path'
import { ConfigError } from '../db/process/errors.ts'
import { findModules } from '../db/process/modules.ts'
import type { Protocol } from './protocol.ts'

/**
 * The protocols of processors/protocols: the default export of each folder's index, in order of name. A protocol is found
 * by being there; what does not fit is refused here, at start-up.
 */
export async function loadProtocols(folder = join(import.meta.dirname, 'protocols')): Promise<Protocol[]> {
  const protocols = (await findModules(folder, 'folders')).map(({ name, file, value }) => {
    const protocol = value as Protocol | undefined
    if (!protocol?.name || !Array.isArray(protocol.sources))
      throw new ConfigError(
        `${file} has no protocol as its default export: export default defineProtocol({…}).`,
      )
    if (protocol.name !== name)
      throw new ConfigError(
        `The protocol in ${file} calls itself ${protocol.name}: name and folder must agree.`,
      )
    return protocol
  })
  refuseDuplicates(protocols)
  return protocols
}

/** Two decoders for the same log on the same kind of contract would store every such event twice. */
export function refuseDuplicates(protocols: readonly Protocol[]): void {
  const owners = new Map<string, string>()
  const claim = (key: string, owner: string, what: string) => {
    const other = owners.get(key)
    if (other !== undefined) throw new ConfigError(`${owner} and ${other} both claim ${what}.`)
    owners.set(key, owner)
  }
  for (const { name, sources } of protocols) {
    claim(name, name, `the protocol name ${name}`)
    for (const { kind, decoders } of sources) {
      claim(`kind ${kind}`, name, `the kind ${kind}`)
      for (const { topic0, topicCount, signature } of decoders)
        claim(`${kind} ${topic0} ${topicCount}`, name, `${signature} with ${topicCount} topics on ${kind}`)
    }
  }
}
