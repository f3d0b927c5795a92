import { randomBytes } from 'node:crypto'
import type { Attempt, Poster, Receiver } from './post.ts'

/** Sends a message that says it is none, signed as all are. It is tried once, and nothing is noted of it. */
export function sendTest(poster: Poster, id: string, receiver: Receiver): Promise<Attempt> {
  const messageId = `${id}_test_${randomBytes(8).toString('hex')}`
  const body = JSON.stringify({
    id: messageId,
    kind: 'test',
    type: 'webhook.test',
    timestamp: Math.floor(Date.now() / 1000),
    data: { webhookId: id },
  })
  return poster.post(receiver, { id: messageId, body })
}
