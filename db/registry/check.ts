import { networkOfChain } from '../networks.ts'
import { SOLANA } from '../streams.ts'
import type { Fact } from './fact.ts'
import { type Facts, kindSchema } from './kinds.ts'

/**
 * What is wrong with a set of facts, one line each; none when it may be recorded. A value has to fit its kind, a name
 * has to lead somewhere (protocol, curator), a chain has to be ours, and a subject has to say a thing once.
 */
export function checkFacts(facts: readonly Fact[]): string[] {
  const problems: string[] = []
  const seen = new Set<string>()
  const subjects = new Set(facts.map(({ subject }) => subject))
  const identified = new Map<string, string>()
  for (const { subject, kind, value } of facts) {
    const here = `${subject} ${kind}`
    if (seen.has(here)) problems.push(`${here}: stated twice`)
    seen.add(here)
    const schema = kindSchema(subject, kind)
    if (!schema) {
      problems.push(`${here}: there is no such kind of fact`)
      continue
    }
    const parsed = schema.safeParse(value)
    if (!parsed.success) {
      for (const { path, message } of parsed.error.issues)
        problems.push(`${[here, ...path].join(' ')}: ${message}`)
      continue
    }
    const [family, chain] = subject.split(':')
    const isChain = networkOfChain(Number(chain)) !== undefined || Number(chain) === SOLANA.id
    if (['vault', 'asset', 'contract', 'market'].includes(family ?? '') && !isChain)
      problems.push(`${subject}: no network has chain id ${chain}`)
    if (family === 'vault') problems.push(...checkVault(here, kind, parsed.data, subjects))
    if (family === 'vault' && kind === 'vaultId') {
      const id = `${chain}:${String(parsed.data)}`
      const other = identified.get(id)
      if (other) problems.push(`${here}: ${String(parsed.data)} is ${other} already`)
      identified.set(id, subject)
    }
  }
  return problems
}

function checkVault(here: string, kind: string, value: unknown, subjects: ReadonlySet<string>): string[] {
  const facts = { [kind]: value } as Facts<'vault'>
  const problems: string[] = []
  if (facts.curator !== undefined && !subjects.has(`curator:${facts.curator}`))
    problems.push(`${here}: nothing is said of curator ${facts.curator}`)
  if (facts.listed && !subjects.has(`protocol:${facts.listed.protocol}`))
    problems.push(`${here}: nothing is said of protocol ${facts.listed.protocol}`)
  for (const { content, startDate, endDate } of facts.flags ?? []) {
    if (startDate !== undefined && endDate !== undefined && startDate >= endDate)
      problems.push(`${here}: «${content}» ends before it begins`)
  }
  if (facts.tags && new Set(facts.tags).size !== facts.tags.length) problems.push(`${here}: a tag twice`)
  return problems
}

/** How many subjects there are of each family, and vaults listed by network. */
export function countFacts(facts: readonly Fact[]) {
  const families = new Map<string, Set<string>>()
  const listed = new Map<string, number>()
  for (const { subject, kind } of facts) {
    const [family = '', chain] = subject.split(':')
    families.set(family, (families.get(family) ?? new Set()).add(subject))
    if (family === 'vault' && kind === 'listed') {
      const network = networkOfChain(Number(chain))?.name ?? `chain ${chain}`
      listed.set(network, (listed.get(network) ?? 0) + 1)
    }
  }
  return {
    subjects: Object.fromEntries([...families].map(([family, of]) => [family, of.size])),
    listed: Object.fromEntries(listed),
  }
}

/** Addresses of the listed vaults of a chain, lower case: what its processor looks at without waiting for an event. */
export function listedVaults(facts: readonly Fact[], chainId: number): string[] {
  const prefix = `vault:${chainId}:`
  return facts
    .filter(({ subject, kind }) => kind === 'listed' && subject.startsWith(prefix))
    .map(({ subject }) => subject.slice(prefix.length))
    .filter(address => /^0x[0-9a-f]{40}$/.test(address))
}
