import { defineProjection } from '../projection.ts'

/**
 * Every change of a holder's shares with the balance after it; `holder`, the balances as they are now;
 * `position_change`, when accounts began and ceased to hold; `account_vault`, what they ever held.
 */
export default defineProjection({
  name: 'balance',
  version: 2,
  handles: ['ShareTransferred', 'Deposited', 'Redeemed', 'BlockRetracted'],
  face: 'core',
  streams: 'evm',
  beside: [
    { name: 'holder_taken_back', into: 'holder', handles: ['BlockRetracted'] },
    { name: 'holder', isHead: true, emptyWhere: 'balance = 0' },
    { name: 'position_change' },
    { name: 'account_vault', isHead: true, emptyWhere: 'balance = 0' },
  ],
})
