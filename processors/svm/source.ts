import type { Key } from '../../abi/svm/programs.ts'
import type { SvmBlock } from './block.ts'

/** What is to be found in blocks. */
export interface Wanted {
  programs: readonly Key[]
  /** Of shares: whoever's token accounts change. */
  mints: readonly Key[]
}

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
