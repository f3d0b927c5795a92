import { z } from 'zod'
import { ConfigError } from '../../db/process/errors.ts'
import factoryTables from '../../db/registry/contracts/vault-factories.json' with { type: 'json' }
import { addressesByNetwork } from '../knowledge/address-tables.ts'
import type { LogDecoder, Source } from '../protocol.ts'

const tables = z.record(z.string(), z.unknown()).parse(factoryTables)

/** Contracts of one kind, by the registry, whose log says that they made a vault: VaultCreated. */
export function factory(kind: string, decoder: LogDecoder): Source {
  const table = tables[kind]
  if (table === undefined) throw new ConfigError(`db/registry/contracts/vault-factories.json has no ${kind}.`)
  return { kind, at: addressesByNetwork(table), decoders: [decoder] }
}
