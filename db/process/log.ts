import { pino } from 'pino'
import { withoutUrls } from './hidden-urls.ts'
import { readableLine } from './readable-lines.ts'

const stderr = pino.destination({ dest: 2, sync: true })
const wanted = process.env['LOG_LEVEL'] ?? ''

export const LOG_FORMATS = ['auto', 'pretty', 'json'] as const
export type LogFormat = (typeof LOG_FORMATS)[number]

let isPretty = false
/** auto: for people where the log goes to a terminal, for programs elsewhere. */
export function setLogFormat(format: LogFormat): void {
  isPretty = format === 'pretty' || (format === 'auto' && process.stderr.isTTY === true)
}
setLogFormat(LOG_FORMATS.find(format => format === process.env['LOG_FORMAT']) ?? 'auto')

const isColored =
  !process.env['NO_COLOR'] && (process.stderr.isTTY === true || Boolean(process.env['FORCE_COLOR']))

/**
 * Lines on stderr, without the URLs of endpoints: one per batch, job and request; JSON unless a person reads along.
 * LOG_LEVEL=silent turns them off; what `.env` says of level and format counts once that is read.
 */
export const log = pino(
  {
    level: wanted in pino.levels.values || wanted === 'silent' ? wanted : 'info',
    base: undefined,
    timestamp: pino.stdTimeFunctions.isoTime,
  },
  {
    write: line => {
      const hidden = withoutUrls(line)
      stderr.write(isPretty ? `${readableLine(hidden.trimEnd(), { isColored })}\n` : hidden)
    },
  },
)

// Node prints them itself otherwise, in a form of its own and with whatever is in them.
process.removeAllListeners('warning')
process.on('warning', ({ name, message }) => log.warn({ warning: name }, message))
