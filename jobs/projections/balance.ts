import { z } from 'zod'
import { defineProjection } from '../projection.ts'

/** A change of a holder's shares, or where it led to: times and positions are those of the event it follows from. */
const change = {
  timestamp: z.number(),
  position: z.number(),
  block_number: z.number(),
}

const holder = z.object({
  chain_id: z.number(),
  vault: z.string(),
  holder: z.string(),
  ...change,
  balance: z.string(),
})

/**
 * Every change of a holder's shares with the balance after it; `holder`, the balances as they are now;
 * `position_change`, when accounts began and ceased to hold; `account_vault`, what they ever held.
 */
export default defineProjection({
  name: 'balance',
  version: 1,
  handles: ['ShareTransferred', 'Deposited', 'Redeemed', 'BlockRetracted'],
  face: 'core',
  streams: 'evm',
  row: z.object({
    chain_id: z.number(),
    vault: z.string(),
    holder: z.string(),
    ...change,
    delta: z.string(),
    balance: z.string(),
  }),
  beside: [
    { name: 'holder_taken_back', into: 'holder', handles: ['BlockRetracted'], row: holder },
    { name: 'holder', isHead: true, row: holder },
    {
      name: 'position_change',
      row: z.object({
        account: z.string(),
        chain_id: z.number(),
        vault: z.string(),
        ...change,
        kind: z.string(),
      }),
    },
    {
      name: 'account_vault',
      isHead: true,
      row: z.object({
        account: z.string(),
        chain_id: z.number(),
        vault: z.string(),
        ...change,
        balance: z.string(),
      }),
    },
  ],
})
