import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach } from 'vitest'

/** Dumps of the chain's own programs, `<program id>.so` each, as `solana program dump <program id> <program id>.so` writes them. */
const FOLDER = process.env['SVM_PROGRAMS'] || undefined

/** Undefined where there is none. */
export function dumpOf(program: string): Buffer | undefined {
  const file = FOLDER && join(FOLDER, `${program}.so`)
  return file && existsSync(file) ? readFileSync(file) : undefined
}

/** Why there is nothing to run of the chain's own; undefined: at least one of these programs is there. */
function whyNone(programs: readonly string[]): string | undefined {
  if (!FOLDER) return 'SVM_PROGRAMS names no folder'
  if (!existsSync(FOLDER)) return `there is no folder ${FOLDER}, which SVM_PROGRAMS names`
  if (programs.some(dumpOf)) return undefined
  return `${FOLDER}, which SVM_PROGRAMS names, has no ${programs.map(each => `${each}.so`).join(', nor ')}`
}

/** The tests of a file stand on these programs: on ours or, where SVM_PROGRAMS is set, on the chain's own; else they are skipped. */
export function standsOn(...programs: string[]): void {
  if (FOLDER) standsOnChainsOwn(...programs)
}

/** Tests that only the chain's own programs can answer. */
export function standsOnChainsOwn(...programs: string[]): void {
  const why = whyNone(programs)
  if (why) beforeEach(context => context.skip(why))
}
