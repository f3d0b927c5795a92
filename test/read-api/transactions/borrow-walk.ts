import fc from 'fast-check'
import type { LocalAccount } from 'viem'
import { expect } from 'vitest'
import { RefusedError } from '../../../read-api/http/errors.ts'
import { borrowActions } from '../../../read-api/transactions/borrow/family.ts'
import type { openBorrowing, Place } from './borrow-stage.ts'

/**
 * Any order of actions of any size, from one base unit to more than the balance, with time passing between bundle and
 * transaction: what is handed out lands, and the balances are what `views` reads of the contract. At the end everything
 * is repaid and withdrawn. Gives how many bundles of each action landed, and how many were refused.
 */
export async function wander(
  on: ReturnType<typeof openBorrowing> & { wait(seconds: number): Promise<void> },
  user: LocalAccount,
  walk: {
    places: readonly Place[]
    views(place: Place): Promise<{ supplied: bigint; borrowed: bigint }>
    /** Gives the user enough to pay everything back. */
    refill(): Promise<void>
    runs: number
    seed: number
  },
): Promise<Record<string, number>> {
  const count: Record<string, number> = { refused: 0 }
  const step = fc.record({
    place: fc.constantFrom(...walk.places),
    action: fc.constantFrom(...borrowActions),
    /** Millionths of what the action could take, a few units, or all. */
    size: fc.oneof(
      fc.constant('all' as const),
      fc.bigInt({ min: 1n, max: 9n }),
      fc.bigInt({ min: 1_000n, max: 1_500_000n }),
    ),
    after: fc.constantFrom(0, 0, 12, 600, 3_000),
    between: fc.constantFrom(0, 60, 86_400, 900_000),
  })
  const property = fc.asyncProperty(step, async ({ place, action, size, after, between }) => {
    const { balances, limits } = await on.look(place, user)
    const base = {
      supply: balances.wallet,
      withdraw: balances.supplied,
      borrow: limits.maxBorrow,
      repay: balances.borrowed,
    }
    const amount = size === 'all' || size < 10n ? size : (base[action] * size) / 1_000_000n
    await on.perform(place, user, action, { ...(amount === 'all' ? { all: true } : { amount }), after }).then(
      () => {
        count[action] = (count[action] ?? 0) + 1
      },
      (error: unknown) => {
        if (!(error instanceof RefusedError)) throw error
        // Every limit is known before the run on chain.
        expect(error.message).not.toContain('would fail on chain')
        count['refused'] = (count['refused'] ?? 0) + 1
      },
    )
    if (between > 0) await on.wait(between)
    const { balances: now } = await on.look(place, user)
    expect({ supplied: now.supplied, borrowed: now.borrowed }).toEqual(await walk.views(place))
  })
  await fc.assert(property, { numRuns: walk.runs, seed: walk.seed, endOnFailure: true })
  for (const action of borrowActions) expect(count[action], JSON.stringify(count)).toBeGreaterThan(1)
  expect(count['refused']).toBeGreaterThan(5)

  await walk.refill()
  for (const action of ['repay', 'withdraw'] as const) {
    for (const place of walk.places) {
      const { borrowed, supplied } = (await on.look(place, user)).balances
      if ((action === 'repay' ? borrowed : supplied) > 0n)
        await on.perform(place, user, action, { all: true, after: 10 * 86_400 })
    }
  }
  for (const place of walk.places) expect(await walk.views(place)).toEqual({ supplied: 0n, borrowed: 0n })
  return count
}
