import { endpointOf } from '../../db/chain/endpoint.ts'

interface Request {
  id: number
  jsonrpc: '2.0'
  method: string
  params?: unknown[]
}

interface Response {
  id: number
  jsonrpc: '2.0'
  result?: unknown
  error?: { code: number; message: string }
}

interface Connection {
  connect(): Promise<void>
  close(error?: Error): void
  call(request: Request, timeout?: number): Promise<Response>
  batchCall(batch: Request[], timeout?: number): Promise<Response[]>
}

/** What is reached into of evm-processor's RPC client: the connection that its requests go out by. */
export interface ConnectedClient {
  con: Connection
  supportsNotifications(): boolean
}

/**
 * Has evm-processor ask an endpoint as it bears to be asked. By itself it repeats a batch that is too long, or too many
 * calls a second, as they were.
 */
export function paced(client: ConnectedClient, url: string, attempts: number): void {
  const { con } = client
  if (client.supportsNotifications()) {
    con.batchCall = (batch, timeout) => Promise.all(batch.map(request => con.call(request, timeout)))
    return
  }
  con.close()
  const endpoint = endpointOf(url)
  const call: Connection['call'] = async ({ id, method, params = [] }, timeout) => {
    const options = { attempts, ...(timeout ? { timeoutMs: timeout } : {}) }
    // What the node refuses is thrown as it is: answered, evm-processor would ask the same again for some words.
    return { id, jsonrpc: '2.0', result: await endpoint.request(method, params, options) }
  }
  client.con = {
    connect: async () => {},
    close: () => {},
    call,
    batchCall: (batch, timeout) => Promise.all(batch.map(request => call(request, timeout))),
  }
}
