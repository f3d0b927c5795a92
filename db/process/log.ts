import { pino } from 'pino'
import { withoutUrls } from './hidden-urls.ts'

const stderr = pino.destination({ dest: 2, sync: true })
const wanted = process.env['LOG_LEVEL'] ?? ''

/**
 * JSON lines on stderr, without the URLs of endpoints: one per batch, job and request. LOG_LEVEL=silent turns them off; what `.env` says of it counts
 * once that is read.
 */
export const log = pino(
  {
    level: wanted in pino.levels.values || wanted === 'silent' ? wanted : 'info',
    base: undefined,
    timestamp: pino.stdTimeFunctions.isoTime,
  },
  { write: line => void stderr.write(withoutUrls(line)) },
)
