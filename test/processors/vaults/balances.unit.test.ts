import { expect, test } from 'vitest'
import type { BlockEvents } from '../../../db/events/event-store.ts'
import type { DeadLetter } from '../../../processors/handling/block.ts'
import type { ChainRpc } from '../../../processors/source/rpc.ts'
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
  await settleByBalances(output, rpc, letters)
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
