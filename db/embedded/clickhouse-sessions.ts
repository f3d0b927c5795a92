import type { Connection, Engine } from './clickhouse-engine.ts'
import { ClickHouseException } from './clickhouse-wire.ts'

export interface Session {
  connection: Connection
  isBusy: boolean
  timer: NodeJS.Timeout
}

/** Sessions of the HTTP interface (`session_id`): one connection that keeps settings and temporary tables. */
export class Sessions {
  readonly #byId = new Map<string, Session>()

  /** The session, taken; set `isBusy` to false when done. It ends `session_timeout` seconds after its last use. */
  open(engine: Engine, params: URLSearchParams, id: string): Session {
    const idleMs = 1000 * Math.min(3600, Number(params.get('session_timeout') ?? 60) || 60)
    const known = this.#byId.get(id)
    if (!known && params.get('session_check') === '1') {
      throw ClickHouseException.of(372, 'SESSION_NOT_FOUND', `Session ${id} not found`)
    }
    if (known?.isBusy) {
      throw ClickHouseException.of(373, 'SESSION_IS_LOCKED', `Session ${id} is locked by a concurrent client`)
    }
    if (known) clearTimeout(known.timer)
    const expire = () => {
      if (session.isBusy) session.timer = setTimeout(expire, idleMs).unref()
      else {
        this.#byId.delete(id)
        engine.disconnect(session.connection)
      }
    }
    const timer = setTimeout(expire, idleMs).unref()
    const session: Session = known ?? { connection: engine.connect(), isBusy: true, timer }
    session.isBusy = true
    session.timer = timer
    this.#byId.set(id, session)
    return session
  }
}
