import { connect } from 'node:net'

/** Whether anything accepts connections on 127.0.0.1:port. */
export function isPortTaken(port: number): Promise<boolean> {
  return new Promise(resolve => {
    const socket = connect({ host: '127.0.0.1', port })
    const settle = (isTaken: boolean) => {
      socket.destroy()
      resolve(isTaken)
    }
    socket.setTimeout(2_000, () => settle(true))
    socket.once('connect', () => settle(true))
    socket.once('error', () => settle(false))
  })
}
