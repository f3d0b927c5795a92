import { expect, test } from 'vitest'
import { CALL_GAS } from '../../../db/chain/bounded-reader.ts'
import type { BlockEvents } from '../../../db/events/event-store.ts'
import type { DeadLetter } from '../../../processors/handling/block.ts'
import type { ChainRpc } from '../../../processors/source/rpc.ts'
import { BalanceBudget } from '../../../processors/vaults/balance-budget.ts'
import { settleByBalances } from '../../../processors/vaults/balances.ts'

const VAULT = `0x${'a'.repeat(40)}`
const OWNER = `0x${'b'.repeat(40)}`
const word = (value: bigint) => `0x${value.toString(16).padStart(64, '0')}`

/** What is made of a deposit of 100 shares without a transfer, where the vault answers so before the block and after it. */
async function settled(before: bigint | undefined, after: bigint, exists: boolean) {
  const block = { number: 10, hash: word(10n), timestamp: 120 }
  const rpc = {
    header: async (number: number) => ({ ...block, number }),
    calls: async (_: unknown, { number }: { number: number }) => {
      const balance = number < block.number ? before : after
      return [balance === undefined ? undefined : word(balance)]
    },
    codeAt: async (contracts: string[]) => (exists ? contracts : []),
  } as unknown as ChainRpc
  const output: BlockEvents[] = [
    {
      block,
      events: [
        {
          type: 'Deposited',
          contract: VAULT,
          logIndex: 1,
          data: { sender: OWNER, owner: OWNER, assets: 100n, shares: 100n, ledger: 'self' },
        },
      ],
    },
  ]
  const letters: DeadLetter[] = []
  await settleByBalances({ output, letters }, rpc)
  const [event] = output.flatMap(({ events }) => events)
  return { ledger: event?.type === 'Deposited' ? event.data.ledger : undefined, letters: letters.length }
}

test('a balance that was not answered is unknown, and nothing follows from it', async () => {
  // An owner of 1,000 shares whose balance did not move: counted as 0 before, the shares would seem to have come.
  expect(await settled(1_000n, 1_000n, true)).toEqual({ ledger: 'transfer', letters: 0 })
  expect(await settled(undefined, 1_000n, true)).toEqual({ ledger: 'self', letters: 0 })
})

test('where the contract had no code it was nothing', async () => {
  expect(await settled(undefined, 100n, false)).toEqual({ ledger: 'self', letters: 0 })
  expect(await settled(undefined, 0n, false)).toEqual({ ledger: 'transfer', letters: 0 })
})

test('of a vault that nobody listed so many owners are asked about in an hour, however many deposits it logs', async () => {
  const LISTED = `0x${'c'.repeat(40)}`
  const asked = new Map<string, number>()
  const gasOf = new Map<string, unknown>()
  const rpc = {
    header: async (number: number) => ({ number, hash: word(BigInt(number)), timestamp: number * 12 }),
    calls: async (calls: { to: string }[], _at: unknown, _onTrouble: unknown, gas: unknown) =>
      calls.map(({ to }) => {
        gasOf.set(to, gas)
        asked.set(to, (asked.get(to) ?? 0) + 1)
        return word(100n)
      }),
    codeAt: async (contracts: string[]) => contracts,
  } as unknown as ChainRpc
  // A hundred owners in each of ten blocks of one hour, and of one block in the next.
  const heights = Array.from({ length: 10 }, (_, n) => n + 1)
  const blocksAt = (numbers: number[]) =>
    numbers.flatMap((number): BlockEvents[] => {
      return [LISTED, VAULT].map(contract => ({
        block: { number, hash: word(BigInt(number)), timestamp: number * 12 },
        events: Array.from({ length: 100 }, (_, i) => ({
          type: 'Deposited' as const,
          contract,
          logIndex: i,
          data: {
            sender: OWNER,
            owner: `0x${i.toString(16).padStart(40, '0')}`,
            assets: 100n,
            shares: 100n,
            ledger: 'self' as const,
          },
        })),
      }))
    })
  const letters: DeadLetter[] = []
  const budget = new BalanceBudget({
    contracts: { hasLearned: () => false },
    isListed: vault => vault === LISTED,
  })
  await settleByBalances({ output: blocksAt([...heights, 300]), letters }, rpc, budget)
  // Before the block and after it.
  expect(asked.get(LISTED)).toBe(2 * 11 * 100)
  expect(asked.get(VAULT)).toBe(2 * (25 + 25))
  // Each of so many answers may cost no more than a tenth of what a listed vault's may.
  expect([gasOf.get(LISTED), gasOf.get(VAULT)]).toEqual([undefined, CALL_GAS / 10])
  const left = letters.filter(({ reason }) => /at its word/.test(reason))
  expect([...new Set(left.map(({ contract }) => contract))]).toEqual([VAULT])

  // Handled again, a block asks for what it asked.
  await settleByBalances({ output: blocksAt([1]), letters: [] }, rpc, budget)
  expect(asked.get(VAULT)).toBe(2 * (25 + 25 + 25))
})
