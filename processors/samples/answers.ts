import { MalformedLogError } from '../../db/process/errors.ts'

/** What an answer says; undefined where a call reverted, or answered something else than it should. */
export function answered<T>(answer: string | undefined, as: (hex: string) => T): T | undefined {
  if (answer === undefined || answer.length < 66) return undefined
  try {
    return as(answer)
  } catch (error) {
    if (error instanceof MalformedLogError) return undefined
    throw error
  }
}
