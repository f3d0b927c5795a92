import { Readable } from 'node:stream'
import { gzipSync } from 'node:zlib'
import { ClickHouseError, ClickHouseLogLevel, createClient } from '@clickhouse/client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openClickHouse } from '../../../db/clickhouse/client.ts'
import { clickhousePlace } from './clickhouse-place.ts'

let place: Awaited<ReturnType<typeof clickhousePlace>>
let client: ReturnType<typeof createClient>

beforeAll(async () => {
  place = await clickhousePlace()
  client = createClient({ url: place.url, database: 'vaultlog', log: { level: ClickHouseLogLevel.OFF } })
})
afterAll(async () => {
  await client?.close()
  await place?.remove()
})

const maxUint256 = (2n ** 256n - 1n).toString()

async function select<Row>(query: string, params?: Record<string, unknown>): Promise<Row[]> {
  const result = await client.query({
    query,
    format: 'JSONEachRow',
    ...(params ? { query_params: params } : {}),
  })
  return result.json<Row>()
}

describe('the unmodified @clickhouse/client', () => {
  it('pings, both ways', async () => {
    expect((await client.ping()).success).toBe(true)
    expect((await client.ping({ select: true })).success).toBe(true)
  })

  it('inserts a stream of rows and reads them back', async () => {
    await client.command({
      query: 'CREATE TABLE streamed (a UInt64, s String) ENGINE = MergeTree ORDER BY a',
    })
    const rows = Array.from({ length: 5000 }, (_, a) => ({ a, s: `row ${a} ; 'quoted' \n ünï` }))
    const inserted = await client.insert({
      table: 'streamed',
      values: Readable.from(rows),
      format: 'JSONEachRow',
    })
    expect(inserted.summary?.written_rows).toBe('5000')
    expect(await select('SELECT count() AS n, sum(a) AS total FROM streamed')).toEqual([
      { n: 5000, total: 12497500 },
    ])
    const [row] = await select<{ s: string }>('SELECT s FROM streamed WHERE a = 7')
    expect(row?.s).toBe("row 7 ; 'quoted' \n ünï")
    const streamed: unknown[] = []
    const result = await client.query({
      query: 'SELECT a FROM streamed ORDER BY a',
      format: 'JSONCompactEachRow',
    })
    for await (const batch of result.stream()) streamed.push(...batch.map(r => r.json()))
    expect(streamed).toHaveLength(5000)
    expect(streamed[4999]).toEqual([4999])
  })

  it('binds typed parameters, with ClickHouse reading them', async () => {
    const text = 'a\'b\\c\n\t"d" {x:String} -- ;'
    const [row] = await select<Record<string, unknown>>(
      `SELECT {s:String} AS s, {n:Nullable(String)} AS n, {list:Array(String)} AS list, {nested:Array(Array(UInt8))} AS nested,
              {map:Map(String, UInt64)} AS map, toString({big:UInt256}) AS big, {at:DateTime('UTC')} AS at, {yes:Bool} AS yes,
              {table:Identifier}.a AS a FROM (SELECT 1 AS a) AS t`,
      {
        s: text,
        n: null,
        list: ['x', "it's", text],
        nested: [[1, 2], []],
        map: new Map([['k', 5n]]),
        big: maxUint256,
        at: new Date('2024-01-02T03:04:05Z'),
        yes: true,
        table: 't',
      },
    )
    expect(row).toEqual({
      s: text,
      n: null,
      list: ['x', "it's", text],
      nested: [[1, 2], []],
      map: { k: 5 },
      big: maxUint256,
      at: '2024-01-02 03:04:05',
      yes: true,
      a: 1,
    })
  })

  it('sends long parameters as a form', async () => {
    const result = await client.query({
      query: 'SELECT length({list:Array(String)}) AS n, {s:String} AS s',
      query_params: { list: Array.from({ length: 20_000 }, (_, i) => `item-${i}`), s: 'tail' },
      format: 'JSONEachRow',
      use_multipart_params: true,
    })
    expect(await result.json()).toEqual([{ n: 20000, s: 'tail' }])
  })

  it('never shows one request the parameters or settings of another', async () => {
    const answers = await Promise.all(
      Array.from({ length: 60 }, async (_, i) => {
        const result = await client.query({
          query: "SELECT {x:UInt32} AS x, getSetting('max_block_size') AS size",
          query_params: { x: i },
          format: 'JSONEachRow',
          clickhouse_settings: { max_block_size: String(1000 + i) },
        })
        return (await result.json())[0]
      }),
    )
    expect(answers).toEqual(Array.from({ length: 60 }, (_, i) => ({ x: i, size: 1000 + i })))
    await expect(select('SELECT {x:UInt32}')).rejects.toMatchObject({ code: '456' })
  })

  it('keeps a UInt256 exact in and out', async () => {
    await client.command({
      query: 'CREATE TABLE wide (v UInt256, i Int256) ENGINE = MergeTree ORDER BY tuple()',
    })
    const min = (-(2n ** 255n)).toString()
    await client.insert({ table: 'wide', values: [{ v: maxUint256, i: min }], format: 'JSONEachRow' })
    const ours = openClickHouse({ url: place.url, database: 'vaultlog' })
    expect(await ours.query('wide', 'SELECT v, i, toUInt64(1) AS one FROM wide')).toEqual([
      { v: maxUint256, i: min, one: '1' },
    ])
    await ours.close()
    // The server's own default, left alone: a bare number.
    const bare = await place.http({ query: 'SELECT v FROM vaultlog.wide FORMAT JSONEachRow' })
    expect(bare.text).toBe(`{"v":${maxUint256}}\n`)
  })

  it('gets exceptions with code, type and message', async () => {
    const failure = await client
      .query({ query: 'SELECT nope FROM streamed' })
      .catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(ClickHouseError)
    expect(failure).toMatchObject({
      code: '47',
      type: 'UNKNOWN_IDENTIFIER',
      message: expect.stringContaining('nope'),
    })
    await expect(
      client.command({ query: 'CREATE TABLE streamed (a UInt8) ENGINE = Memory' }),
    ).rejects.toMatchObject({
      code: '57',
      type: 'TABLE_ALREADY_EXISTS',
    })
    await expect(
      client.insert({ table: 'streamed', values: Readable.from([{ a: 'x' }]), format: 'JSONEachRow' }),
    ).rejects.toMatchObject({
      code: expect.stringMatching(/^\d+$/),
      message: expect.stringContaining('Cannot parse'),
    })
    // What failed leaves nothing behind for the next.
    expect(await select('SELECT 1 AS one')).toEqual([{ one: 1 }])
  })

  it('compresses both ways', async () => {
    const zipped = createClient({
      url: place.url,
      database: 'vaultlog',
      compression: { request: true, response: true },
    })
    await zipped.command({ query: 'CREATE TABLE zipped (a UInt64) ENGINE = MergeTree ORDER BY a' })
    await zipped.insert({
      table: 'zipped',
      values: Array.from({ length: 1000 }, (_, a) => ({ a })),
      format: 'JSONEachRow',
    })
    const result = await zipped.query({ query: 'SELECT sum(a) AS total FROM zipped', format: 'JSONEachRow' })
    expect(await result.json()).toEqual([{ total: 499500 }])
    await expect(zipped.query({ query: 'SELECT nope' })).rejects.toMatchObject({ code: '47' })
    await zipped.close()
    const raw = await fetch(`${place.origin}/?enable_http_compression=1&query=SELECT+1`, {
      method: 'POST',
      headers: { ...place.owner, 'accept-encoding': 'gzip' },
    })
    expect(raw.headers.get('content-encoding')).toBe('gzip')
    expect(await raw.text()).toBe('1\n')
    const gz = await place.http(
      { query: 'INSERT INTO vaultlog.zipped FORMAT TSV' },
      gzipSync('5000\n5001\n'),
      {
        headers: { 'content-encoding': 'gzip' },
      },
    )
    expect(gz.status).toBe(200)
    expect(await select('SELECT count() AS n FROM zipped')).toEqual([{ n: 1002 }])
  })

  it('executes with values, and with nothing', async () => {
    const stream = await client.exec({
      query: 'INSERT INTO streamed FORMAT CSV',
      values: Readable.from(['90001,"x, y"\n']),
    })
    stream.stream.destroy()
    expect(await select('SELECT s FROM streamed WHERE a = 90001')).toEqual([{ s: 'x, y' }])
    await client.insert({ table: 'streamed', values: [], format: 'JSONEachRow' })
    const written = await client.command({
      query: "INSERT INTO streamed SELECT number + 100000, '' FROM numbers(50)",
    })
    expect(written.summary?.written_rows).toBe('50')
  })

  it('runs queries at the same time and stops a read whose client is gone', async () => {
    const abort = new AbortController()
    const lost = Promise.allSettled(
      Array.from({ length: 8 }, () =>
        client.query({
          query: 'SELECT count() FROM numbers(1000000000000) WHERE sipHash64(number) = 1',
          clickhouse_settings: { max_threads: 1 },
          abort_signal: abort.signal,
        }),
      ),
    )
    await expect.poll(running).toBe(8)
    abort.abort()
    expect((await lost).map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 'rejected'))
    await expect.poll(running).toBe(0)
  })

  const running = async () => {
    const [row] = await select<{ n: number }>(
      "SELECT count() AS n FROM system.processes WHERE query LIKE '%sipHash64%' AND query NOT LIKE '%system.processes%'",
    )
    return row?.n
  }

  it('streams a result that is larger than it would hold', async () => {
    const result = await client.query({
      query: 'SELECT number, toString(number) AS s FROM numbers(6000000)',
      format: 'JSONCompactEachRowWithNamesAndTypes',
    })
    let rows = 0
    let last: unknown
    for await (const batch of result.stream()) {
      rows += batch.length
      last = batch.at(-1)?.json()
    }
    expect(rows).toBe(6_000_002)
    expect(last).toEqual([5999999, '5999999'])
  })

  const failsLate = 'SELECT number, throwIf(number = 9000000) AS x FROM numbers(10000000) FORMAT JSONEachRow'

  /** Its parser wants the whole block of the error in one read of the socket, and says less otherwise. */
  it('reports an error in the middle of a stream', async () => {
    const result = await client.query({
      query: failsLate.replace(' FORMAT JSONEachRow', ''),
      format: 'JSONEachRow',
      clickhouse_settings: { max_threads: 1 },
    })
    const read = async () => {
      for await (const batch of result.stream()) void batch
    }
    await expect(read()).rejects.toThrow(/^Value passed to 'throwIf'|error in the stream/)
  })

  it('ends a stream that fails with the block that ClickHouse writes there', async () => {
    const { origin, username, password } = new URL(place.url)
    const response = await fetch(`${origin}/?database=vaultlog&max_threads=1`, {
      method: 'POST',
      headers: { 'X-ClickHouse-User': username, 'X-ClickHouse-Key': password },
      body: failsLate,
    })
    const tag = response.headers.get('X-ClickHouse-Exception-Tag') ?? ''
    expect(tag).toMatch(/^[0-9a-f]{16}$/)
    const tail = Buffer.from(await response.arrayBuffer())
      .subarray(-2000)
      .toString()
    const [, message = '', length] =
      new RegExp(
        `\\r\\n__exception__\\r\\n${tag}\\r\\n([^]+\\n)(\\d+) ${tag}\\r\\n__exception__\\r\\n$`,
      ).exec(tail) ?? []
    expect(message).toMatch(/^Code: 395\. DB::Exception: Value passed to 'throwIf'/)
    expect(Number(length)).toBe(Buffer.byteLength(message))
  })
})
