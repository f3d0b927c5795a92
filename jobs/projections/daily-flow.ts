import { defineProjection } from '../projection.ts'

/** A UTC day's flows of a vault, running; `daily_flow_head`, the days as they are now. */
export default defineProjection({
  name: 'daily_flow',
  version: 1,
  handles: ['Deposited', 'Redeemed'],
  face: 'core',
  streams: 'evm',
  beside: [
    { name: 'daily_flow_head_taken_back', into: 'daily_flow_head', handles: ['BlockRetracted'] },
    { name: 'daily_flow_head', isHead: true, emptyWhere: 'deposit_count + redemption_count = 0' },
  ],
})
