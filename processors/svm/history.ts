import type pg from 'pg'
import type { Key } from '../../abi/svm/programs.ts'
import type { ChainDatabase } from '../../db/events/chain-database.ts'
import { type PendingSource, readFirstBlock, reconcileSources } from '../../db/events/watched-sources.ts'
import { UnavailableError } from '../../db/process/errors.ts'
import { log } from '../../db/process/log.ts'
import { steadyNow } from '../../db/process/steady.ts'
import { SOLANA } from '../../db/streams.ts'
import { handleBlocks } from './handle.ts'
import { keepLetters } from './letters.ts'
import type { SvmProgram } from './program.ts'
import { PrunedError } from './rpc-source.ts'
import { readSlice, type SvmSource } from './source.ts'
import { readVaults, type Vaults } from './vaults.ts'

/** Milliseconds until what could not be had is asked for again: where the source did not answer, and where it has no blocks so old. */
const SOON = 10_000
const LATER = 600_000

interface Parts {
  pool: pg.Pool
  programs: readonly SvmProgram[]
  source: SvmSource
}

/**
 * What programs did before they were watched, where they were added to a stream that has blocks: it is fetched beside the live blocks, and
 * the programs join these once it is whole. Nothing of theirs is live before: what is known of a vault is in the order of slots.
 */
export class SvmHistory {
  private readonly parts: Parts
  private pending: PendingSource[]
  /** What is known of the vaults of those that are furthest behind. */
  private late: { from: number; vaults: Vaults } | undefined
  private waitsUntil = 0

  private constructor(parts: Parts, pending: PendingSource[]) {
    this.parts = parts
    this.pending = pending
  }

  /** @param start the first slot of a stream that has none */
  static async open(parts: Parts, start: number): Promise<SvmHistory> {
    const watched = parts.programs.flatMap(({ name, programs }) =>
      programs.map(contract => ({ kind: name, contract })),
    )
    const first = (await readFirstBlock(parts.pool, SOLANA.id)) ?? start
    const pending = await reconcileSources(parts.pool, SOLANA.id, watched, first)
    if (pending.length > 0)
      log.info(
        { network: SOLANA.name, from: first, programs: pending.map(({ kind }) => kind) },
        'history of added programs is fetched',
      )
    return new SvmHistory(parts, pending)
  }

  get isPending(): boolean {
    return this.pending.length > 0
  }

  /** Some of it can be fetched now. */
  get isDue(): boolean {
    return this.isPending && steadyNow() >= this.waitsUntil
  }

  /** With the programs that are live, and no others. */
  live(): SvmProgram[] {
    const late = new Set(this.pending.map(({ contract }) => contract))
    return only(this.parts.programs, id => !late.has(id))
  }

  /** What is known of the vaults of live programs: others go on from where they were. */
  liveVaults(): Promise<Vaults> {
    const live = new Set(this.live().flatMap(({ programs }) => programs))
    return readVaults(this.parts.pool, program => live.has(program))
  }

  /** Stores some of it, up to the slot that is stored. Whether programs became live. */
  async step(database: ChainDatabase, height: number): Promise<boolean> {
    if (!this.isDue || height < 0) return false
    try {
      return await this.fetch(database, height)
    } catch (error) {
      if (!(error instanceof UnavailableError) && !(error instanceof PrunedError)) throw error
      this.waitsUntil = steadyNow() + (error instanceof PrunedError ? LATER : SOON)
      log.warn({ network: SOLANA.name, error: error.message }, 'history of added programs has to wait')
      return false
    }
  }

  private async fetch(database: ChainDatabase, height: number): Promise<boolean> {
    const { pool, source } = this.parts
    const from = Math.min(...this.pending.map(({ cursor }) => cursor))
    const behind = this.pending.filter(({ cursor }) => cursor === from)
    const ids = new Set(behind.map(({ contract }) => contract))
    const programs = only(this.parts.programs, id => ids.has(id))
    if (this.late?.from !== from) this.late = { from, vaults: await readVaults(pool, id => ids.has(id)) }
    const slice =
      from < height ? await readSlice({ source, programs }, from + 1, height, this.late.vaults) : undefined
    const end = slice?.end.slot ?? height
    const vaults = this.late.vaults.copy()
    const handled = handleBlocks(slice?.blocks ?? [], programs, vaults)
    await keepLetters(pool, handled)
    const isWhole = end >= height
    const cursors = behind.map(({ kind, contract }) => ({ kind, contract, cursor: isWhole ? null : end }))
    const blocks = handled.blocks.filter(({ events }) => events.length > 0)
    if (!(await database.appendPast(blocks, cursors, from))) return false
    this.late = { from: end, vaults }
    this.pending = this.pending.flatMap(each => {
      if (!ids.has(each.contract as Key)) return [each]
      return isWhole ? [] : [{ ...each, cursor: end }]
    })
    if (isWhole) {
      this.late = undefined
      log.info(
        { network: SOLANA.name, programs: behind.map(({ kind }) => kind) },
        'history of added programs is whole',
      )
    }
    return isWhole
  }
}

const only = (programs: readonly SvmProgram[], isMeant: (id: Key) => boolean): SvmProgram[] =>
  programs.map(each => ({ ...each, programs: each.programs.filter(isMeant) }))
