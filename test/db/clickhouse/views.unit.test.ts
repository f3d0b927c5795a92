import { expect, it } from 'vitest'
import { writeOut } from '../../../db/clickhouse/views.ts'

const views = new Map([
  [
    'moved',
    "SELECT a AS `from`, {fresh:UInt8} AS fresh FROM db.event WHERE (stream = {stream:Int32}) AND (b IN ('(', ')'))",
  ],
  [
    'both',
    'SELECT * FROM `db_internal.moved`(stream = {stream:Int32}, fresh = 1) AS x, `db_internal.moved`(stream = {stream:Int32}, fresh = 0) AS y',
  ],
  [
    'all',
    'WITH z AS (SELECT * FROM `db_internal.both`(stream = {stream:Int32})) SELECT count() FROM z WHERE `from` > {from:UInt64}',
  ],
  ['astray', 'SELECT * FROM `db_internal.nowhere`(stream = {stream:Int32})'],
])

it('writes out a view with those that it stands on, each with what it is given', () => {
  const moved = (fresh: number) =>
    `(SELECT a AS \`from\`, _CAST(${fresh}, 'UInt8') AS fresh FROM db.event WHERE (stream = _CAST(7, 'Int32')) AND (b IN ('(', ')')))`
  expect(writeOut(views, 'db_internal', 'moved', { stream: 7, fresh: 1 })).toBe(moved(1).slice(1, -1))
  expect(writeOut(views, 'db_internal', 'both', { stream: 7 })).toBe(
    `SELECT * FROM ${moved(1)} AS x, ${moved(0)} AS y`,
  )
  expect(writeOut(views, 'db_internal', 'all', { stream: 7, from: 3 })).toBe(
    `WITH z AS (SELECT * FROM (SELECT * FROM ${moved(1)} AS x, ${moved(0)} AS y)) SELECT count() FROM z WHERE \`from\` > _CAST(3, 'UInt64')`,
  )
})

it('leaves a view as it is that stands on one which is not known', () => {
  expect(writeOut(views, 'db_internal', 'astray', { stream: 7 })).toBeUndefined()
  expect(writeOut(views, 'db_internal', 'nowhere', { stream: 7 })).toBeUndefined()
})

it('fails where a view is not given all that it asks for', () => {
  expect(() => writeOut(views, 'db_internal', 'moved', { stream: 7 })).toThrow(
    'the view moved is not given fresh',
  )
})
