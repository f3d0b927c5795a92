import { accessSync, constants, mkdirSync, realpathSync } from 'node:fs'
import { ConfigError } from '../process/errors.ts'

/**
 * The folder that the embedded parts keep their data in, made where it is not, by its real path.
 *
 * @throws ConfigError where this user cannot write there
 */
export function openFolder(folder: string): string {
  try {
    mkdirSync(folder, { recursive: true })
    accessSync(folder, constants.W_OK | constants.X_OK)
    return realpathSync(folder)
  } catch (error) {
    throw new ConfigError(
      `Cannot write in ${folder} (${(error as NodeJS.ErrnoException).code}), where the embedded databases keep their data. Set VAULTLOG_DIR to a folder of yours.`,
      { cause: error },
    )
  }
}
