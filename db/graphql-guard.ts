import { IncomingMessage, Server, ServerResponse } from 'node:http'
import pg from 'pg'
import { watchConnection } from './lost-connections.ts'
import { isToLoopback } from './process/loopback.ts'
import { adoptSqdLog } from './process/sqd-log.ts'

/**
 * Loaded before @subsquid/graphql-server, which listens everywhere and lets every page read its answers, and has no
 * options for either: it listens on GRAPHQL_HOST, on loopback is asked by this machine's names alone, and sends no
 * Access-Control-Allow-Origin. Its transactions are serializable, which a standby refuses; to who only reads, a snapshot is as much.
 * A connection over which no answer can come would hold each of its requests for ever: such are left.
 * What Postgres refuses it tells with the parameters of the statement, which JSON has no integers for.
 */
adoptSqdLog()
Object.assign(BigInt.prototype, {
  toJSON(this: bigint) {
    return this.toString()
  },
})

const SERIALIZABLE = 'START TRANSACTION ISOLATION LEVEL SERIALIZABLE READ ONLY'
const SNAPSHOT = SERIALIZABLE.replace('SERIALIZABLE', 'REPEATABLE READ')
const { query } = pg.Client.prototype
pg.Client.prototype.query = function (this: pg.Client, ...given: unknown[]) {
  const [asked, ...rest] = given as [{ text?: string } | undefined, ...unknown[]]
  return Reflect.apply(
    query,
    this,
    asked?.text === SERIALIZABLE ? [{ ...asked, text: SNAPSHOT }, ...rest] : given,
  )
} as typeof query

// Its pool takes no function to be called of each connection.
const { connect } = pg.Client.prototype
pg.Client.prototype.connect = function (this: pg.Client, done?: (error?: Error) => void) {
  if (!done) return Reflect.apply(connect, this, [])
  // One that is lent out has nobody who listens, and would end the process.
  this.on('error', () => {})
  return Reflect.apply(connect, this, [
    (error?: Error) => {
      if (error) done(error)
      else watchConnection(this, process.env['DB_URL'] ?? '').then(() => done(), done)
    },
  ])
} as typeof connect

const host = process.env['GRAPHQL_HOST'] ?? '127.0.0.1'

const { listen, emit } = Server.prototype
Server.prototype.listen = function (this: Server, ...given: unknown[]) {
  const [port, ...rest] = given
  return Reflect.apply(listen, this, /^\d+$/.test(String(port)) ? [Number(port), host, ...rest] : given)
} as typeof listen

Server.prototype.emit = function (this: Server, ...given: unknown[]) {
  const [event, request, response] = given
  if (event === 'request' && request instanceof IncomingMessage && response instanceof ServerResponse) {
    if (isToLoopback(host) && !isToLoopback(request.headers.host)) {
      response.writeHead(403, { 'content-type': 'text/plain' }).end('Ask by 127.0.0.1 or localhost.\n')
      return true
    }
    const setHeader = response.setHeader.bind(response)
    response.setHeader = (name, value) =>
      /^access-control-allow-origin$/i.test(name) ? response : setHeader(name, value)
  }
  return Reflect.apply(emit, this, given)
} as typeof emit
