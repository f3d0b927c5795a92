import { expect, test } from 'vitest'
import type { Key } from '../../../abi/svm/programs.ts'
import { WORDS } from '../../../read-api/protocols/jupiter-lend/errors.ts'
import { simulationError } from '../../../read-api/svm/simulation-error.ts'

const program: Key = `0x${'1a'.repeat(32)}`
const look = { words: (code: number) => WORDS[code] }
const refused = (code: number, logs: readonly string[]) =>
  simulationError(
    { error: { InstructionError: [0, { Custom: code }] }, logs: [...logs] },
    [{ program, accounts: [], data: Buffer.alloc(0) }],
    look,
  ).message

// As Anchor writes them: thrown somewhere, or of an account.
const insignificant =
  'Program log: AnchorError thrown in programs/lending/src/utils/deposit.rs:41. Error Code: FTokenDepositInsignificant. Error Number: 6000. Error Message: F_TOKEN_DEPOSIT_INSIGNIFICANT.'
const overflow =
  'Program log: AnchorError thrown in crates/library/src/math/safe_math.rs:61. Error Code: LibraryMathError. Error Number: 6000. Error Message: MATH_ERROR.'

test('a number that the program shares with its library means what the log calls it', () => {
  expect(refused(6000, [insignificant])).toBe('So small a deposit gives no share: ask for more.')
  expect(refused(6000, [insignificant, overflow])).toBe(
    'The transaction would fail, since instruction 0 is refused: LibraryMathError (MATH_ERROR).',
  )
  // Cut off, or of a node that gives none: the number is all that is known.
  expect(refused(6000, [])).toBe('So small a deposit gives no share: ask for more.')
})

test('what no list has is said as the log has it', () => {
  expect(refused(6999, [insignificant.replaceAll('6000', '6999')])).toContain(
    'is refused: FTokenDepositInsignificant (F_TOKEN_DEPOSIT_INSIGNIFICANT).',
  )
  expect(refused(6999, ['Program log: Error: too late'])).toContain('is refused: Error: too late.')
  expect(refused(6999, [])).toContain('is refused: error 6999.')
})
