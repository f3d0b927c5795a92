import { accessSync, constants, mkdirSync, realpathSync, statfsSync } from 'node:fs'
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

/** The demo fills half of it. */
const TO_BEGIN_MIB = 512
/** Servers that cannot write their logs and locks end in the middle of something. */
const TO_GO_ON_MIB = 64

/**
 * Refuses a disk that is too full, before anything is written there.
 *
 * @param isNew whether data are to be made, or are there
 * @throws ConfigError
 */
export function assertRoom(folder: string, isNew: boolean): void {
  const { bavail, bsize } = statfsSync(folder)
  const free = Math.floor((bavail * bsize) / 2 ** 20)
  const needed = isNew ? TO_BEGIN_MIB : TO_GO_ON_MIB
  if (free >= needed) return
  throw new ConfigError(
    `${free} MiB are free in ${folder}, where the embedded databases keep their data; they need ${needed} to ${isNew ? 'begin' : 'go on'}. Make room there, or set VAULTLOG_DIR to a folder on another disk${isNew ? '' : ', and move the data there'}.`,
  )
}
