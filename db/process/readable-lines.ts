import { z } from 'zod'

const LEVELS: Record<number, readonly [label: string, color: number]> = {
  10: ['TRACE', 90],
  20: ['DEBUG', 90],
  30: ['INFO ', 32],
  40: ['WARN ', 33],
  50: ['ERROR', 31],
  60: ['FATAL', 31],
}

const lineSchema = z.looseObject({
  level: z.number(),
  time: z.string(),
  msg: z.string().optional(),
  err: z.looseObject({ stack: z.string().optional(), message: z.string().optional() }).optional(),
})

const plain = (value: unknown): string => {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return /^[^\s"=]+$/.test(text) ? text : JSON.stringify(typeof value === 'string' ? value : text)
}

/**
 * A line of the log for people: time of day in UTC, level, message, and the rest as name=value; what an error carries of
 * lines stays lines. Not JSON of ours: as it is.
 */
export function readableLine(line: string, options: { isColored?: boolean } = {}): string {
  const paint = (text: string, color: number) =>
    options.isColored ? `\u001b[${color}m${text}\u001b[0m` : text
  let parsed: z.infer<typeof lineSchema>
  try {
    parsed = lineSchema.parse(JSON.parse(line))
  } catch {
    return line
  }
  const { level, time, msg = '', err, ...rest } = parsed
  const [label, color] = LEVELS[level] ?? ['     ', 0]
  const values = Object.entries(rest).map(([name, value]) => paint(`${name}=`, 90) + plain(value))
  const [first = '', ...more] = msg.split('\n')
  const indented = [...more, ...(err?.stack ?? err?.message ?? '').split('\n')].filter(Boolean)
  return [
    [paint(time.slice(11, 19), 90), paint(label, color), first, ...values].join(' ').trimEnd(),
    ...indented.map(text => `         ${text.trimStart()}`),
  ].join('\n')
}
