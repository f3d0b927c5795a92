import type { Key } from '../../abi/svm/programs.ts'
import type { DomainEvent, EventData } from '../../db/events/vocabulary.ts'
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
  /** By mint of the shares and farm: those that vaults name. */
  private readonly farms = new Set<string>()

  /** False where it was known already. */
  learn(event: DomainEvent): boolean {
    if (event.type === 'SvmMintDescribed') return this.learnMint(event.contract as Key, event.data)
    if (event.type === 'SvmFarmNamed') return this.learnFarm(event.contract as Key, event.data.farm as Key)
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
    if (this.isFarm(mint, farm)) return false
    this.farms.add(`${mint} ${farm}`)
    return true
  }

  /** Whether the vault of these shares names the farm: anybody can make others. */
  isFarm(mint: Key, farm: Key): boolean {
    return this.farms.has(`${mint} ${farm}`)
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
    for (const farm of this.farms) copied.farms.add(farm)
    return copied
  }
}

const isSame = (a: object, b: object) =>
  JSON.stringify(Object.entries(a).sort()) === JSON.stringify(Object.entries(b).sort())
