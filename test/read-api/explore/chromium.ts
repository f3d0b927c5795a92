import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

/** Nothing is asked for but what the pages ask for. */
export const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

const NAMES = ['chromium', 'chromium-browser', 'google-chrome']

/**
 * The distribution's own Chromium, as its package installs it: `apt-get install chromium`. CHROMIUM names another. Where there
 * is none, what needs it is skipped, and says so.
 */
export function findChromium(): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter)
  const places = folders.flatMap(folder => NAMES.map(name => join(folder, name)))
  const found = [process.env['CHROMIUM'], ...places].find(place => place && isProgram(place))
  if (!found)
    process.stderr.write(
      'No Chromium on this machine: what a browser makes of /explore and /documentation is not tested.\n',
    )
  return found
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
