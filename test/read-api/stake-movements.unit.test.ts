import { expect, it } from 'vitest'
import { movementOf } from '../../read-api/portfolio/read-stakes.ts'
import { type Movement, together } from '../../read-api/portfolio/statement.ts'

const AT = 1_735_689_600

it('tells what an account paid from what came without its act, and rounding from either', () => {
  const step = (units: bigint, paid?: { in: bigint; out: bigint }) => ({
    at: AT,
    block: 1,
    units,
    ...(paid ? { paid } : {}),
  })
  // A unit is worth two.
  const was = { units: 10_000n, before: 20_000n }
  const told = (units: bigint, paid?: { in: bigint; out: bigint }) =>
    movementOf(step(units, paid), { ...was, after: 2n * units }, 1)
  expect(told(15_000n, { in: 10_001n, out: 0n })).toMatchObject({
    minted: 5_000n,
    deposited: 10_001n,
    sent: 0n,
    sentWorth: 0n,
  })
  expect(told(4_000n)).toMatchObject({ minted: 0n, burned: 0n, sent: -6_000n, sentWorth: -12_000n })
  expect(told(18_000n, { in: 10_000n, out: 0n })).toMatchObject({
    minted: 5_000n,
    sent: 3_000n,
    sentWorth: 6_000n,
  })
  expect(told(9_000n, { in: 0n, out: 4_000n })).toMatchObject({
    burned: 2_000n,
    withdrawn: 4_000n,
    sent: 1_000n,
    sentWorth: 2_000n,
  })
  expect(told(13_000n, { in: 10_000n, out: 4_000n })).toMatchObject({
    minted: 5_000n,
    burned: 2_000n,
    sent: 0n,
  })
})

it('takes what one account handed to another for not moved, and what rounding leaves of it for nothing', () => {
  const none = { at: AT, minted: 0n, burned: 0n, deposited: 0n, withdrawn: 0n, price: 1 }
  const moved = (sent: bigint, sentWorth: bigint | undefined): Movement => ({ ...none, sent, sentWorth })
  // A unit is worth three, rounded down.
  expect(together([moved(-100n, -300n), moved(100n, 299n)], 10n)).toMatchObject({ sent: 0n, sentWorth: 0n })
  expect(together([moved(-100n, undefined), moved(100n, undefined)], 10n)).toMatchObject({ sentWorth: 0n })
  expect(together([moved(-100n, -300n), moved(99n, 297n)], 10n)).toMatchObject({ sent: -1n, sentWorth: 0n })
  expect(together([moved(-100n, -300n), moved(40n, 120n)], 10n)).toMatchObject({
    sent: -60n,
    sentWorth: -180n,
  })
  // What came from elsewhere is a transfer, however little it is.
  expect(together([moved(1n, 3n)], 10n)).toMatchObject({ sent: 1n, sentWorth: 3n })
  const deposit = { ...none, minted: 5n, deposited: 15n, sent: 0n, sentWorth: 0n }
  const redeem = { ...none, burned: 2n, withdrawn: 6n, sent: 0n, sentWorth: 0n }
  expect(together([deposit, redeem], 10n)).toEqual({ ...redeem, minted: 5n, deposited: 15n })
})
