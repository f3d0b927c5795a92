import type { Key } from '../../abi/svm/programs.ts'
import { log } from '../../db/process/log.ts'
import type { SvmBlock } from './block.ts'
import { handleBlocks } from './handle.ts'
import type { SvmProgram } from './program.ts'
import type { Vaults } from './vaults.ts'

/** What is to be found in blocks. */
export interface Wanted {
  programs: readonly Key[]
  /** Of other programs those instructions alone whose data begin so: they move no token. */
  acts: readonly Act[]
  /** Of shares: whoever's token accounts change. */
  mints: readonly Key[]
}

export interface Act {
  program: Key
  /** The first eight bytes of an instruction's data, as hex. */
  discriminator: string
}

/** What is wanted for these programs. */
export const wantedOf = (programs: readonly SvmProgram[], mints: readonly Key[]): Wanted => ({
  programs: programs.flatMap(each => [...each.programs]),
  acts: programs.flatMap(({ farms }) =>
    (farms?.programs ?? []).flatMap(program =>
      (farms?.silent ?? []).map(discriminator => ({ program, discriminator })),
    ),
  ),
  mints,
})

/** Final blocks from a slot on. */
export interface Slice {
  /** In the order of slots; those in which nothing is may be left out. */
  blocks: SvmBlock[]
  /** The newest slot that was looked at and has a block: what is stored up to there is complete. */
  end: { slot: number; hash: string; time: number }
}

/** Where blocks come from. */
export interface SvmSource {
  /** The newest final slot. */
  head(): Promise<number>
  /** Some of the blocks of slots from..to; undefined: none of them has one. */
  read(from: number, to: number, wanted: Wanted): Promise<Slice | undefined>
  /** Blocks without anything that is wanted are left out, but for the last one of a slice. */
  isFiltered: boolean
}

/** The next blocks. Where they tell of shares that were not asked for, they are asked for anew with these. */
export async function readSlice(
  { source, programs }: { source: SvmSource; programs: readonly SvmProgram[] },
  from: number,
  to: number,
  vaults: Vaults,
): Promise<Slice | undefined> {
  let mints = vaults.shareMints()
  while (true) {
    const slice = await source.read(from, to, wantedOf(programs, mints))
    if (!slice) return undefined
    const seen = vaults.copy()
    const handled = handleBlocks(slice.blocks, programs, seen)
    const isNew = seen.shareMints().length > mints.length
    if (!isNew) return slice
    log.debug({ blocks: handled.blocks.length }, 'new shares: the same slots once more')
    mints = seen.shareMints()
  }
}
