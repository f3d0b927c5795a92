/** A message of a stream, as the standard of server-sent events has it. */
export interface Sent {
  id: string
  event: string
  data: Record<string, unknown> & { id: string; position: number; chainId: number }
}

/** Follows a stream, message by message, until it ends or the caller stops. */
export async function* follow(
  url: string,
  { key, lastEventId, signal }: { key: string; lastEventId?: string | undefined; signal?: AbortSignal },
): AsyncGenerator<Sent> {
  const response = await fetch(url, {
    headers: {
      // As some clients send it.
      accept: 'text/event-stream; charset=utf-8',
      'x-api-key': key,
      ...(lastEventId ? { 'last-event-id': lastEventId } : {}),
    },
    ...(signal ? { signal } : {}),
  })
  if (response.status !== 200 || !response.body)
    throw new Error(`${response.status} ${await response.text()}`)
  let text = ''
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    text += chunk
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const fields = new Map(
        text
          .slice(0, end)
          .split('\n')
          .map(line => {
            const [, name = '', value = ''] = /^([^:]*):? ?(.*)$/.exec(line) ?? []
            return [name, value] as const
          }),
      )
      text = text.slice(end + 2)
      const data = fields.get('data')
      if (data !== undefined)
        yield { id: fields.get('id') ?? '', event: fields.get('event') ?? 'message', data: JSON.parse(data) }
    }
  }
}
