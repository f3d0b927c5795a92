import { Agent, request } from 'node:http'
import { connect } from 'node:net'
import express from 'express'
import { expect, it } from 'vitest'
import { PortInUseError } from '../../../db/process/errors.ts'
import { serve } from '../../../read-api/http/serve.ts'
import { ErrorBody } from '../../../read-api/http/shapes.ts'

const wait = (ms: number) => new Promise(resolve => setTimeout(resolve, ms))

/** Answers a request when that is taken out of `asked` and called. */
function slowApp() {
  const app = express()
  const asked: (() => void)[] = []
  app.get('/slow', async (_request, response) => {
    await new Promise<void>(resolve => asked.push(resolve))
    response.send('done')
  })
  return { app, asked }
}

/** What the server says to these bytes, until it closes the connection. */
function say(port: number, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = ''
    const socket = connect(port, '127.0.0.1', () => socket.write(text))
    socket.on('data', chunk => {
      answer += chunk
    })
    socket.on('close', () => resolve(answer))
    socket.on('error', reject)
  })
}

it('lets what is under way finish, takes no more, and closes idle connections', async () => {
  const { app, asked } = slowApp()
  const serving = await serve(app, { port: 0, patienceMs: 60_000 })
  const agent = new Agent({ keepAlive: true })
  const get = () =>
    new Promise<string>((resolve, reject) => {
      request({ port: serving.port, path: '/slow', agent }, response => {
        let text = ''
        response.on('data', chunk => {
          text += chunk
        })
        response.on('end', () => resolve(text))
      })
        .on('error', reject)
        .end()
    })
  // One connection is left idle, another is busy while the server closes.
  const both = [get(), get()]
  await expect.poll(() => asked.length).toBe(2)
  asked.pop()?.()
  await Promise.race(both)
  const began = Date.now()
  const closed = serving.close()
  await wait(50)
  await expect(fetch(`http://127.0.0.1:${serving.port}/slow`)).rejects.toThrow()
  asked.pop()?.()
  expect(await Promise.all(both)).toEqual(['done', 'done'])
  await closed
  expect(Date.now() - began).toBeLessThan(20_000)
  agent.destroy()
})

it('does not wait longer than its patience', async () => {
  const { app, asked } = slowApp()
  const serving = await serve(app, { port: 0, patienceMs: 200 })
  const answer = fetch(`http://127.0.0.1:${serving.port}/slow`).catch((error: Error) => error.message)
  await expect.poll(() => asked.length).toBe(1)
  const began = Date.now()
  await serving.close()
  // What it waits for where it is not told.
  expect(Date.now() - began).toBeLessThan(5_000)
  expect(await answer).toMatch(/fetch failed/)
})

it('does not hold an answer for ever for one who does not read it', async () => {
  const app = express()
  let isOver = false
  app.get('/large', (_request, response) => {
    response.on('close', () => (isOver = true))
    response.send('x'.repeat(64 * 2 ** 20))
  })
  const serving = await serve(app, { port: 0, answerTimeoutMs: 500 })
  const socket = connect(serving.port, '127.0.0.1', () => {
    socket.pause()
    socket.write('GET /large HTTP/1.1\r\nhost: x\r\n\r\n')
  })
  socket.on('error', () => {})
  await expect.poll(() => isOver, { timeout: 30_000 }).toBe(true)
  socket.destroy()
  await serving.close()
})

it.each([
  ['what is not HTTP', 'hello\r\n\r\n', 400],
  ['headers without end', `GET / HTTP/1.1\r\nhost: x\r\nx: ${'y'.repeat(20_000)}\r\n\r\n`, 431],
  ['a request that does not arrive', 'POST /slow HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{', 408],
])('answers %s with an error body', async (_, text, status) => {
  const app = express().use(express.json({ type: () => true }))
  const serving = await serve(app, { port: 0, ...(status === 408 ? { requestTimeoutMs: 500 } : {}) })
  const answer = await say(serving.port, text)
  expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
  const body = ErrorBody.parse(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4)))
  expect(body.statusCode).toBe(status)
  expect(body.errorId).toMatch(/^[0-9a-f-]{36}$/)
  expect(answer).toContain(`\r\nX-Request-Id: ${body.errorId}\r\n`)
  await serving.close()
})

it('names the setting when the port is taken', async () => {
  const serving = await serve(express(), { port: 0 })
  await expect(serve(express(), { port: serving.port })).rejects.toThrow(PortInUseError)
  await serving.close()
})
