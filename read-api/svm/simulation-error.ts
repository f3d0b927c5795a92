import type { Instruction } from '../../abi/svm/instruction.ts'
import { ASSOCIATED_TOKEN_PROGRAM, type Key, SYSTEM_PROGRAM } from '../../abi/svm/programs.ts'
import { isTokenProgram } from '../../abi/svm/token.ts'
import { RefusedError, RequestError } from '../http/errors.ts'
import { z } from '../http/zod.ts'
import type { ProgramError, SvmLook } from './family.ts'
import type { SvmSimulation } from './node.ts'

/** It would fail now, and may not in some minutes. */
class NotNowError extends RequestError {
  readonly code = 'NOT_NOW'
  readonly status = 503
  override readonly retryable = true
  override readonly retryAfter: number
  constructor(text: string, seconds: number) {
    super(text)
    this.retryAfter = seconds
  }
}

const inInstruction = z.object({
  InstructionError: z.tuple([z.number(), z.union([z.string(), z.object({ Custom: z.coerce.number() })])]),
})

/** @see solana-transaction-error, TransactionError */
const OF_THE_TRANSACTION: Record<string, string> = {
  AccountNotFound: 'The wallet has no SOL: nobody could pay the fee.',
  InsufficientFundsForFee: 'The wallet has too little SOL for the fee.',
}
/** @see solana-system-interface, SystemError; spl-token, TokenError */
const OF_SYSTEM: Record<number, string> = { 1: 'The wallet has too little SOL.' }
const OF_TOKENS: Record<number, string> = {
  1: 'The wallet has too little of the token.',
  17: 'The token account of the wallet is frozen by who issues the token.',
}

/** Why a transaction would fail, in the words of the program that refuses it. */
export function simulationError(
  { error, logs }: Pick<SvmSimulation, 'error' | 'logs'>,
  instructions: readonly Instruction[],
  look: Pick<SvmLook, 'words'>,
): RequestError {
  const parsed = inInstruction.safeParse(error)
  if (!parsed.success) return new RefusedError(ofTransaction(error))
  const [at, why] = parsed.data.InstructionError
  const program = instructions[at]?.program
  const custom = typeof why === 'string' ? undefined : why.Custom
  const logged = anchorError(logs)
  const words = custom === undefined || !program ? undefined : wordsOf(program, custom, look)
  const isAnother = words?.name !== undefined && logged !== undefined && logged.name !== words.name
  const known = isAnother ? undefined : words
  if (known?.retryAfter !== undefined) return new NotNowError(known.text, known.retryAfter)
  const said =
    logged?.text ??
    logs.findLast(line => line.startsWith('Program log: Error'))?.slice('Program log: '.length)
  const text = known?.text ?? said?.slice(0, 300) ?? (custom === undefined ? String(why) : `error ${custom}`)
  return new RefusedError(
    known ? text : `The transaction would fail, since instruction ${at} is refused: ${text}.`,
  )
}

/** @see anchor-lang, Display of AnchorError */
const ANCHOR = /^Program log: AnchorError .*Error Code: (\w+)\. Error Number: \d+\. Error Message: (.*?)\.?$/

/** The last error that a program made with Anchor wrote to its log. */
function anchorError(logs: readonly string[]): { name: string; text: string } | undefined {
  for (const line of logs.toReversed()) {
    const [, name, text] = ANCHOR.exec(line) ?? []
    if (name !== undefined && text !== undefined) return { name, text: `${name} (${text})` }
  }
  return undefined
}

function ofTransaction(error: unknown): string {
  const name = typeof error === 'string' ? error : Object.keys(error ?? {})[0]
  if (name === 'InsufficientFundsForRent')
    return 'The wallet would be left with less SOL than an account has to have: leave 0.00089088 SOL in it, or nothing.'
  return OF_THE_TRANSACTION[name ?? ''] ?? `The transaction would fail: ${(name ?? 'unknown').slice(0, 100)}.`
}

/** A number means what the program that was called says, and one that a program called from there handed through means the same. */
function wordsOf(program: Key, code: number, look: Pick<SvmLook, 'words'>): ProgramError | undefined {
  if (program === SYSTEM_PROGRAM || program === ASSOCIATED_TOKEN_PROGRAM) return textOf(OF_SYSTEM[code])
  if (isTokenProgram(program)) return textOf(OF_TOKENS[code])
  return look.words(code, program)
}

const textOf = (text: string | undefined) => (text === undefined ? undefined : { text })
