import { createCreditMeter } from '../../../db/keys/credits.ts'
import { openPostgres } from '../../../db/postgres.ts'
import { createPoster } from '../../../db/webhooks/post.ts'
import { Feed } from '../../../read-api/feed/feed.ts'
import { Deliveries } from '../../../read-api/webhooks/deliveries.ts'

// A process that delivers webhooks as the API does, until it is killed: what test processes start. Its database is the argument.
const pool = openPostgres(process.argv[2] ?? '', 'deliver', 6)
new Deliveries({
  pool,
  feed: new Feed(pool),
  poster: createPoster({ allowsPrivate: true }),
  credits: createCreditMeter(pool),
  sweepMs: 50,
  retryMs: 10,
  longestRetryMs: 100,
}).start()
// It ends with whoever started it.
process.once('disconnect', () => process.exit(0))
process.send?.('delivering')
