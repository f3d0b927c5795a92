import { createServer } from 'node:net'
import { join } from 'node:path'
import { createClient } from '@clickhouse/client'
import { describe, expect, it } from 'vitest'
import { startClickHouse } from '../../../db/embedded/clickhouse.ts'
import { PortInUseError } from '../../../db/process/errors.ts'
import { signed } from './clickhouse-place.ts'
import { ownPlace } from './places.ts'

describe('its life', () => {
  it('is found by a second start, and keeps its data when killed', async () => {
    const own = await ownPlace()
    const first = await startClickHouse(own.env)
    try {
      const second = await startClickHouse(own.env)
      expect(second.isOwned).toBe(false)
      expect(second.pid()).toBe(first.pid())
      await second.stop()
      const moved = await startClickHouse({ ...own.env, EMBEDDED_CLICKHOUSE_PORT: 1 })
      expect(moved.url).toBe(first.url)

      const db = createClient({ url: first.url })
      await db.command({ query: 'CREATE TABLE kept (a UInt64) ENGINE = MergeTree ORDER BY a' })
      for (let round = 0; round < 3; round++) {
        await db.insert({
          table: 'kept',
          values: Array.from({ length: 1000 }, (_, a) => ({ a })),
          format: 'JSONEachRow',
        })
        const pid = first.pid() ?? 0
        process.kill(pid, 'SIGKILL')
        await expect
          .poll(async () => ![undefined, pid].includes(first.pid()) && (await db.ping()).success)
          .toBe(true)
        const result = await db.query({ query: 'SELECT count() AS n FROM kept', format: 'JSONEachRow' })
        expect(await result.json()).toEqual([{ n: 1000 * (round + 1) }])
      }
      await db.close()
    } finally {
      await first.stop()
    }
    const again = await startClickHouse(own.env)
    const { origin, headers } = signed(again.url)
    const answer = await fetch(`${origin}/?query=SELECT+count()+FROM+kept`, { headers })
    expect(await answer.text()).toBe('3000\n')
    await again.stop()
    await again.stop()
    await expect(fetch(`${origin}/ping`)).rejects.toThrow()
    own.remove()
  })

  it('says which setting to change when its port is taken, by whatever it be', async () => {
    const own = await ownPlace()
    const silent = createServer(socket => socket.resume()).listen(
      own.env.EMBEDDED_CLICKHOUSE_PORT,
      '127.0.0.1',
    )
    await expect(startClickHouse(own.env)).rejects.toThrow(PortInUseError)
    await expect(startClickHouse(own.env)).rejects.toThrow(/EMBEDDED_CLICKHOUSE_PORT/)
    await new Promise(resolve => silent.close(resolve))
    const server = await startClickHouse(own.env)
    const other = await ownPlace({ EMBEDDED_CLICKHOUSE_PORT: String(own.env.EMBEDDED_CLICKHOUSE_PORT) })
    await expect(startClickHouse(other.env)).rejects.toThrow(PortInUseError)
    await server.stop()
    own.remove()
    other.remove()
  })

  it('takes any name of a directory', async () => {
    const own = await ownPlace()
    for (const name of ["it's ünï", 'glob * {1,2} ?']) {
      const server = await startClickHouse({ ...own.env, VAULTLOG_DIR: join(own.env.VAULTLOG_DIR, name) })
      const client = createClient({ url: server.url })
      await client.command({ query: 'CREATE TABLE t (a UInt8) ENGINE = MergeTree ORDER BY a' })
      await client.insert({ table: 't', values: [{ a: 1 }, { a: 2 }], format: 'JSONEachRow' })
      const result = await client.query({ query: 'SELECT count() AS n FROM t', format: 'JSONEachRow' })
      expect(await result.json()).toEqual([{ n: 2 }])
      await client.close()
      await server.stop()
    }
    own.remove()
  })

  it('starts once when two start it at one time', async () => {
    const own = await ownPlace()
    const both = await Promise.all([startClickHouse(own.env), startClickHouse(own.env)])
    expect(both.filter(server => server.isOwned)).toHaveLength(1)
    expect(both[0].url).toBe(both[1].url)
    for (const server of both) await server.stop()
    own.remove()
  })
})
