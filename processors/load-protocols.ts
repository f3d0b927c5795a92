import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { ConfigError } from '../db/process/errors.ts'
import type { Protocol } from './protocol.ts'

/**
 * The protocols of processors/protocols: every module's default export, in order of name. A module is found by being
 * there; what does not fit is refused here, at start-up.
 */
export async function loadProtocols(folder = join(import.meta.dirname, 'protocols')): Promise<Protocol[]> {
  const files = (await readdir(folder))
    .filter(file => /\.[jt]s$/.test(file) && !file.endsWith('.d.ts'))
    .sort()
  const protocols: Protocol[] = []
  for (const file of files) {
    const module = (await import(pathToFileURL(join(folder, file)).href)) as { default?: Protocol }
    const protocol = module.default
    if (!protocol?.name || !Array.isArray(protocol.sources))
      throw new ConfigError(
        `${file} has no protocol as its default export: export default defineProtocol({…}).`,
      )
    if (protocol.name !== file.replace(/\.[jt]s$/, ''))
      throw new ConfigError(
        `The protocol in ${file} calls itself ${protocol.name}: name and file must agree.`,
      )
    protocols.push(protocol)
  }
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
