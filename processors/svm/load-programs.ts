import { join } from 'node:path'
import { VaultlogError } from '../../db/process/errors.ts'
import { findModules } from '../../db/process/modules.ts'
import type { SvmProgram } from './program.ts'

class ProgramError extends VaultlogError {
  readonly code = 'PROTOCOL'
}

/** All protocols of chains of Solana's kind: the modules in programs. */
export async function loadPrograms(): Promise<SvmProgram[]> {
  const found = await findModules(join(import.meta.dirname, 'programs'), 'files')
  return found.map(({ name, value }) => {
    const program = value as SvmProgram | undefined
    if (program?.name !== name)
      throw new ProgramError(
        `processors/svm/programs/${name}.ts has no protocol of its name as its default export.`,
      )
    return program
  })
}
