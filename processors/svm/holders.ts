import { z } from 'zod'
import { keyFrom } from '../../abi/svm/addresses.ts'
import { type Key, TOKEN_PROGRAM } from '../../abi/svm/programs.ts'
import { fromBase58, toBase58 } from '../../db/base58.ts'
import { RpcRefusedError } from '../../db/chain/errors.ts'
import type { Ask } from '../../db/chain/failover.ts'
import type { DomainEvent } from '../../db/events/vocabulary.ts'
import { UnavailableError } from '../../db/process/errors.ts'
import { assertAsFar, isBehind, isTooLong } from './accounts.ts'
import type { AccountsOf, Stake, SvmProgram } from './program.ts'
import type { Sampled, Sampler } from './sampler.ts'
import type { Vaults } from './vaults.ts'

/** Seconds between two such questions: nodes look through all accounts of a program for each. */
const EVERY = 10
/** Seconds for which what a node refused to tell is not asked for again. */
const REST = 86_400
/** Seconds without a question after one that was not answered: it held up the blocks. */
const SILENCE = 600
/** Seconds until a farm is read again: anybody may change what its stakes are worth. */
const FARM_REST = 300
/** Bytes of an answer, some 50,000 accounts; where there are more, they are asked for by the first byte of their owner. */
const MOST_BYTES = 16 * 1024 * 1024
/** Questions of a part each that are asked at a time. */
const AT_ONCE = 8
/** Stakes of a farm that wait to be read before more of them are asked for. */
const MOST_WAITING = 30_000

/** Of a token account, what is asked for: from the owner's key to the state. @see solana-program/token, state.rs */
const TOKENS = { ofAt: 0, ownerAt: 32, size: 165 }
const OWNER = { offset: 32, length: 77 }
const AMOUNT = 32
const STATE = 76

const answerSchema = z.object({
  context: z.object({ slot: z.number().int().nonnegative() }),
  value: z.array(
    z.object({ pubkey: z.string(), account: z.object({ data: z.tuple([z.string(), z.literal('base64')]) }) }),
  ),
})

/** Whose accounts are being read: parts of them are, where there are many. */
interface Reading {
  mint: Key
  protocol: string
  farm?: Key
  /** First bytes of owners, as hex, that are still to be asked for. */
  left: string[]
  holders: number
}

interface Found {
  slot: number
  accounts: { key: Key; data: Buffer }[]
}

/**
 * Asks a node for everybody who has shares, once for each vault and each farm: changes tell of those alone whose shares moved since what is
 * indexed begins, or since the vault was met.
 */
export class Holders {
  private readonly ask: Ask
  private readonly programs: ReadonlyMap<string, SvmProgram>
  private readonly sampler: Sampler
  private readonly restsUntil = new Map<Key, number>()
  private reading: Reading | undefined
  private askedAt = Number.NEGATIVE_INFINITY

  constructor(ask: Ask, programs: readonly SvmProgram[], sampler: Sampler) {
    this.ask = ask
    this.programs = new Map(programs.map(each => [each.name, each]))
    this.sampler = sampler
  }

  /** What was read of the stakes of these farms is not so any more. */
  forget(farms: readonly Key[]): void {
    if (this.reading?.farm && farms.includes(this.reading.farm)) this.reading = undefined
  }

  /** What a node that has come as far as `least` says of some of them. */
  async read(vaults: Vaults, { least, time }: { least: number; time: number }): Promise<Sampled[]> {
    if (time - this.askedAt < EVERY) return []
    this.reading ??= this.next(vaults, time)
    const { reading } = this
    if (!reading) return []
    const { farm, mint } = reading
    // Stakes are read by the sampler, with the account of their farm.
    const waiting = farm ? this.sampler.stakesWaiting(farm) : 0
    if (farm && reading.left.length === 0)
      return waiting > 0 ? [] : [this.farmDone(reading, farm, { least, time }, vaults)]
    if (waiting > MOST_WAITING) return []
    this.askedAt = time
    const found: Sampled[] = []
    try {
      for (let i = 0; i < AT_ONCE && reading.left.length > 0; i++)
        found.push(await this.readPart(reading, least, vaults))
    } catch (error) {
      if (isBehind(error) || !(error instanceof RpcRefusedError) || !error.isAboutQuestion) {
        if (!isBehind(error)) this.askedAt = time + SILENCE
        // The parts that were read are not asked for again.
        if (!(error instanceof UnavailableError) || found.length === 0) throw error
        return found
      }
      this.reading = undefined
      this.restsUntil.set(farm ?? mint, time + REST)
      const reason = `who had shares before what is indexed is not known: ${error.message}`
      found.push({ slot: least, events: [], refused: [{ account: farm ?? mint, reason }] })
    }
    return found
  }

  private next(vaults: Vaults, time: number): Reading | undefined {
    const isDue = (key: Key) => !vaults.isWhole(key) && (this.restsUntil.get(key) ?? 0) <= time
    const known = vaults.all().find(({ vault, accounts: { shareMint } }) => {
      const mint = shareMint as Key
      return vaults.mint(mint) && !this.sampler.isEmpty(vault) && isDue(mint)
    })
    const common = { left: [''], holders: 0 }
    if (known) return { mint: known.accounts.shareMint as Key, protocol: known.protocol, ...common }
    const [farm, mint] = vaults.namedFarms().find(([each]) => isDue(each)) ?? []
    const protocol = mint && vaults.protocolOfMint(mint)
    return farm && mint && protocol ? { mint, farm, protocol, ...common } : undefined
  }

  private async readPart(reading: Reading, least: number, vaults: Vaults): Promise<Sampled> {
    const { mint, farm, protocol } = reading
    const [prefix = ''] = reading.left
    const accountsOf = farm ? this.programs.get(protocol)?.farms?.stakesOf(farm) : tokensOf(mint, vaults)
    if (!accountsOf) throw new TypeError(`nothing says where the holders of ${mint} are`)
    let found: Found
    try {
      found = await this.list(
        accountsOf,
        prefix,
        farm ? { offset: accountsOf.ownerAt, length: 32 } : OWNER,
        least,
      )
    } catch (error) {
      if (!isTooLong(error) || prefix !== '') throw error
      const parts = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))
      reading.left = parts
      return { slot: least, events: [], refused: [] }
    }
    reading.left.shift()
    const sampled: Sampled = { slot: found.slot, events: [], refused: [] }
    if (farm) {
      const stakes = found.accounts.map(
        ({ key, data }): Stake => ({ mint, farm, stakeAccount: key, owner: keyFrom(data) }),
      )
      reading.holders += stakes.length
      this.sampler.touchStakes(stakes)
      return sampled
    }
    for (const { key, data } of found.accounts) {
      const amount = data.readBigUInt64LE(AMOUNT)
      const isSetUp = data[STATE] === 1 || data[STATE] === 2
      if (!isSetUp || amount === 0n) continue
      reading.holders++
      sampled.events.push({
        type: 'SvmShareAccountSampled',
        protocol,
        contract: mint,
        data: { tokenAccount: key, owner: keyFrom(data.subarray(0, 32)), amount },
      })
    }
    if (reading.left.length === 0) sampled.events.push(...this.done(reading, found.slot, vaults).events)
    return sampled
  }

  private farmDone(
    reading: Reading,
    farm: Key,
    { least, time }: { least: number; time: number },
    vaults: Vaults,
  ): Sampled {
    this.restsUntil.set(farm, time + FARM_REST)
    return this.done(reading, least, vaults)
  }

  private done({ mint, farm, protocol, holders }: Reading, slot: number, vaults: Vaults): Sampled {
    const event: DomainEvent = {
      type: 'SvmHoldersListed',
      protocol,
      contract: mint,
      data: { ...(farm && { farm }), holders },
    }
    this.reading = undefined
    vaults.learn(event)
    return { slot, events: [event], refused: [] }
  }

  private async list(
    { program, size, of, ownerAt }: AccountsOf,
    prefix: string,
    dataSlice: { offset: number; length: number },
    least: number,
  ): Promise<Found> {
    const memcmp = (offset: number, hex: string) => ({ memcmp: { offset, bytes: toBase58(hex) } })
    const filters = [
      ...(size === undefined ? [] : [{ dataSize: size }]),
      memcmp(of.at, of.key),
      ...(prefix === '' ? [] : [memcmp(ownerAt, `0x${prefix}`)]),
    ]
    const config = {
      commitment: 'finalized',
      encoding: 'base64',
      withContext: true,
      minContextSlot: least,
      dataSlice,
      filters,
    }
    const options = { isExact: true, maxBytes: MOST_BYTES, timeoutMs: 30_000, attempts: 2 }
    const said = answerSchema.safeParse(
      await this.ask('getProgramAccounts', [toBase58(program), config], options),
    )
    if (!said.success)
      throw new UnavailableError("The node answers something else to a question for a program's accounts.")
    const { context, value } = said.data
    assertAsFar(context.slot, least)
    return {
      slot: context.slot,
      accounts: value.flatMap(({ pubkey, account }) => {
        const [key, data] = [fromBase58(pubkey), Buffer.from(account.data[0], 'base64')]
        return key && data.length === dataSlice.length ? [{ key: key as Key, data }] : []
      }),
    }
  }
}

/** Token accounts of a mint. Those of Token-2022 have extensions, and are of any size. */
function tokensOf(mint: Key, vaults: Vaults): AccountsOf | undefined {
  const program = vaults.mint(mint)?.tokenProgram as Key | undefined
  if (!program) return undefined
  return {
    program,
    ...(program === TOKEN_PROGRAM && { size: TOKENS.size }),
    of: { at: TOKENS.ofAt, key: mint },
    ownerAt: TOKENS.ownerAt,
  }
}
