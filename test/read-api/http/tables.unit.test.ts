import { expect, it } from 'vitest'
import { defineEndpoint } from '../../../read-api/http/endpoint.ts'
import { columnsOf, csvOf } from '../../../read-api/http/tables.ts'
import { z } from '../../../read-api/http/zod.ts'

const endpoint = defineEndpoint({
  tier: 'v2',
  method: 'get',
  path: '/rows',
  summary: 'Rows',
  response: z.strictObject({
    data: z.array(
      z.strictObject({
        name: z.string(),
        amount: z.string(),
        of: z.strictObject({ rate: z.number().nullable(), tags: z.array(z.string()).optional() }).optional(),
        at: z.int(),
      }),
    ),
  }),
  table: 'data',
  example: {},
  cost: 1,
  cache: 'none',
  handler: () => ({ data: [] }),
})

const csv = (...data: unknown[]) => csvOf(endpoint, { data }).split('\r\n').slice(1, -1)

it('has a column for each field at the end of a path, and a line of their names', () => {
  expect(columnsOf(endpoint).map(({ name, kind }) => [name, kind])).toEqual([
    ['name', 'text'],
    ['amount', 'text'],
    ['of_rate', 'number'],
    ['of_tags', 'text'],
    ['at', 'integer'],
  ])
  expect(csvOf(endpoint, { data: [] })).toBe('name,amount,of_rate,of_tags,at\r\n')
})

it('is quoted as RFC 4180 says, and keeps every digit', () => {
  const amount = '115792089237316195423570985008687907853269984665640564039457584007913129639935'
  expect(csv({ name: 'a "b", c', amount, of: { rate: 0.1, tags: ['x', 'y'] }, at: 7 })).toEqual([
    `"a ""b"", c",${amount},0.1,"[""x"",""y""]",7`,
  ])
  expect(
    csv({ name: '', amount: '0', of: { rate: null }, at: 7 }, { name: 'n', amount: '0', at: 8 }),
  ).toEqual([',0,,,7', 'n,0,,,8'])
})

it.each([
  ['=cmd|"/c calc"!A1', `"'=cmd|""/c calc""!A1"`],
  ['+1+1', "'+1+1"],
  ['-2+3', "'-2+3"],
  ['@SUM(A1)', "'@SUM(A1)"],
  ['\t=1', "'\t=1"],
  ['USD-C', 'USD-C'],
])('a stranger’s name is no formula: %s', (name, cell) => {
  expect(csv({ name, amount: '-5', at: 1 })).toEqual([`${cell},-5,,,1`])
})
