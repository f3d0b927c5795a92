import { z } from 'zod'
import { address } from '../../db/events/shapes.ts'
import { isNetworkName, type NetworkName } from '../../db/networks.ts'
import { ConfigError } from '../../db/process/errors.ts'

const addressTable = z.object({ source: z.string(), networks: z.record(z.string(), z.array(address)) })

/** A table of db/registry/contracts, checked: the addresses of one kind of contract, by network. */
export function addressesByNetwork(table: unknown): Partial<Record<NetworkName, readonly string[]>> {
  return byNetwork(addressTable.parse(table).networks)
}

/** The rows of a table whose keys are our networks. A name that is none of ours is a mistake in the table. */
export function byNetwork<T>(table: Record<string, T>): Partial<Record<NetworkName, T>> {
  const result: Partial<Record<NetworkName, T>> = {}
  for (const [name, rows] of Object.entries(table)) {
    if (!isNetworkName(name))
      throw new ConfigError(`db/registry/contracts names a network that is none of ours: ${name}.`)
    result[name] = rows
  }
  return result
}
