import type { DomainEvent, EventData } from '../../db/events/vocabulary.ts'
import type { ContractReader } from '../protocol.ts'
import { asSymbol, asText } from '../samples/answers.ts'

/** A contract is no vault of the kind that it was looked at as; `reason` is what it lacks. */
export const rejected = (vault: string, reason: string): DomainEvent[] => [
  { type: 'VaultRejected', contract: vault, data: { vault, reason } },
]

type Words = 'name' | 'symbol' | 'assetName' | 'assetSymbol'
type Facts = Omit<EventData<'VaultDiscovered'>, Words | 'vault' | 'deployedBlock' | 'deployedAt'>

/** A contract is a vault. Its words are anybody's, so they are cut and cleaned here. */
export function discovered(
  vault: string,
  facts: Facts,
  words: Record<Words, Awaited<ReturnType<ContractReader['call']>>>,
  deployment?: Awaited<ReturnType<ContractReader['deployment']>>,
): DomainEvent[] {
  const data: EventData<'VaultDiscovered'> = {
    vault,
    ...facts,
    name: asText(words.name),
    symbol: asSymbol(words.symbol),
    assetName: asText(words.assetName),
    assetSymbol: asSymbol(words.assetSymbol),
    ...(deployment ? { deployedBlock: deployment.block, deployedAt: deployment.timestamp } : {}),
  }
  return [{ type: 'VaultDiscovered', contract: vault, data }]
}
