import { describe, expect, it } from 'vitest'
import { insertFromFile, parseStatement } from '../../../db/embedded/clickhouse-sql.ts'

const data = (sql: string) => sql.slice(parseStatement(sql).dataStart)

describe('statements as the HTTP interface sees them', () => {
  it('finds where the data of an INSERT begin', () => {
    expect(data('INSERT INTO t FORMAT JSONEachRow\n{"a":1}')).toBe('{"a":1}')
    expect(data('insert into t (a, `b c`) format TSV\r\n1\t2')).toBe('1\t2')
    expect(data("INSERT INTO t VALUES (1, 'a;b')")).toBe(" (1, 'a;b')")
    expect(data('INSERT INTO db.t SETTINGS async_insert=0 FORMAT CSV 1,2')).toBe('1,2')
    expect(data('/* FORMAT x */ INSERT INTO values VALUES(1)')).toBe('(1)')
    expect(data('INSERT INTO format.format FORMAT Native\n\0\x01')).toBe('\0\x01')
  })

  it('does not take INSERT ... SELECT for data', () => {
    expect(parseStatement("INSERT INTO t SELECT 'VALUES', x FROM u").kind).toBe('insert-select')
    expect(parseStatement('INSERT INTO t (a) WITH 1 AS x SELECT x FORMAT TSV').kind).toBe('insert-select')
    const input = parseStatement("INSERT INTO t SELECT x + 1 FROM input('x UInt8') FORMAT TSV\n1")
    expect(input).toMatchObject({ kind: 'insert-input', format: 'TSV' })
  })

  it('sends the data by file', () => {
    const rewrite = (sql: string) => insertFromFile(sql, parseStatement(sql), '/s/1').replace(/\s+/g, ' ')
    expect(rewrite('INSERT INTO t (a) FORMAT TSV\n1')).toBe(
      "INSERT INTO t (a) FROM INFILE '/s/1' COMPRESSION 'none' FORMAT TSV",
    )
    expect(rewrite('INSERT INTO t SETTINGS x=1 VALUES (1)')).toBe(
      "INSERT INTO t FROM INFILE '/s/1' COMPRESSION 'none' SETTINGS x=1 FORMAT Values",
    )
    expect(rewrite("INSERT INTO t SELECT x FROM input('x UInt8') WHERE x > 1 FORMAT TSV\n1").trim()).toBe(
      "INSERT INTO t SELECT x FROM file('/s/1', 'TSV', 'x UInt8') WHERE x > 1",
    )
  })

  it('reads the format of a query', () => {
    expect(parseStatement('SELECT 1 FORMAT JSON').format).toBe('JSON')
    expect(parseStatement('SELECT 1 FORMAT JSON SETTINGS max_threads = 1;').format).toBe('JSON')
    expect(parseStatement("SELECT 'FORMAT JSON'").format).toBeUndefined()
    expect(parseStatement('SELECT format FROM t').format).toBeUndefined()
    expect(parseStatement('SELECT (SELECT 1 FORMAT JSON)').format).toBeUndefined()
  })

  it('sees a second statement, but not a semicolon in quotes or comments', () => {
    expect(parseStatement('SELECT 1; DROP TABLE t').isMulti).toBe(true)
    expect(parseStatement('SELECT 1; -- end\n ;').isMulti).toBe(false)
    expect(parseStatement("SELECT ';', `;`, \";\", $x$;'$x$, /* ; /* ; */ ; */ 1 # ;\n").isMulti).toBe(false)
    expect(parseStatement("SELECT '\\'; DROP TABLE t --'").isMulti).toBe(false)
    expect(parseStatement("SELECT ''''; DROP TABLE t").isMulti).toBe(true)
    expect(parseStatement(Buffer.from("SELECT ‘'’; DROP TABLE t").toString('latin1')).isMulti).toBe(true)
  })

  it('sees file clauses wherever they stand', () => {
    expect(parseStatement("SELECT 1 INTO /* x */ OUTFILE 'a'").fileClause).toBe('INTO OUTFILE')
    expect(parseStatement("INSERT INTO t FROM INFILE 'a' FORMAT CSV").fileClause).toBe('FROM INFILE')
    expect(parseStatement("SELECT 'INTO OUTFILE'").fileClause).toBeUndefined()
  })

  it('names what is called', () => {
    expect([...parseStatement('SELECT file(\'/x\'), "Sum" (1), * APPLY(url), * APPLY s3').calls]).toEqual(
      expect.arrayContaining(['file', 'sum', 'url', 's3']),
    )
  })
})
