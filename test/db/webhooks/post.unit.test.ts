import { createServer } from 'node:net'
import { Webhook } from 'standardwebhooks'
import { expect, it, onTestFinished } from 'vitest'
import { createPoster, type PosterOptions } from '../../../db/webhooks/post.ts'
import { type Received, receive } from '../../read-api/webhooks/receiver.ts'

const secret = `whsec_${Buffer.from('a secret of thirty-two bytes, yes').toString('base64')}`
const secrets = [{ secret, until: null }]
const message = {
  id: 'wh_1_1_4711',
  body: '{"id":"1.4711","data":{"shares":"1606938044258990275541962092341162602"}}',
}

function posterOf(options: Partial<PosterOptions> = {}) {
  const poster = createPoster({ allowsPrivate: true, ...options })
  onTestFinished(() => poster.close())
  return poster
}

async function receiving(...given: Parameters<typeof receive>) {
  const receiver = await receive(...given)
  onTestFinished(() => receiver.close())
  return receiver
}

it('signs as the published library verifies, and not a byte otherwise', async () => {
  let got: Received | undefined
  const { url } = await receiving(received => {
    got = received
    return 204
  })
  expect(await posterOf().post({ url, secrets }, message)).toEqual({ status: 204 })
  if (!got) throw new Error('nothing arrived')
  const headers = got.headers as Record<string, string>
  const verifier = new Webhook(secret)
  expect(headers['webhook-id']).toBe(message.id)
  expect(headers['content-type']).toBe('application/json')
  expect(verifier.verify(got.body, headers)).toEqual(JSON.parse(message.body))
  expect(() => verifier.verify(got?.body.replace('1606', '1607') ?? '', headers)).toThrow(/signature/i)
  expect(() => verifier.verify(got?.body ?? '', { ...headers, 'webhook-id': 'wh_1_1_4712' })).toThrow(
    /signature/i,
  )
  const other = new Webhook(`whsec_${Buffer.from('another one').toString('base64')}`)
  expect(() => other.verify(got?.body ?? '', headers)).toThrow(/signature/i)
})

it('signs by every secret that still signs, as the published library verifies by any of them', async () => {
  const older = `whsec_${Buffer.from('the one before').toString('base64')}`
  const over = `whsec_${Buffer.from('one of long ago').toString('base64')}`
  let headers: Record<string, string> = {}
  const { url } = await receiving(received => {
    headers = received.headers as Record<string, string>
    return 200
  })
  const now = Date.now()
  const rotated = [
    { secret, until: null },
    { secret: older, until: now + 3_600_000 },
    { secret: over, until: now - 1 },
  ]
  await posterOf().post({ url, secrets: rotated }, message)
  expect(headers['webhook-signature']).toMatch(/^v1,[\w+/]{43}= v1,[\w+/]{43}=$/)
  for (const one of [secret, older]) new Webhook(one).verify(message.body, headers)
  expect(() => new Webhook(over).verify(message.body, headers)).toThrow(/signature/i)
  // A receiver that has the old secret alone does not take what another wrote.
  expect(() => new Webhook(older).verify(`${message.body} `, headers)).toThrow(/signature/i)
})

it('takes 2xx alone, and follows nobody elsewhere', async () => {
  let elsewhere = 0
  const inside = await receiving(() => {
    elsewhere++
    return 200
  })
  const statuses = [301, 307, 400, 410, 500]
  const outcomes = []
  for (const status of statuses) {
    const { url } = await receiving((_, response) => {
      response.writeHead(status, { location: inside.url, 'retry-after': '7' }).end()
      return undefined
    })
    outcomes.push(await posterOf().post({ url, secrets }, message))
  }
  expect(outcomes.map(({ status }) => status)).toEqual(statuses)
  expect(outcomes.map(({ error }) => error)).toEqual([
    'answered 301: redirects are not followed',
    'answered 307: redirects are not followed',
    'answered 400',
    'answered 410',
    'answered 500',
  ])
  expect(outcomes[4]?.retryAfter).toBe(7)
  expect(elsewhere).toBe(0)
})

it('waits so long and no longer, whether nobody answers or an answer does not end', async () => {
  const silent = await receiving(() => new Promise(() => {}))
  const started = performance.now()
  const poster = posterOf({ timeoutMs: 200 })
  expect(await poster.post({ url: silent.url, secrets }, message)).toEqual({
    error: 'no answer within 0.2 s',
  })
  expect(performance.now() - started).toBeLessThan(2_000)
  let written = 0
  const endless = await receiving((_, response) => {
    response.writeHead(200)
    const timer = setInterval(() => {
      if (response.destroyed) return clearInterval(timer)
      written += 8_192
      response.write('x'.repeat(8_192))
    }, 1)
    return undefined
  })
  expect(await poster.post({ url: endless.url, secrets }, message)).toEqual({ status: 200 })
  await new Promise(resolve => setTimeout(resolve, 100))
  const soon = written
  await new Promise(resolve => setTimeout(resolve, 300))
  expect(written).toBe(soon)
})

it('holds no connection whose answer drips on, whoever may stop it', async () => {
  const open = new Set<object>()
  const dripping = await receiving((_, response) => {
    open.add(response)
    response.once('close', () => open.delete(response))
    response.writeHead(200)
    const timer = setInterval(() => (response.destroyed ? clearInterval(timer) : response.write('.')), 50)
    return undefined
  })
  const poster = posterOf({ timeoutMs: 5_000 })
  const { signal } = new AbortController()
  const sent = Array.from({ length: 20 }, () => poster.post({ url: dripping.url, secrets }, message, signal))
  expect(await Promise.all(sent)).toEqual(sent.map(() => ({ status: 200 })))
  await expect.poll(() => open.size, { timeout: 2_000 }).toBe(0)
})

it('sends by https alone what was once allowed otherwise', async () => {
  let arrived = 0
  const { port } = await receiving(() => {
    arrived++
    return 200
  })
  const poster = createPoster({
    allowsPrivate: false,
    resolve: async () => [{ address: '127.0.0.1', family: 4 }],
    isAllowed: () => true,
  })
  onTestFinished(() => poster.close())
  expect(await poster.post({ url: `http://old.example:${port}/`, secrets }, message)).toEqual({
    error: 'messages are sent by https alone',
  })
  expect(arrived).toBe(0)
})

it('says why nobody answers, and what broke is no answer', async () => {
  const breaking = createServer(socket => socket.destroy()).listen(0, '127.0.0.1')
  onTestFinished(() => void breaking.close())
  await new Promise(resolve => breaking.once('listening', resolve))
  const { port } = breaking.address() as { port: number }
  expect(await posterOf().post({ url: `http://127.0.0.1:${port}/`, secrets }, message)).toEqual({
    error: 'ECONNRESET',
  })
  expect(await posterOf().post({ url: 'http://127.0.0.1:1/', secrets }, message)).toEqual({
    error: 'ECONNREFUSED',
  })
})

it('goes nowhere inside, by address or by name, in the same words as where there is nothing', async () => {
  let arrived = 0
  const { port } = await receiving(() => {
    arrived++
    return 200
  })
  const names: Record<string, string[]> = {
    'inside.example': ['127.0.0.1'],
    'several.example': ['10.0.0.1', '127.0.0.1', '64:ff9b::7f00:1'],
    'mapped.example': ['::ffff:127.0.0.1'],
    'nowhere.example': [],
  }
  const poster = posterOf({
    allowsPrivate: false,
    resolve: async host =>
      (names[host] ?? []).map(address => ({ address, family: address.includes(':') ? 6 : 4 })),
  })
  for (const host of [...Object.keys(names), '127.0.0.1', '[::1]', '[::ffff:7f00:1]', '2130706433']) {
    const { error } = await poster.post({ url: `https://${host}:${port}/`, secrets }, message)
    expect(error, host).toMatch(/does not lead to the public internet$/)
  }
  expect(arrived).toBe(0)
})

it('connects to the address that was looked at, whatever the name leads to the next moment', async () => {
  // 127.0.0.2 stands for what is public, 127.0.0.1 for what is not.
  const inside = await receiving(() => 200)
  let outside = 0
  await receiving(
    (_, response) => {
      outside++
      response.setHeader('connection', 'close')
      return 200
    },
    { host: '127.0.0.2', port: inside.port },
  )
  let asked = 0
  const poster = posterOf({
    isAllowed: address => address === '127.0.0.2',
    resolve: async () => [{ address: asked++ % 2 === 0 ? '127.0.0.2' : '127.0.0.1', family: 4 }],
  })
  const url = `http://rebinding.example:${inside.port}/`
  const outcomes = []
  for (let i = 0; i < 4; i++) outcomes.push(await poster.post({ url, secrets }, message))
  expect(outcomes.map(({ status }) => status)).toEqual([200, undefined, 200, undefined])
  // Asked once for each connection: nothing is resolved again after it was looked at.
  expect([asked, outside]).toEqual([4, 2])
})

it('connects to what is public alone, of a name that leads elsewhere, too', async () => {
  let inside = 0
  const { port } = await receiving(() => {
    inside++
    return 200
  })
  await receiving(() => 200, { host: '127.0.0.2', port })
  const poster = posterOf({
    isAllowed: address => address === '127.0.0.2',
    resolve: async () => ['127.0.0.1', '127.0.0.2'].map(address => ({ address, family: 4 })),
  })
  const { status } = await poster.post({ url: `http://both.example:${port}/`, secrets }, message)
  expect([status, inside]).toEqual([200, 0])
})
