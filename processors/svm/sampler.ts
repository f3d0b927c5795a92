import { bytesOf, findProgramAddress } from '../../abi/svm/addresses.ts'
import { CLOCK, type Key, keyOf } from '../../abi/svm/programs.ts'
import { decodeMint } from '../../abi/svm/token.ts'
import type { Ask } from '../../db/chain/failover.ts'
import { cleanText } from '../../db/events/event-json.ts'
import type { DomainEvent, EventData } from '../../db/events/vocabulary.ts'
import { UnavailableError } from '../../db/process/errors.ts'
import { log } from '../../db/process/log.ts'
import { type Accounts, MOST_KEYS, readAccounts, readInHalves } from './accounts.ts'
import type { Stake, SvmAccount, SvmProgram } from './program.ts'
import type { KnownVault, Vaults } from './vaults.ts'

/** State of one slot, as events of it. */
export interface Sampled {
  slot: number
  events: DomainEvent[]
  /** Vaults and stakes whose accounts are not what they should be. */
  refused: { account: Key; reason: string }[]
}

type Reason = EventData<'SvmVaultSampled'>['reason']

/** Vaults whose accounts are asked for at once where they say what else is wanted: some of them are large. */
const FIRST = 50
/** Stakes of one round, and those that wait for one. */
const STAKES = 300
/** With the account of the farm of each. */
const STAKES_AT_ONCE = MOST_KEYS / 2
const MOST_STAKES = 100_000
/** Vaults of one round; those that are left have their turn in the next one. */
const ROUND = 300
/** Seconds between samples of a vault that something happens to. */
const SOON = 60
const HOUR = 3600
/** Seconds between samples of a vault of which there is no share: anybody can make any number of them. */
const SELDOM = 86_400

/** Metaplex Token Metadata. @see developers.metaplex.com, token-metadata */
const METADATA_PROGRAM = keyOf('metaqbxxUerdq28cj1RbAWkYQm3ybzjb6a8bt518x1s')
const MOST_NAME = 200

interface Due {
  known: KnownVault
  reason: Reason
}

interface Last {
  time: number
  isEmpty: boolean
}

/** Which vaults are to be read when, and what a node says of them: of now alone, as it knows no past. */
export class Sampler {
  private readonly ask: Ask
  private readonly programs: ReadonlyMap<string, SvmProgram>
  private readonly last = new Map<Key, Last>()
  private readonly touched = new Set<Key>()
  /** By account and owner. */
  private readonly stakes = new Map<string, Stake>()

  constructor(ask: Ask, programs: readonly SvmProgram[]) {
    this.ask = ask
    this.programs = new Map(programs.map(each => [each.name, each]))
  }

  /** Something happened to these. */
  touch(vaults: Iterable<Key>): void {
    for (const vault of vaults) this.touched.add(vault)
  }

  /** Something was staked, or taken out: what is so now stands in these accounts. */
  touchStakes(stakes: Iterable<Stake>): void {
    for (const stake of stakes) {
      // The one that has waited longest may be of a farm that nobody names.
      const [oldest] = this.stakes.size < MOST_STAKES ? [] : this.stakes.keys()
      if (oldest !== undefined) this.stakes.delete(oldest)
      this.stakes.set(stakeKey(stake), stake)
    }
  }

  /** How many stakes of a farm wait to be read. */
  stakesWaiting(farm: Key): number {
    return [...this.stakes.values()].filter(stake => stake.farm === farm).length
  }

  /** Whether it was read, and there are no shares of it. */
  isEmpty(vault: Key): boolean {
    return this.last.get(vault)?.isEmpty ?? false
  }

  due(vaults: Vaults, time: number): Due[] {
    const due = vaults.all().flatMap(known => {
      const { time: before = Number.NEGATIVE_INFINITY, isEmpty = false } = this.last.get(known.vault) ?? {}
      const isTouched = this.touched.has(known.vault) && time - before >= SOON
      const isHourly = isEmpty ? time - before >= SELDOM : hourOf(before) !== hourOf(time)
      if (!isTouched && !isHourly) return []
      const reason: Reason = !vaults.mint(known.accounts.shareMint as Key)
        ? 'discovery'
        : isHourly
          ? 'hourly'
          : 'activity'
      return [{ known, reason, before }]
    })
    return due.sort((a, b) => a.before - b.before).slice(0, ROUND)
  }

  /**
   * What a node that has come as far as `least` says of them, and of the stakes that were touched, by the slots it says it of. Where it
   * fails on the way, what it said before: that counts as told.
   */
  async read(
    due: readonly Due[],
    vaults: Vaults,
    { least, time }: { least: number; time: number },
  ): Promise<Sampled[]> {
    const found: Sampled[] = []
    try {
      await this.readInto(found, due, vaults, { least, time })
    } catch (error) {
      if (!(error instanceof UnavailableError) || found.length === 0) throw error
      log.warn({ error: error.message }, 'not everything could be sampled')
    }
    return found
  }

  private async readInto(
    found: Sampled[],
    due: readonly Due[],
    vaults: Vaults,
    { least, time }: { least: number; time: number },
  ): Promise<void> {
    const tooLarge = new Set<Key>()
    const refuse = ({ known: { vault } }: Due, reason: string) => {
      tooLarge.add(vault)
      this.last.set(vault, { time, isEmpty: true })
      this.touched.delete(vault)
      found.push({ slot: least, events: [], refused: [{ account: vault, reason }] })
    }
    const first = await this.readFirst(due, least, refuse)
    let asked = due.filter(({ known }) => !tooLarge.has(known.vault))
    const keysOf = ({ known }: Due) => this.keysOf(known, vaults, first.get(known.vault))
    while (asked.length > 0) {
      const keys = new Set<Key>([CLOCK])
      let count = 0
      for (const each of asked) {
        const more = keysOf(each)
        if (count > 0 && keys.size + more.length > MOST_KEYS) break
        for (const key of more) keys.add(key)
        count++
      }
      const now = asked.slice(0, count)
      asked = asked.slice(count)
      const read = async (part: readonly Due[]) => {
        const wanted = part === now ? keys : new Set([CLOCK, ...part.flatMap(keysOf)])
        found.push(await this.readTogether(part, [...wanted], vaults, { least, time }))
      }
      await readInHalves(now, read, refuse)
    }
    await this.readStakesInto(found, vaults, least)
  }

  /** The accounts of vaults that themselves say what else is wanted: of any slot, as they are read with it once more. */
  private async readFirst(
    due: readonly Due[],
    least: number,
    refuse: (one: Due, reason: string) => void,
  ): Promise<Map<Key, SvmAccount>> {
    const found = new Map<Key, SvmAccount>()
    const asked = due.filter(({ known: { protocol } }) => this.programs.get(protocol)?.readsFirst)
    const read = async (part: readonly Due[]) => {
      const keys = part.map(({ known: { vault } }) => vault)
      const { accounts } = await readAccounts(this.ask, keys, least)
      for (const [key, account] of accounts) if (account) found.set(key, account)
    }
    for (let i = 0; i < asked.length; i += FIRST) await readInHalves(asked.slice(i, i + FIRST), read, refuse)
    return found
  }

  private keysOf(
    { vault, protocol, accounts }: KnownVault,
    vaults: Vaults,
    account: SvmAccount | undefined,
  ): Key[] {
    const wanted = this.programs.get(protocol)?.wants(vault, accounts, account) ?? []
    const mints = [accounts.shareMint, accounts.asset] as Key[]
    const unknown = mints.filter(mint => !vaults.mint(mint)).flatMap(mint => [mint, metadataOf(mint)])
    return [...new Set([vault, accounts.shareMint as Key, accounts.asset as Key, ...wanted, ...unknown])]
  }

  private async readTogether(
    due: readonly Due[],
    keys: readonly Key[],
    vaults: Vaults,
    { least, time }: { least: number; time: number },
  ): Promise<Sampled> {
    const { slot, accounts } = await readAccounts(this.ask, keys, least)
    const sampled: Sampled = { slot, events: [], refused: [] }
    for (const { known, reason } of due) {
      const { vault } = known
      try {
        const events = this.sampleOf(known, reason, { slot, accounts }, vaults)
        const isEmpty = events?.some(
          ({ type, data }) => type === 'SvmVaultSampled' && data.totalSupply === 0n,
        )
        this.last.set(vault, { time, isEmpty: isEmpty ?? false })
        sampled.events.push(...(events ?? []))
        if (!events) {
          // It names other accounts than a moment ago: soon once more.
          this.touched.add(vault)
          continue
        }
      } catch (error) {
        if (!(error instanceof TypeError) && !(error instanceof RangeError)) throw error
        this.last.set(vault, { time, isEmpty: true })
        sampled.refused.push({ account: vault, reason: error.message })
      }
      this.touched.delete(vault)
    }
    return sampled
  }

  private async readStakesInto(found: Sampled[], vaults: Vaults, least: number): Promise<void> {
    const named = [...this.stakes.values()].filter(({ mint, farm }) => vaults.mintOfFarm(farm) === mint)
    const refuse = (stake: Stake, reason: string) => {
      this.stakes.delete(stakeKey(stake))
      found.push({ slot: least, events: [], refused: [{ account: stake.stakeAccount, reason }] })
    }
    for (let i = 0; i < Math.min(named.length, STAKES); i += STAKES_AT_ONCE)
      await readInHalves(
        named.slice(i, i + STAKES_AT_ONCE),
        async part => void found.push(await this.readStakes(part, vaults, least)),
        refuse,
      )
  }

  private async readStakes(asked: readonly Stake[], vaults: Vaults, least: number): Promise<Sampled> {
    const keys = new Set(asked.flatMap(({ stakeAccount, farm }) => [stakeAccount, farm]))
    const { slot, accounts } = await readAccounts(this.ask, [...keys], least)
    const sampled: Sampled = { slot, events: [], refused: [] }
    for (const asking of asked) {
      const { mint, ...stake } = asking
      this.stakes.delete(stakeKey(asking))
      const protocol = vaults.protocolOfMint(mint)
      const farms = protocol && this.programs.get(protocol)?.farms
      if (!farms) continue
      try {
        const amount = farms.read(asking, accounts.get(stake.stakeAccount), accounts.get(stake.farm))
        sampled.events.push({
          type: 'SvmStakeSampled',
          protocol,
          contract: mint,
          data: { ...stake, amount },
        })
      } catch (error) {
        if (!(error instanceof TypeError) && !(error instanceof RangeError)) throw error
        sampled.refused.push({ account: stake.stakeAccount, reason: error.message })
      }
    }
    return sampled
  }

  /** Undefined where it wants other accounts than were asked for. */
  private sampleOf(
    { vault, protocol, accounts: is }: KnownVault,
    reason: Reason,
    { slot, accounts }: Accounts,
    vaults: Vaults,
  ): DomainEvent[] | undefined {
    const program = this.programs.get(protocol)
    const account = accounts.get(vault)
    const [share, asset] = [is.shareMint as Key, is.asset as Key]
    const [mint, assetMint] = [mintOf(accounts.get(share)), mintOf(accounts.get(asset))]
    if (!program || !account) throw new TypeError('there is no such account any more')
    if (!mint || !assetMint) throw new TypeError('a mint of it is none')
    if (mint.authority !== is.authority)
      throw new TypeError(`its shares are minted by ${mint.authority ?? 'nobody'}, not by the vault`)
    const wants = program.wants(vault, is, account)
    if (wants.some(key => !accounts.has(key))) return undefined
    const wanted = wants.map(key => accounts.get(key))
    const { farm, ...state } = program.read({
      vault,
      accounts: is,
      account,
      supply: mint.supply,
      wanted,
      slot,
    })
    const clock = accounts.get(CLOCK)
    const epoch = clock && clock.data.length >= 24 ? Number(clock.data.readBigUInt64LE(16)) : undefined
    const described = [share, asset].flatMap(key => describe(key, accounts, vaults, protocol))
    const sampled: DomainEvent = {
      type: 'SvmVaultSampled',
      protocol,
      contract: vault,
      data: {
        reason,
        ...state,
        decimals: mint.decimals,
        assetDecimals: assetMint.decimals,
        ...(epoch !== undefined && { epoch }),
      },
    }
    const named: DomainEvent[] = farm
      ? [{ type: 'SvmFarmNamed', protocol, contract: share, data: { vault, ...farm } }]
      : []
    return [...[...described, ...named].filter(event => vaults.learn(event)), sampled]
  }
}

const stakeKey = ({ stakeAccount, owner }: Stake) => `${stakeAccount} ${owner}`

/** What a mint says of itself, where that is not known; its name only where it was asked for. */
function describe(
  mint: Key,
  accounts: ReadonlyMap<Key, SvmAccount | undefined>,
  vaults: Vaults,
  protocol: string,
): DomainEvent[] {
  const account = accounts.get(mint)
  const is = mintOf(account)
  if (!account || !is) return []
  const before = vaults.mint(mint)
  const named = before ?? nameOf(mint, accounts.get(metadataOf(mint)))
  return [
    {
      type: 'SvmMintDescribed',
      protocol,
      contract: mint,
      data: {
        tokenProgram: account.owner,
        decimals: is.decimals,
        ...(is.authority && { mintAuthority: is.authority }),
        ...(is.freezeAuthority && { freezeAuthority: is.freezeAuthority }),
        ...(named?.name && { name: named.name }),
        ...(named?.symbol && { symbol: named.symbol }),
      },
    },
  ]
}

const mintOf = (account: SvmAccount | undefined) => account && decodeMint(account.owner, account.data)

const metadataOf = (mint: Key): Key =>
  findProgramAddress([Buffer.from('metadata'), bytesOf(METADATA_PROGRAM), bytesOf(mint)], METADATA_PROGRAM)

/** Undefined where it is no metadata of this mint. */
function nameOf(mint: Key, account: SvmAccount | undefined): { name: string; symbol: string } | undefined {
  if (account?.owner !== METADATA_PROGRAM || account.data.length < 69) return undefined
  if (!account.data.subarray(33, 65).equals(bytesOf(mint))) return undefined
  let at = 65
  const text = () => {
    const length = account.data.readUInt32LE(at)
    if (length > MOST_NAME) throw new RangeError(`its metadata have a name of ${length} bytes`)
    at += 4 + length
    // Texts are filled up with zero bytes.
    return cleanText(account.data.toString('utf8', at - length, at).replaceAll('\0', '')).trim()
  }
  return { name: text(), symbol: text() }
}

const hourOf = (time: number) => Math.floor(time / HOUR)
