import { LogLevel, type Sink, setLogLevelCallback, setRootSink } from '@subsquid/logger'
import type { Logger } from 'pino'
import { log } from './log.ts'

const PROGRESS = /^(-?\d+) \/ (-?\d+), rate: (\d+) blocks\/sec, .*eta: (.+)$/
/** Messages of a runner about its start, which our own log has already. */
const CHATTER =
  /^(processing range is|using (archive|chain)|last processed final block|prometheus metrics|nothing to do)/
/** Blocks behind the head from which on progress is worth a line. */
const FAR = 100

const METHODS = {
  [LogLevel.TRACE]: 'trace',
  [LogLevel.DEBUG]: 'debug',
  [LogLevel.INFO]: 'info',
  [LogLevel.WARN]: 'warn',
  [LogLevel.ERROR]: 'error',
  [LogLevel.FATAL]: 'fatal',
} as const

/** From here on the packages of Subsquid speak through our log, as loud as it; SQD_<LEVEL> in the environment still counts. */
export function adoptSqdLog(): void {
  setRootSink(sqdSink(log))
  const isTold = Object.keys(process.env).some(name => /^SQD_(TRACE|DEBUG|INFO|WARN|ERROR|FATAL)$/.test(name))
  if (!isTold) setLogLevelCallback(() => LEVELS[log.level] ?? LogLevel.FATAL)
}
const LEVELS: Readonly<Record<string, LogLevel>> = Object.fromEntries(
  Object.entries(METHODS).map(([level, name]) => [name, Number(level)]),
)

/** What the packages of Subsquid say, in the words of our own log, under `of` the part that said it. */
export function sqdSink(log: Pick<Logger, 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal'>): Sink {
  return ({ ns, level, time: _time, msg, ...rest }) => {
    const said = { of: ns.replace(/^sqd:/, ''), ...rest }
    const [, block, head, rate, left] = PROGRESS.exec(msg ?? '') ?? []
    if (block !== undefined && head !== undefined) {
      const method = Number(head) - Number(block) > FAR ? 'info' : 'debug'
      log[method](
        { block: Number(block), head: Number(head), blocksPerSecond: Number(rate), left },
        'indexing',
      )
      return
    }
    const isChatter = level === LogLevel.INFO && CHATTER.test(msg ?? '')
    log[isChatter ? 'debug' : METHODS[level]](said, msg)
  }
}
