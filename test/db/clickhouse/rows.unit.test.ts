import { expect, test } from 'vitest'
import { z } from 'zod'
import { columns, rowOf } from '../../../db/clickhouse/rows.ts'

test('columns are read as their types want it, under their names or others', () => {
  const flow = columns('flow', ['vault', 'assets', 'position'], { at: 'timestamp' })
  expect(flow.select()).toBe('vault, toString(assets) AS assets, position, toUnixTimestamp(timestamp) AS at')
  expect(flow.select('f')).toBe(
    'f.vault AS vault, toString(f.assets) AS assets, f.position AS position, toUnixTimestamp(f.timestamp) AS at',
  )
  expect(flow.list('f')).toBe('f.vault, f.assets, f.position, f.timestamp')
  expect(flow.fromTuple('last', 3)).toBe(
    'last.3 AS vault, toString(last.4) AS assets, last.5 AS position, toUnixTimestamp(last.6) AS at',
  )
  // 64 bits come as text or number, wider ones as text alone.
  const row = { vault: '0xab', assets: '340282366920938463463374607431768211456', position: '7', at: 9 }
  expect(z.object(flow.row).parse(row)).toEqual({ ...row, position: 7 })
  expect(z.object(flow.row).safeParse({ ...row, assets: 1 }).success).toBe(false)
})

test('only what may be NULL in the table may be null', () => {
  const sample = { share_price: null, fine_digits: 0 }
  const schema = rowOf('vault_sample', ['share_price', 'fine_digits'])
  expect(schema.parse(sample)).toEqual(sample)
  expect(schema.safeParse({ ...sample, fine_digits: null }).success).toBe(false)
})

test('the type check refuses a column that the table does not have', () => {
  // @ts-expect-error
  columns('flow', ['no_such_column'])
  // @ts-expect-error
  columns('flow', [], { at: 'no_such_column' })
  // @ts-expect-error
  expect(() => rowOf('no_such_table', ['vault'])).toThrow(TypeError)
})
