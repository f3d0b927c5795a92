import { execFileSync, spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { clickhousePlace } from './clickhouse-place.ts'

let place: Awaited<ReturnType<typeof clickhousePlace>>

beforeAll(async () => {
  place = await clickhousePlace()
})
afterAll(async () => {
  await place?.remove()
})

describe('the HTTP interface', () => {
  it('answers health checks', async () => {
    expect(await (await fetch(`${place.origin}/ping`)).text()).toBe('Ok.\n')
    expect(await (await fetch(`${place.origin}/replicas_status`)).text()).toBe('Ok.\n')
    expect(await (await fetch(`${place.origin}/`)).text()).toBe('Ok.\n')
    expect((await fetch(`${place.origin}/nope`)).status).toBe(404)
  })

  it.each([
    ['Origin', 'https://a-page.example'],
    ['Sec-Fetch-Site', 'cross-site'],
  ])('refuses what a web page sends (%s)', async (name, value) => {
    const response = await fetch(`${place.origin}/?query=SELECT%201`, {
      method: 'POST',
      headers: { [name]: value },
    })
    expect([response.status, await response.text()]).toEqual([403, 'Requests of web pages are refused\n'])
  })

  it('sends the headers of a server', async () => {
    const { headers, text } = await place.http({ query: 'SELECT 1 AS x FORMAT JSON', query_id: 'my-id' })
    expect(JSON.parse(text)).toMatchObject({ data: [{ x: 1 }], rows: 1 })
    expect(headers.get('content-type')).toBe('application/json; charset=UTF-8')
    expect(headers.get('x-clickhouse-format')).toBe('JSON')
    expect(headers.get('x-clickhouse-query-id')).toBe('my-id')
    expect(headers.get('x-clickhouse-timezone')).toBe('UTC')
    expect(JSON.parse(headers.get('x-clickhouse-summary') ?? '')).toMatchObject({
      read_rows: '1',
      elapsed_ns: expect.stringMatching(/^\d+$/),
    })
  })

  it.each([
    ['SELECT 1', {}, '1\n', 'text/tab-separated-values; charset=UTF-8'],
    ['SELECT 1', { default_format: 'CSV' }, '1\n', 'text/csv; charset=UTF-8; header=absent'],
    [
      'SELECT 1 AS a FORMAT JSONEachRow',
      { default_format: 'CSV' },
      '{"a":1}\n',
      'application/x-ndjson; charset=UTF-8',
    ],
    ['SELECT 1::UInt8 FORMAT RowBinary', {}, '\x01', 'application/octet-stream'],
    [
      'SELECT currentDatabase()',
      { database: 'vaultlog' },
      'vaultlog\n',
      'text/tab-separated-values; charset=UTF-8',
    ],
    ['SELECT 1;', {}, '1\n', 'text/tab-separated-values; charset=UTF-8'],
  ])('answers %s %j', async (query, params, expected, type) => {
    const inBody = await place.http(params, query)
    expect(inBody.text).toBe(expected)
    expect(inBody.headers.get('content-type')).toBe(type)
    expect((await place.http({ ...params, query })).text).toBe(expected)
    expect((await place.http({ ...params, query }, '', { method: 'GET' })).text).toBe(expected)
  })

  it('joins the query of the address and the body', async () => {
    expect((await place.http({ query: 'SELECT 1 +' }, '2')).text).toBe('3\n')
  })

  it.each([
    ['SELEC 1', 400, 62],
    ['', 400, 62],
    ['SELECT 1; SELECT 2', 400, 62],
    ['SELECT * FROM nope', 404, 60],
    ['SELECT 1 FORMAT Nope', 404, 73],
    ['SELECT throwIf(1)', 500, 395],
    ["SELECT 1 INTO OUTFILE '/tmp/x'", 500, 358],
    ["INSERT INTO t FROM INFILE '/etc/passwd' FORMAT CSV", 404, 78],
  ])('refuses %j with %i and code %i', async (query, status, code) => {
    const answer = await place.http({}, query)
    expect(answer.status).toBe(status)
    expect(answer.headers.get('x-clickhouse-exception-code')).toBe(String(code))
    expect(answer.text).toMatch(
      new RegExp(
        `^Code: ${code}\\. DB::Exception: [\\s\\S]+ \\([A-Z_]+\\) \\(version 26\\.[\\d.]+ \\(official build\\)\\)\\n$`,
      ),
    )
  })

  it('refuses unknown settings, databases and users', async () => {
    expect(await place.http({ query: 'SELECT 1', nope: '1' })).toMatchObject({
      status: 404,
      text: expect.stringContaining('Code: 115.'),
    })
    expect(await place.http({ query: 'SELECT 1', database: 'nope' })).toMatchObject({
      status: 404,
      text: expect.stringContaining('Code: 81.'),
    })
    expect(await place.http({ query: 'SELECT 1', user: 'eve' })).toMatchObject({
      status: 403,
      text: expect.stringContaining('Code: 516.'),
    })
    expect(await place.http({ query: 'SELECT 1', password: 'wrong' })).toMatchObject({ status: 403 })
    expect(
      await place.http({ query: 'SELECT 1' }, '', {
        headers: place.owner,
      }),
    ).toMatchObject({ status: 200 })
  })

  it('lets GET read only', async () => {
    const answer = await place.http({ query: 'CREATE TABLE vaultlog.by_get (a UInt8) ENGINE = Memory' }, '', {
      method: 'GET',
    })
    expect(answer).toMatchObject({ status: 500, text: expect.stringContaining('Code: 164.') })
  })

  it.each(['TSV', 'CSV', 'JSONEachRow', 'JSONCompactEachRow', 'Native', 'RowBinary', 'Parquet', 'Values'])(
    'takes back what it gave as %s',
    async format => {
      await place.http(
        {},
        'CREATE OR REPLACE TABLE vaultlog.formats (a UInt64, s String, l Array(String)) ENGINE = MergeTree ORDER BY a',
      )
      const source =
        "SELECT number AS a, concat('x', char(9), '\\n;', toString(number)) AS s, ['y', s] AS l FROM numbers(1000)"
      const given = await fetch(`${place.origin}/?default_format=${format}`, {
        method: 'POST',
        body: source,
        headers: place.owner,
      })
      const body = Buffer.from(await given.arrayBuffer())
      const taken = await place.http({ query: `INSERT INTO vaultlog.formats FORMAT ${format}` }, body)
      expect(taken.text).toBe('')
      const difference = await place.http(
        {},
        `SELECT count(), countIf(s != concat('x', char(9), '\\n;', toString(a))), countIf(l != ['y', s]) FROM vaultlog.formats`,
      )
      expect(difference.text).toBe('1000\t0\t0\n')
    },
  )

  it('inserts data that stand behind the statement in the body', async () => {
    await place.http(
      {},
      'CREATE OR REPLACE TABLE vaultlog.behind (a UInt64, s String) ENGINE = MergeTree ORDER BY a',
    )
    await place.http({}, "INSERT INTO vaultlog.behind VALUES (1, 'a;b'), (2, 'c')")
    await place.http({}, 'INSERT INTO vaultlog.behind (a) FORMAT TSV\n3\n4\n')
    await place.http(
      { query: "INSERT INTO vaultlog.behind SELECT x * 10, 'in' FROM input('x UInt64') FORMAT TSV" },
      '5\n6\n',
    )
    await place.http(
      {},
      `INSERT INTO vaultlog.behind FORMAT JSONEachRow ${Array.from({ length: 40_000 }, (_, i) => JSON.stringify({ a: 1000 + i, s: 'long' })).join('\n')}`,
    )
    expect((await place.http({}, 'SELECT s, count() FROM vaultlog.behind GROUP BY s ORDER BY s')).text).toBe(
      '\t2\na;b\t1\nc\t1\nin\t2\nlong\t40000\n',
    )
  })

  it('keeps an insert of a million rows one block, and takes it once by its token', async () => {
    await place.http(
      {},
      'CREATE TABLE vaultlog.tokens (a UInt64) ENGINE = MergeTree ORDER BY a SETTINGS non_replicated_deduplication_window = 100',
    )
    const body = Array.from({ length: 1_000_000 }, (_, i) => i).join('\n')
    for (let i = 0; i < 2; i++) {
      const query = 'INSERT INTO vaultlog.tokens FORMAT TSV'
      expect((await place.http({ query, insert_deduplication_token: 'range-1' }, body)).status).toBe(200)
    }
    expect(
      (await place.http({}, "SELECT count(), max(rows) FROM system.parts WHERE table = 'tokens' AND active"))
        .text,
    ).toBe('1\t1000000\n')
    for (let i = 0; i < 2; i++) {
      await place.http(
        { insert_deduplication_token: 'range-2' },
        'INSERT INTO vaultlog.tokens SELECT number FROM numbers(10)',
      )
    }
    expect((await place.http({}, 'SELECT count() FROM vaultlog.tokens')).text).toBe('1000010\n')
    expect(readdirSync(join(place.env.VAULTLOG_DIR, 'clickhouse', 'spool'))).toEqual([])
  })

  it('exchanges tables and has parameterised views', async () => {
    await place.http({}, 'CREATE TABLE vaultlog.live (a UInt8) ENGINE = MergeTree ORDER BY a')
    await place.http({}, 'CREATE TABLE vaultlog.shadow (a UInt8) ENGINE = MergeTree ORDER BY a')
    await place.http({}, 'INSERT INTO vaultlog.shadow VALUES (42)')
    expect((await place.http({ database: 'vaultlog' }, 'EXCHANGE TABLES live AND shadow')).status).toBe(200)
    expect((await place.http({}, 'SELECT a FROM vaultlog.live')).text).toBe('42\n')
    await place.http(
      {},
      'CREATE VIEW vaultlog.above AS SELECT number FROM numbers(10) WHERE number > {limit:UInt8}',
    )
    expect((await place.http({}, 'SELECT count() FROM vaultlog.above(limit = 6)')).text).toBe('3\n')
    expect(
      (await place.http({ param_l: '7' }, 'SELECT count() FROM vaultlog.above(limit = {l:UInt8})')).text,
    ).toBe('2\n')
  })

  it('has sessions', async () => {
    const session = { session_id: 's1' }
    await place.http(session, 'CREATE TEMPORARY TABLE kept (a UInt8)')
    await place.http(session, 'INSERT INTO kept VALUES (9)')
    expect((await place.http(session, 'SELECT nope')).status).toBe(404)
    expect((await place.http(session, 'SELECT a FROM kept')).text).toBe('9\n')
    expect((await place.http({}, 'SELECT a FROM kept')).status).toBe(404)
  })

  it('lives through clients that go away in the middle of an insert', async () => {
    await place.http({}, 'CREATE TABLE vaultlog.broken (a UInt64) ENGINE = MergeTree ORDER BY a')
    await new Promise<void>(resolve => {
      const sent = request(
        `${place.url}/?query=${encodeURIComponent('INSERT INTO vaultlog.broken FORMAT TSV')}`,
        { method: 'POST' },
      )
      sent.on('error', () => {})
      sent.on('close', resolve)
      sent.write('1\n2\n')
      setTimeout(() => sent.destroy(), 100)
    })
    expect((await place.http({}, 'SELECT count() FROM vaultlog.broken')).text).toBe('0\n')
    await expect.poll(() => readdirSync(join(place.env.VAULTLOG_DIR, 'clickhouse', 'spool'))).toEqual([])
  })
})

const hasCurl = spawnSync('curl', ['--version']).status === 0
if (!hasCurl) console.warn('curl is not installed: its test is skipped')

describe.skipIf(!hasCurl)('curl', () => {
  const curl = (...args: string[]) => execFileSync('curl', ['-sS', ...args], { encoding: 'utf8' })

  it('queries, inserts from a pipe, reads compressed', () => {
    expect(curl(place.url, '--data-binary', 'SELECT 1')).toBe('1\n')
    expect(curl(`${place.url}/?query=SELECT%202`)).toBe('2\n')
    curl(place.url, '-d', 'CREATE TABLE vaultlog.curled (a UInt64) ENGINE = MergeTree ORDER BY a')
    const rows = Array.from({ length: 300_000 }, (_, i) => i).join('\n')
    execFileSync(
      'curl',
      ['-sS', '-T', '-', `${place.url}/?query=INSERT%20INTO%20vaultlog.curled%20FORMAT%20TSV`],
      { input: rows },
    )
    execFileSync(
      'curl',
      ['-sS', '--data-binary', '@-', `${place.url}/?query=INSERT%20INTO%20vaultlog.curled%20FORMAT%20TSV`],
      { input: rows },
    )
    expect(
      curl(
        '--compressed',
        `${place.url}/?enable_http_compression=1`,
        '-d',
        'SELECT count() FROM vaultlog.curled',
      ),
    ).toBe('600000\n')
    expect(curl('-u', 'analyst:analyst', place.origin, '-d', 'SELECT 3')).toBe('3\n')
    expect(
      curl('-o', '/dev/null', '-w', '%{http_code}', '-u', 'analyst:wrong', place.origin, '-d', 'SELECT 3'),
    ).toBe('403')
  })
})
