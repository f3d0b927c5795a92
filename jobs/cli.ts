#!/usr/bin/env node
import { join } from 'node:path'
import { Command } from 'commander'
import { ConfigError } from '../db/process/errors.ts'
import { findModules } from '../db/process/modules.ts'

/** Adds a command, or a few that belong together, to the program: the default export of each module of jobs/commands. */
type AddCommand = (program: Command) => void

const program = new Command('vaultlog')
  .description('Operates Vaultlog: replay and verify read models, see where everything stands, manage keys.')
  .showHelpAfterError()

for (const { file, value } of await findModules(join(import.meta.dirname, 'commands'), 'files')) {
  if (typeof value !== 'function') throw new ConfigError(`${file} has no command as its default export.`)
  ;(value as AddCommand)(program)
}

await program.parseAsync()
