import { z } from 'zod'
import { UnavailableError } from '../../db/process/errors.ts'

export const hex = z.custom<`0x${string}`>(
  value => typeof value === 'string' && /^0x[0-9a-fA-F]*$/.test(value),
)
export const address = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/)
  .transform(value => value.toLowerCase() as `0x${string}`)
export const amount = z
  .union([z.string().regex(/^\d{1,78}$/), z.number().int().nonnegative()])
  .transform(BigInt)

/** Asks a service that keeps proofs. Rejects with UnavailableError where it does not answer, or answers otherwise. */
export async function askProofs<S extends z.ZodType>(
  url: URL,
  schema: S,
  signal: AbortSignal,
): Promise<z.output<S>> {
  let body: unknown
  try {
    const response = await fetch(url, { signal, headers: { accept: 'application/json' } })
    if (!response.ok) throw new UnavailableError(`${url.host} answered ${response.status}.`)
    body = await response.json()
  } catch (cause) {
    if (cause instanceof UnavailableError) throw cause
    throw new UnavailableError(`${url.host} cannot be reached.`, { cause })
  }
  const parsed = schema.safeParse(body)
  if (!parsed.success) {
    throw new UnavailableError(`${url.host} answers in another form: ${z.prettifyError(parsed.error)}`)
  }
  return parsed.data
}
