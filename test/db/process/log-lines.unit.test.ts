import { LogLevel } from '@subsquid/logger'
import { pino } from 'pino'
import { expect, it } from 'vitest'
import { readableLine } from '../../../db/process/readable-lines.ts'
import { sqdSink } from '../../../db/process/sqd-log.ts'

const time = '2026-01-02T03:04:05.678Z'

it('says a line for people: time, level, message, values', () => {
  const line = JSON.stringify({
    level: 30,
    time,
    chain: 'base',
    block: 7,
    note: 'two words',
    msg: 'committed',
  })
  expect(readableLine(line)).toBe('03:04:05 INFO  committed chain=base block=7 note="two words"')
  expect(readableLine(line, { isColored: true })).toContain('\u001b[32mINFO \u001b[0m')
})

it('leaves the lines of messages and stacks lines', () => {
  const err = { message: 'no', stack: 'Error: no\n    at here (file.ts:1)' }
  const line = JSON.stringify({ level: 60, time, err, msg: 'not valid:\n  RPC_BASE: must be a URL' })
  expect(readableLine(line).split('\n')).toEqual([
    '03:04:05 FATAL not valid:',
    '         RPC_BASE: must be a URL',
    '         Error: no',
    '         at here (file.ts:1)',
  ])
})

it('passes on what is no line of ours', () => {
  expect(readableLine('plain text')).toBe('plain text')
  expect(readableLine('{"a":1}')).toBe('{"a":1}')
})

function said(level: LogLevel, ns: string, msg: string, more: object = {}) {
  const lines: Record<string, unknown>[] = []
  const log = pino(
    { level: 'trace', base: undefined, timestamp: false },
    { write: line => lines.push(JSON.parse(line)) },
  )
  sqdSink(log)({ level, ns, time: 1, msg, ...more })
  return lines
}

it('tells progress of Subsquid in our words, and near the head only to who debugs', () => {
  const line = '1200 / 90000, rate: 250 blocks/sec, mapping: 700 blocks/sec, 900 items/sec, eta: 5m 55s'
  expect(said(LogLevel.INFO, 'sqd:processor', line)).toEqual([
    { level: 30, block: 1200, head: 90000, blocksPerSecond: 250, left: '5m 55s', msg: 'indexing' },
  ])
  const near = '89990 / 90000, rate: 1 blocks/sec, mapping: 7 blocks/sec, 9 items/sec, eta: 0s'
  expect(said(LogLevel.INFO, 'sqd:processor', near)).toMatchObject([{ level: 20, msg: 'indexing' }])
  expect(said(LogLevel.INFO, 'sqd:processor', 'processing range is [0, 5]')).toMatchObject([{ level: 20 }])
})

it('keeps what else Subsquid says, with its level and the part that said it', () => {
  expect(said(LogLevel.WARN, 'sqd:processor:rpc', 'slow', { rpcId: 3 })).toEqual([
    { level: 40, of: 'processor:rpc', rpcId: 3, msg: 'slow' },
  ])
  for (const [level, number] of [
    [LogLevel.TRACE, 10],
    [LogLevel.DEBUG, 20],
    [LogLevel.ERROR, 50],
    [LogLevel.FATAL, 60],
  ] as const)
    expect(said(level, 'sqd:x', 'word')).toMatchObject([{ level: number }])
})
