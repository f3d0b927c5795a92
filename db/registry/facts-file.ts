import { isAddress } from 'viem'
import { z } from 'zod'
import { fromBase58 } from '../base58.ts'
import { networkByName } from '../networks.ts'
import { ConfigError } from '../process/errors.ts'
import { SOLANA } from '../streams.ts'
import type { Fact } from './fact.ts'
import { FACT_KINDS, type FactFamily } from './kinds.ts'

/**
 * An account of Solana in base58, whose case matters, or an address in hex: in letters of both cases it carries its checksum
 * (EIP-55), so that a slip of the pen is seen.
 */
const address = z
  .string()
  .refine(value => /^0x[0-9a-fA-F]{40}$/.test(value) || fromBase58(value) !== undefined, {
    error: 'neither 0x and 40 hexadecimal digits nor base58 of 32 bytes',
  })
  .refine(value => !(/^0x.*[a-f]/.test(value) && /[A-F]/.test(value)) || isAddress(value), {
    error: 'the checksum (EIP-55) is not that of this address',
  })

/** Every kind of a family, each optional: one entry of a file holds all that is said of one subject. */
function subjectOf<F extends FactFamily, S extends z.ZodRawShape>(family: F, identity: S) {
  const kinds: Record<string, z.ZodType> = {}
  for (const [kind, schema] of Object.entries(FACT_KINDS[family])) kinds[kind] = schema.optional()
  return z.strictObject({ ...identity, ...kinds })
}

const onChain = { network: z.string(), address }
const ofMarket = { network: z.string(), marketId: z.string().regex(/^[\w.-]{1,128}$/) }
const named = { name: z.string().regex(/^[a-z0-9][a-z0-9.-]*$/) }

/** A file of db/registry/facts. `source`: where a reader can look up what it says. */
const factsFile = z.strictObject({
  source: z.string().min(1),
  vaults: z.array(subjectOf('vault', onChain)).default([]),
  assets: z.array(subjectOf('asset', onChain)).default([]),
  contracts: z.array(subjectOf('contract', onChain)).default([]),
  markets: z.array(subjectOf('market', ofMarket)).default([]),
  protocols: z.array(subjectOf('protocol', named)).default([]),
  curators: z.array(subjectOf('curator', named)).default([]),
})

/**
 * The facts of one file, in order; addresses in lower case.
 * @throws ConfigError that names the file and the entry
 */
export function factsOf(file: string, content: unknown): Fact[] {
  const parsed = factsFile.safeParse(content)
  if (!parsed.success) throw new ConfigError(`${file}: ${z.prettifyError(parsed.error)}`)
  const { vaults, assets, contracts, markets, protocols, curators } = parsed.data
  const chain = (family: FactFamily, entries: readonly Record<string, unknown>[]) =>
    entries.flatMap(({ network, address, ...kinds }) =>
      spread(`${family}:${placeOf(file, family, String(network), String(address))}`, kinds),
    )
  const ofMarkets = (entries: readonly Record<string, unknown>[]) =>
    chain(
      'market',
      entries.map(({ marketId, ...entry }) => ({ ...entry, address: marketId })),
    )
  const byName = (family: FactFamily, entries: readonly Record<string, unknown>[]) =>
    entries.flatMap(({ name, ...kinds }) => spread(`${family}:${String(name)}`, kinds))
  return [
    ...byName('protocol', protocols),
    ...byName('curator', curators),
    ...chain('asset', assets),
    ...chain('vault', vaults),
    ...chain('contract', contracts),
    ...ofMarkets(markets),
  ]
}

/** Chain and address, as subjects have them. */
function placeOf(file: string, family: FactFamily, network: string, address: string): string {
  const account = network === SOLANA.name ? fromBase58(address) : undefined
  if (account) return `${SOLANA.id}:${account}`
  const isOther = network === SOLANA.name || (family !== 'market' && !address.startsWith('0x'))
  if (isOther) throw new ConfigError(`${file}: ${address} is no address of ${network}`)
  return `${networkByName(network).chainId}:${address.toLowerCase()}`
}

function spread(subject: string, kinds: Record<string, unknown>): Fact[] {
  return Object.entries(kinds)
    .filter(([, value]) => value !== undefined)
    .map(([kind, value]) => ({ subject, kind, value: value as Fact['value'] }))
}
