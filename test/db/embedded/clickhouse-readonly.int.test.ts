import { readFileSync, statSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openClickHouse } from '../../../db/clickhouse/client.ts'
import { Turnstile } from '../../../db/embedded/clickhouse-readonly.ts'
import { clickhousePlace } from './clickhouse-place.ts'

let place: Awaited<ReturnType<typeof clickhousePlace>>

beforeAll(async () => {
  place = await clickhousePlace()
  await place.http({}, 'CREATE TABLE vaultlog.streamed (a UInt64) ENGINE = MergeTree ORDER BY a')
  await place.http({}, 'INSERT INTO vaultlog.streamed VALUES (1)')
})
afterAll(async () => {
  await place?.remove()
})

describe('the read-only user', () => {
  const asAnalyst = (query: string, params: Record<string, string> = {}) =>
    place.http(params, query, {
      headers: { authorization: `Basic ${Buffer.from('analyst:analyst').toString('base64')}` },
    })

  it('reads, by our client too', async () => {
    expect((await asAnalyst('SELECT sum(number) FROM numbers(10)')).text).toBe('45\n')
    const reader = openClickHouse({
      url: place.url,
      database: 'vaultlog',
      readonly: { user: 'analyst', password: 'analyst' },
    })
    expect(await reader.query('test', 'SELECT {x:UInt64} AS x', { x: 5 })).toEqual([{ x: '5' }])
    await expect(reader.command('test', 'DROP TABLE streamed')).rejects.toMatchObject({ code: '164' })
    await reader.close()
  })

  it.each([
    'INSERT INTO vaultlog.streamed (a) VALUES (1)',
    'INSERT INTO vaultlog.streamed (a) SELECT 1',
    'CREATE TABLE vaultlog.mine (a UInt8) ENGINE = Memory',
    'DROP TABLE vaultlog.streamed',
    'ALTER TABLE vaultlog.streamed DELETE WHERE 1',
    'TRUNCATE TABLE vaultlog.streamed',
    'SET max_threads = 7',
    'SET readonly = 0',
    'SELECT 1 SETTINGS max_result_rows = 5000000',
    'SYSTEM FLUSH LOGS',
    'KILL QUERY WHERE 1',
    "SELECT file('/etc/passwd')",
    "SELECT * APPLY(file) FROM (SELECT '/etc/passwd')",
    'SELECT * APPLY `file` FROM (SELECT 1)',
    "SELECT * FROM file('/etc/passwd', 'LineAsString')",
    "DESCRIBE file('/etc/passwd', 'CSV')",
    "SELECT * FROM url('http://127.0.0.1:1/', 'LineAsString')",
    "SELECT * FROM postgresql('127.0.0.1:1', 'a', 'b', 'c', 'd')",
    "SELECT * FROM '/etc/hostname'",
    'WITH 1 AS x INSERT INTO vaultlog.streamed (a) SELECT x',
    // A function need not be followed by a bracket.
    "SELECT arrayMap(file, ['/etc/hostname'])",
    "SELECT arrayMap(`fi\\le`, ['/etc/hostname'])",
    "WITH File AS f SELECT arrayMap(f, ['/proc/self/environ'])",
    "SELECT hasColumnInTable('127.0.0.1:1', 'a', 'b', 'c')",
    "SELECT * FROM eval('SELECT file(\\'/etc/hostname\\')')",
    "SELECT getServerSetting('path')",
    'SELECT sleep(3)',
    // Tables of `default` are files.
    'EXISTS TABLE default.`/etc/passwd`',
    'SELECT * FROM `default`.`/etc/hostname`',
    'SELECT * FROM "/etc/hostname"',
    'SHOW TABLES FROM default',
    // What fills the tables is no business of who reads them.
    'SELECT * FROM vaultlog_internal.flow_rows(stream = 1, from = 0, to = 9)',
    'SELECT * FROM `vaultlog_internal` . flow_rows(stream = 1, from = 0, to = 9)',
    // What others do, and where things are.
    'SELECT query FROM system.processes',
    'SELECT * FROM system . `stack_trace`',
    'SHOW PROCESSLIST',
    "SELECT 1 FORMAT Template SETTINGS format_template_row = '/etc/hostname'",
    'SELECT 1 AS a FORMAT Protobuf',
  ])('is refused: %s', async query => {
    const answer = await asAnalyst(query)
    expect(answer.text).toMatch(/Code: (164|62|60)\./)
    expect(answer.status).toBeGreaterThanOrEqual(400)
  })

  it.each([
    { default_format: 'Template', format_template_row: '/etc/hostname' },
    { format_template_resultset: '/etc/hostname' },
    { format_schema: "SELECT file('/etc/hostname')", format_schema_source: 'query' },
    { output_format_schema: '/tmp/vaultlog-schema' },
    { format_avro_schema_registry_url: 'http://127.0.0.1:1' },
    { query_cache_tag: 'mine' },
    { database: 'default' },
    { database: 'system' },
    { database: 'vaultlog_internal' },
    { default_format: 'Protobuf' },
  ])('is refused with %o', async params => {
    const answer = await asAnalyst('SELECT 1 AS a', params as unknown as Record<string, string>)
    expect(answer.text).toContain('Code: 164.')
  })

  it('names no table by a parameter', async () => {
    const answer = await asAnalyst('SELECT * FROM system.{t:Identifier}', { param_t: 'processes' })
    expect(answer.text).toContain('Code: 164.')
    expect((await asAnalyst('SELECT * FROM {t:Identifier}', { param_t: '/etc/hostname' })).text).toContain(
      'Code: 164.',
    )
  })

  it('finds what tools for analysts ask first, with settings that they send', async () => {
    const asked = [
      'SELECT version(), timezone(), currentDatabase(), currentUser(), displayName()',
      "SELECT name, engine, comment FROM system.tables WHERE database = 'vaultlog'",
      "SELECT name, type FROM system.columns WHERE database = 'vaultlog' AND table = 'streamed'",
      'SELECT * FROM information_schema.tables',
      'SHOW TABLES FROM vaultlog',
      'SHOW CREATE TABLE vaultlog.streamed',
      'DESCRIBE TABLE vaultlog.streamed',
      'EXPLAIN SELECT a FROM vaultlog.streamed',
      'SELECT count() FROM (SELECT a FROM vaultlog.streamed) AS s JOIN numbers(3) AS n ON n.number = s.a FORMAT JSON',
    ]
    for (const query of asked) {
      const answer = await asAnalyst(query, {
        max_execution_time: '30',
        max_result_rows: '1000',
        max_block_size: '8192',
        date_time_input_format: 'best_effort',
      })
      expect(answer, query).toMatchObject({ status: 200 })
    }
  })

  // What each sends with a query, as its users report where a read-only user refuses it.
  it.each([
    // grafana/clickhouse-datasource#325
    ['Grafana', { max_execution_time: '60', default_format: 'Native', client_protocol_version: '54460' }],
    // ClickHouse/metabase-clickhouse-driver#20, ClickHouse/github-explorer#12
    ['Metabase', { max_result_rows: '2000', result_overflow_mode: 'break', compress: '0' }],
    // dbeaver/dbeaver#38207, dbeaver/cloudbeaver#627
    ['DBeaver', { max_result_rows: '200', result_overflow_mode: 'break', extremes: '0' }],
    // ClickHouse/clickhouse-tableau-connector-jdbc#46
    ['Tableau', { join_use_nulls: '1', session_timezone: 'UTC' }],
    // ClickHouse/clickhouse-connect, driver/httpclient.py
    [
      'Superset and dbt',
      {
        cancel_http_readonly_queries_on_client_close: '1',
        http_headers_progress_interval_ms: '120000',
        send_progress_in_http_headers: '1',
        wait_end_of_query: '1',
        connect_timeout: '10',
        send_timeout: '300',
        receive_timeout: '300',
      },
    ],
  ])('takes what %s sends', async (_, params) => {
    const answer = await asAnalyst('SELECT a FROM vaultlog.streamed LIMIT 3', params)
    expect(answer).toMatchObject({ status: 200 })
  })

  it.each(['CSVWithNames', 'Arrow', 'Parquet'])('gives rows as %s', async format => {
    const answer = await asAnalyst(`SELECT number, toString(number) AS text FROM numbers(3) FORMAT ${format}`)
    expect(answer.status).toBe(200)
    const magic = { CSVWithNames: '"number","text"', Arrow: 'ARROW1', Parquet: 'PAR1' }[format]
    expect(answer.text.startsWith(magic ?? '?')).toBe(true)
  })

  it('says from where to where a limit may be set', async () => {
    const answer = await asAnalyst('SELECT 1', { max_execution_time: '61' })
    expect(answer.text).toContain(
      "Cannot modify 'max_execution_time' setting in readonly mode, but from 1 to 60",
    )
  })

  it('may ask all that the documents ask', async () => {
    const root = join(import.meta.dirname, '../../..')
    const documents = ['db/clickhouse/README.md', 'docs/questions.md'].map(file =>
      readFileSync(join(root, file), 'utf8'),
    )
    const examples = documents.flatMap(text =>
      [...text.matchAll(/^```sql\n(.*?)^```/gms)].map(([, sql]) => sql ?? ''),
    )
    expect(examples.length).toBeGreaterThan(50)
    const refused: string[] = []
    for (const sql of examples) {
      // Whether it is let through; the tables are not here.
      const { text } = await asAnalyst(sql)
      if (text.includes('Code: 164.')) refused.push(`${text}${sql}`)
    }
    expect(refused).toEqual([])
  })

  it('calls no function that reads files, the network, the server or what others do', async () => {
    const { text } = await place.http(
      {},
      `SELECT name, categories, description FROM system.functions UNION ALL
       SELECT name, 'table function', description FROM system.table_functions FORMAT JSONEachRow`,
    )
    const all = text
      .trim()
      .split('\n')
      .map(line => JSON.parse(line) as { name: string; categories: string; description: string })
    expect(all.length).toBeGreaterThan(1_500)
    const allowed: typeof all = []
    for (const one of all) {
      const { text: said } = await asAnalyst(`EXPLAIN AST SELECT \`${one.name}\``)
      if (!said.includes('is not allowed in readonly mode')) allowed.push(one)
    }
    expect(allowed.length).toBeGreaterThan(1_200)
    // By what they are called and by what the engine itself says of them, not by our list.
    const reaches =
      /^(file|url$|urlCluster|s3|hdfs|remote|cluster|mysql|postgresql|mongodb|redis|odbc|jdbc|sqlite|executable|input|merge|loop|eval|dictionary|python|chdb|catboost|ai[A-Z]|sleep|dictGet|dictHas|joinGet|hasColumnInTable|getServer|getMacro|getSetting|getClient|getMergeTree|hostName|fqdn|tcpPort|serverUUID|buildId|filesystem|zookeeper|transaction|addressTo|logTrace|trap|generateSerialID|showCertificate|getOSKernel|naiveBayesClassifier|region)/i
    const says =
      /contents? of (a|the) files?|reads? (a |the )?files?\b|file ?system|zookeeper|server setting|environment variable|stack trace|other (quer|session)|external (table|database|dictionar)|remote (host|file|table)|LLM/i
    const suspicious = allowed.filter(({ name, description }) => reaches.test(name) || says.test(description))
    expect(suspicious.map(({ name, description }) => `${name}: ${description.slice(0, 200)}`)).toEqual([])
  })

  it('has a few queries at one time, and the owner is not kept waiting', async () => {
    const slow = 'SELECT sum(cityHash64(number)) FROM numbers(100000000000)'
    const leave = new AbortController()
    const begun = Array.from({ length: 4 }, () =>
      fetch(`${place.origin}/?user=analyst&password=analyst`, {
        method: 'POST',
        body: slow,
        signal: leave.signal,
      }).catch(() => {}),
    )
    const running = async () =>
      Number(
        (
          await place.http(
            {},
            "SELECT count() FROM system.processes WHERE query LIKE '%cityHash64(number)%' AND query NOT LIKE '%processes%'",
          )
        ).text,
      )
    await expect.poll(running).toBe(4)
    expect(await asAnalyst('SELECT 1')).toMatchObject({
      status: 429,
      text: expect.stringContaining('Code: 202.'),
    })
    expect((await place.http({}, 'SELECT 1')).text).toBe('1\n')
    // Who hangs up is not worked for.
    leave.abort()
    await Promise.all(begun)
    await expect.poll(running).toBe(0)
    await expect.poll(async () => (await asAnalyst('SELECT 1')).text).toBe('1\n')
  })

  it('has so many queries and seconds an hour', () => {
    const turnstile = new Turnstile({ atOnce: 2, queriesPerHour: 3, secondsPerHour: 10 })
    const hour = 3_600_000
    turnstile.enter(1)(2)
    turnstile.enter(3)(4)
    turnstile.enter(5)(6)
    expect(() => turnstile.enter(7)).toThrow(/^Code: 201\./)
    turnstile.enter(1 + hour)(1 + hour + 10_000)
    expect(() => turnstile.enter(2 + hour + 10_000)).toThrow(/^Code: 201\./)
    const leave = turnstile.enter(2 + 2 * hour + 10_000)
    turnstile.enter(3 + 2 * hour + 10_000)
    expect(() => turnstile.enter(4 + 2 * hour + 10_000)).toThrow(/^Code: 202\./)
    leave(5 + 2 * hour + 10_000)
  })

  it('cannot raise its limits by the address, nor pass them', async () => {
    expect((await asAnalyst('SELECT 1', { max_execution_time: '1000' })).text).toContain('Code: 164.')
    expect((await asAnalyst('SELECT 1', { readonly: '0' })).text).toContain('Code: 164.')
    expect((await asAnalyst("SELECT 1 INTO OUTFILE '/tmp/vaultlog-out'")).text).toContain('Code: 358.')
    expect((await asAnalyst('SELECT number FROM numbers(2000000)')).text).toContain('Code: 396.')
    expect((await asAnalyst('SELECT groupArray(number) FROM numbers(500000000) FORMAT Null')).text).toContain(
      'Code: 241.',
    )
    expect((await place.http({ query: 'SELECT count() FROM vaultlog.streamed' })).text).not.toBe('0\n')
  })
})

describe('the user of everything', () => {
  it('is asked for the password, which nobody else of the machine may read', async () => {
    expect((await fetch(`${place.origin}/?query=SELECT+1`)).status).toBe(403)
    expect((await place.http({}, 'SELECT 1')).text).toBe('1\n')
    expect(statSync(join(place.env.VAULTLOG_DIR, 'passwords.json')).mode & 0o777).toBe(0o600)
  })

  it('only reads by GET, whatever the address says', async () => {
    for (const readonly of [{}, { readonly: '0' }, { readonly: '2' }] as Record<string, string>[]) {
      const answer = await place.http(
        { ...readonly, query: 'INSERT INTO vaultlog.streamed VALUES (9)' },
        '',
        { method: 'GET' },
      )
      expect(answer.text).toContain('Code: 164.')
    }
    expect((await place.http({ readonly: '0' }, 'INSERT INTO vaultlog.streamed VALUES (1)')).status).toBe(200)
  })

  it('is not asked for by the name of a page that leads here', async () => {
    const ask = (host: string) =>
      new Promise<number | undefined>((resolve, reject) => {
        const { port } = new URL(place.origin)
        const headers = { ...place.owner, host }
        request({ host: '127.0.0.1', port, path: '/?query=SELECT+1', headers }, answer => {
          answer.resume()
          resolve(answer.statusCode)
        })
          .on('error', reject)
          .end()
      })
    expect(
      await Promise.all(
        ['evil.example:28123', '127.0.0.1.evil.example', 'localhost.evil', '10.0.0.1'].map(ask),
      ),
    ).toEqual([403, 403, 403, 403])
    expect(await Promise.all(['127.0.0.1:28123', 'localhost', '[::1]:1'].map(ask))).toEqual([200, 200, 200])
  })

  it('has no environment but what it needs, and no password in its arguments', async () => {
    const pid = (await place.http({}, "SELECT file('/proc/self/stat')")).text.split(' ')[0]
    const read = (file: string) => readFileSync(`/proc/${pid}/${file}`, 'utf8')
    expect(read('cmdline')).not.toMatch(/analyst|password/)
    const names = read('environ')
      .split('\0')
      .map(pair => pair.split('=')[0])
    expect(names).toContain('PATH')
    expect(names).not.toContain('VITEST')
    expect(process.env['VITEST']).toBeDefined()
  })
})
