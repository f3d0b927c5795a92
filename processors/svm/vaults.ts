import type pg from 'pg'
import type { Key } from '../../abi/svm/programs.ts'
import { decodeEventData } from '../../db/events/event-json.ts'
import { readTeaching } from '../../db/events/teaching.ts'
import type { DomainEvent, EventData } from '../../db/events/vocabulary.ts'
import { SOLANA } from '../../db/streams.ts'
import type { VaultAccounts } from './program.ts'

export interface KnownVault {
  vault: Key
  protocol: string
  accounts: VaultAccounts
}

type MintData = EventData<'SvmMintDescribed'>

/** What the events of a stream say of vaults and mints, so far. */
export class Vaults {
  private readonly byVault = new Map<Key, KnownVault>()
  private readonly protocolsByMint = new Map<Key, string>()
  private readonly mints = new Map<Key, MintData>()
  /** By farm that a vault names, the mint of the shares in it. */
  private readonly farms = new Map<Key, Key>()
  /** Mints and farms of which everybody who has some was read. */
  private readonly whole = new Set<Key>()

  /** False where it was known already. */
  learn(event: DomainEvent): boolean {
    if (event.type === 'SvmMintDescribed') return this.learnMint(event.contract as Key, event.data)
    if (event.type === 'SvmFarmNamed') return this.learnFarm(event.contract as Key, event.data.farm as Key)
    if (event.type === 'SvmHoldersListed') return this.learnWhole((event.data.farm ?? event.contract) as Key)
    if (event.type === 'SvmStakesRevalued') return this.whole.delete(event.data.farm as Key)
    if (event.type !== 'SvmVaultIdentified') return false
    const vault = event.contract as Key
    const before = this.byVault.get(vault)?.accounts
    if (before && isSame(before, event.data)) return false
    const protocol = event.protocol ?? ''
    this.byVault.set(vault, { vault, protocol, accounts: event.data })
    this.protocolsByMint.set(event.data.shareMint as Key, protocol)
    return true
  }

  private learnMint(mint: Key, data: MintData): boolean {
    const before = this.mints.get(mint)
    if (before && isSame(before, data)) return false
    this.mints.set(mint, data)
    return true
  }

  private learnFarm(mint: Key, farm: Key): boolean {
    if (this.farms.get(farm) === mint) return false
    this.farms.set(farm, mint)
    return true
  }

  private learnWhole(key: Key): boolean {
    if (this.whole.has(key)) return false
    this.whole.add(key)
    return true
  }

  /** The shares in a farm that their vault names: anybody can make others. */
  mintOfFarm(farm: Key): Key | undefined {
    return this.farms.get(farm)
  }

  /** Whether everybody who has some of this mint, or something in this farm, is known. */
  isWhole(key: Key): boolean {
    return this.whole.has(key)
  }

  /** Farms that vaults name, with the mint of the shares in each. */
  namedFarms(): readonly (readonly [farm: Key, mint: Key])[] {
    return [...this.farms]
  }

  all(): KnownVault[] {
    return [...this.byVault.values()]
  }

  protocolOfMint(mint: Key): string | undefined {
    return this.protocolsByMint.get(mint)
  }

  shareMints(): Key[] {
    return [...this.protocolsByMint.keys()]
  }

  mint(key: Key): MintData | undefined {
    return this.mints.get(key)
  }

  copy(): Vaults {
    const copied = new Vaults()
    for (const [vault, known] of this.byVault) copied.byVault.set(vault, known)
    for (const [mint, protocol] of this.protocolsByMint) copied.protocolsByMint.set(mint, protocol)
    for (const [mint, data] of this.mints) copied.mints.set(mint, data)
    for (const [farm, mint] of this.farms) copied.farms.set(farm, mint)
    for (const key of this.whole) copied.whole.add(key)
    return copied
  }
}

/** What the events that are stored say of vaults of these programs, and of mints. */
export async function readVaults(
  pool: pg.Pool,
  isMeant: (program: Key) => boolean = () => true,
): Promise<Vaults> {
  const vaults = new Vaults()
  for (const { type, protocol, contract, data, is_retracted } of await readTeaching(pool, SOLANA.id)) {
    if (is_retracted) continue
    const event = {
      type,
      protocol,
      contract: contract ?? '',
      data: decodeEventData(type, data),
    } as DomainEvent
    if (event.type !== 'SvmVaultIdentified' || isMeant(event.data.program as Key)) vaults.learn(event)
  }
  return vaults
}

const isSame = (a: object, b: object) =>
  JSON.stringify(Object.entries(a).sort()) === JSON.stringify(Object.entries(b).sort())
