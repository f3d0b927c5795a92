import { pino } from 'pino'

/** JSON lines on stderr: one per batch, job and request. LOG_LEVEL=silent turns them off. */
export const log = pino(
  { level: process.env['LOG_LEVEL'] ?? 'info', base: undefined, timestamp: pino.stdTimeFunctions.isoTime },
  pino.destination({ dest: 2, sync: true }),
)
