import { createHash } from 'node:crypto'
import type { Server } from 'node:http'
import type { Duplex } from 'node:stream'

/** A fixed string of the handshake (RFC 6455, 1.3). */
const MAGIC = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'

export interface Subscriber {
  send(text: string): void
}

function frame(opcode: number, payload: Buffer): Buffer {
  const { length } = payload
  const head =
    length < 126
      ? Buffer.from([0x80 | opcode, length])
      : length < 65_536
        ? Buffer.from([0x80 | opcode, 126, length >> 8, length & 255])
        : Buffer.concat([Buffer.from([0x80 | opcode, 127, 0, 0, 0, 0]), lengthOf(length)])
  return Buffer.concat([head, payload])
}

function lengthOf(length: number): Buffer {
  const four = Buffer.alloc(4)
  four.writeUInt32BE(length)
  return four
}

/** Speaks WebSocket (RFC 6455, whole text messages) on a server's upgrades. `onMessage` answers by `send`. */
export function acceptWebSockets(
  server: Server,
  onMessage: (text: string, client: Subscriber) => void,
  onEnd: (client: Subscriber) => void,
): { close(): void } {
  const sockets = new Set<Duplex>()
  server.on('upgrade', (request, socket: Duplex) => {
    const accept = createHash('sha1')
      .update(`${request.headers['sec-websocket-key']}${MAGIC}`)
      .digest('base64')
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
    )
    sockets.add(socket)
    const client: Subscriber = { send: text => void socket.write(frame(1, Buffer.from(text))) }
    let buffer = Buffer.alloc(0)
    socket.on('data', (chunk: Buffer) => {
      buffer = Buffer.concat([buffer, chunk])
      for (let taken = take(buffer); taken; taken = take(buffer)) {
        buffer = buffer.subarray(taken.size)
        if (taken.opcode === 1) onMessage(taken.payload.toString(), client)
        else if (taken.opcode === 9) socket.write(frame(10, taken.payload))
        else if (taken.opcode === 8) socket.end(frame(8, Buffer.alloc(0)))
      }
    })
    socket.on('error', () => {})
    socket.on('close', () => {
      sockets.delete(socket)
      onEnd(client)
    })
  })
  return {
    close() {
      for (const socket of sockets) socket.destroy()
    },
  }
}

/** The first whole frame of a client; theirs are masked. */
function take(buffer: Buffer): { opcode: number; payload: Buffer; size: number } | undefined {
  if (buffer.length < 2) return undefined
  const short = (buffer[1] ?? 0) & 127
  const at = short < 126 ? 2 : short === 126 ? 4 : 10
  if (buffer.length < at + 4) return undefined
  const length = short < 126 ? short : short === 126 ? buffer.readUInt16BE(2) : buffer.readUInt32BE(6)
  if (buffer.length < at + 4 + length) return undefined
  const mask = buffer.subarray(at, at + 4)
  const payload = Buffer.from(buffer.subarray(at + 4, at + 4 + length))
  for (let i = 0; i < length; i++) payload[i] = (payload[i] ?? 0) ^ (mask[i & 3] ?? 0)
  return { opcode: (buffer[0] ?? 0) & 15, payload, size: at + 4 + length }
}
