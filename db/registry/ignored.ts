import type pg from 'pg'
import { decodeEventData } from '../events/event-json.ts'
import {
  appendFacts,
  lockStreamHead,
  REGISTRY_STREAM,
  readEvents,
  registerStream,
} from '../events/event-store.ts'
import type { DomainEvent } from '../events/vocabulary.ts'
import { inTransaction } from '../postgres.ts'
import { ConfigError } from '../process/errors.ts'
import { FACT_KINDS } from './kinds.ts'

/** Kind of the fact that a contract is left alone, and of contract under which CONTRACTS_FILE names such. */
export const IGNORED = 'ignored'

export interface Ignored {
  /** In lower case. */
  contract: string
  reason?: string | undefined
  /** Who says so; absent: a file of facts. */
  by?: 'command' | 'CONTRACTS_FILE' | undefined
}

/** What the registry says of the contracts of a chain, as far as it is read. */
export interface IgnoredContracts {
  /** Position of the registry's stream. */
  position: number
  ignored: Map<string, Ignored>
  /** Ignored once, and not any more. */
  taken: Set<string>
}

const subjectOf = (chainId: number, contract: string) => `contract:${chainId}:${contract.toLowerCase()}`

/** @param known what was read before: then only what came since is read, and the same is given where nothing did */
export async function readIgnored(
  db: pg.Pool | pg.PoolClient,
  chainId: number,
  known: IgnoredContracts = { position: 0, ignored: new Map(), taken: new Set() },
): Promise<IgnoredContracts> {
  const events = await readEvents(db, REGISTRY_STREAM, {
    after: known.position,
    types: ['FactRecorded', 'FactRemoved'],
  })
  const prefix = subjectOf(chainId, '')
  const ignored = new Map(known.ignored)
  const taken = new Set(known.taken)
  let isChanged = false
  for (const { type, data } of events) {
    const fact = type === 'FactRecorded' ? decodeEventData(type, data) : undefined
    const { subject, kind } = fact ?? decodeEventData('FactRemoved', data)
    if (kind !== IGNORED || !subject.startsWith(prefix)) continue
    const contract = subject.slice(prefix.length)
    isChanged = true
    if (fact) {
      ignored.set(contract, { contract, ...FACT_KINDS.contract.ignored.parse(JSON.parse(fact.value)) })
      taken.delete(contract)
    } else if (ignored.delete(contract)) taken.add(contract)
  }
  const position = events.at(-1)?.position ?? known.position
  if (!isChanged) {
    known.position = position
    return known
  }
  return { position, ignored, taken }
}

/** Whether a fact follows the files of facts: what an operator said of a contract does not. */
export function isOfFiles({ kind, value }: { kind: string; value: string }): boolean {
  return kind !== IGNORED || FACT_KINDS.contract.ignored.parse(JSON.parse(value)).by === undefined
}

/** Has a contract left alone by everybody from now on; false where it is already. */
export async function ignoreContract(
  pool: pg.Pool,
  chainId: number,
  contract: string,
  reason: string | undefined,
): Promise<boolean> {
  const changed = await change(pool, chainId, ignored =>
    ignored.has(contract.toLowerCase()) ? [] : [recorded(chainId, contract, { reason, by: 'command' })],
  )
  return changed > 0
}

/**
 * Undoes it.
 * @throws ConfigError where it is not ignored, or where a file says so
 */
export async function unignoreContract(pool: pg.Pool, chainId: number, contract: string): Promise<void> {
  await change(pool, chainId, ignored => {
    const held = ignored.get(contract.toLowerCase())
    if (!held) throw new ConfigError(`${contract} is not ignored.`)
    if (held.by === 'CONTRACTS_FILE')
      throw new ConfigError(
        `${contract} is ignored by CONTRACTS_FILE: take it out there, and start the processor again.`,
      )
    if (held.by === undefined)
      throw new ConfigError(
        `${contract} is ignored by a file of db/registry/facts: take it out there, and run \`vaultlog registry record\`.`,
      )
    return [removed(chainId, contract)]
  })
}

/** Makes the registry say of a chain what CONTRACTS_FILE says of the contracts to ignore. */
export async function followContractsFile(
  pool: pg.Pool,
  chainId: number,
  contracts: readonly string[],
): Promise<number> {
  const named = new Set(contracts.map(contract => contract.toLowerCase()))
  return change(pool, chainId, ignored => [
    ...[...named]
      .filter(contract => !ignored.has(contract))
      .map(contract => recorded(chainId, contract, { by: 'CONTRACTS_FILE' })),
    ...[...ignored.values()]
      .filter(({ contract, by }) => by === 'CONTRACTS_FILE' && !named.has(contract))
      .map(({ contract }) => removed(chainId, contract)),
  ])
}

/** Appends to the registry's stream, as its only writer for the moment. */
async function change(
  pool: pg.Pool,
  chainId: number,
  events: (ignored: ReadonlyMap<string, Ignored>) => DomainEvent[],
): Promise<number> {
  await registerStream(pool, REGISTRY_STREAM, 'registry', 'registry')
  return inTransaction(pool, async tx => {
    await lockStreamHead(tx, REGISTRY_STREAM)
    const { ignored } = await readIgnored(tx, chainId)
    const list = events(ignored)
    if (list.length > 0) await appendFacts(tx, REGISTRY_STREAM, list, Math.floor(Date.now() / 1000))
    return list.length
  })
}

const recorded = (chainId: number, contract: string, value: Omit<Ignored, 'contract'>): DomainEvent => ({
  type: 'FactRecorded',
  contract: '',
  data: { subject: subjectOf(chainId, contract), kind: IGNORED, value: JSON.stringify(value) },
})

const removed = (chainId: number, contract: string): DomainEvent => ({
  type: 'FactRemoved',
  contract: '',
  data: { subject: subjectOf(chainId, contract), kind: IGNORED },
})
