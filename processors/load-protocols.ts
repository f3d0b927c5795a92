import { join } from 'node:path'
import { ConfigError } from '../db/process/errors.ts'
import { findModules } from '../db/process/modules.ts'
import { decodedAs, type LogDecoder, type Protocol } from './protocol.ts'
import { describeAsset } from './samples/assets.ts'

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
  const assembled = withAssets(withAdded(protocols))
  refuseDuplicates(assembled)
  return assembled
}

/** Each protocol with the logs that others add to its kinds: their events are of the kind's protocol. */
function withAdded(protocols: readonly Protocol[]): Protocol[] {
  const added = new Map<string, LogDecoder[]>()
  for (const { adds = {} } of protocols)
    for (const [kind, decoders] of Object.entries(adds))
      added.set(kind, [...(added.get(kind) ?? []), ...decoders])
  const known = new Set(protocols.flatMap(({ sources }) => sources.map(({ kind }) => kind)))
  for (const { name, adds = {} } of protocols)
    for (const kind of Object.keys(adds))
      if (!known.has(kind)) throw new ConfigError(`${name} adds logs to ${kind}: no protocol has that kind.`)
  return protocols.map(protocol => ({
    ...protocol,
    sources: protocol.sources.map(source => {
      const more = added.get(source.kind)
      if (!more) return source
      return {
        ...source,
        decoders: [...source.decoders, ...more.map(decoder => decodedAs(protocol.name, decoder))],
      }
    }),
  }))
}

/** Tokens that events name are described once, for those that are no vault's asset. */
function withAssets(protocols: readonly Protocol[]): Protocol[] {
  return protocols.map(protocol => {
    const { assets, wants, remembers = [] } = protocol
    if (!assets) return protocol
    return {
      ...protocol,
      remembers: [...remembers, 'AssetDescribed'],
      wants: event => {
        const wanted = wants?.(event)
        const named = assets(event).filter(asset => asset !== undefined)
        if (named.length === 0) return wanted
        const lessons = named.map(asset => ({ ...describeAsset(asset), unless: `AssetDescribed ${asset}` }))
        return { ...wanted, lessons: [...(wanted?.lessons ?? []), ...lessons] }
      },
    }
  })
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
