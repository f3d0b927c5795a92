import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openClickHouse } from '../../../db/clickhouse/client.ts'
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
  ])('is refused: %s', async query => {
    const answer = await asAnalyst(query)
    expect(answer.text).toMatch(/Code: (164|62)\./)
    expect(answer.status).toBeGreaterThanOrEqual(400)
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
