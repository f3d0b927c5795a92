import { defineProjection } from '../projection.ts'

/** Euler v2: what lending vaults say of themselves, debts with their fractions, LTVs, what accounts enabled. */
export default defineProjection({
  name: 'evk_status',
  version: 1,
  handles: ['VaultStatusChanged'],
  face: 'lending',
  streams: 'evm',
  beside: [
    { name: 'evk_total', handles: ['DebtTotalSampled'] },
    { name: 'evk_debt', handles: ['DebtSampled'] },
    { name: 'evk_ltv', handles: ['LtvChanged'] },
    { name: 'evk_enabled', handles: ['AccountCollateralChanged', 'AccountControllerChanged'] },
    { name: 'evk_owner', handles: ['AccountOwnerRegistered'] },
  ],
})
