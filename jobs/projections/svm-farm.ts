import { z } from 'zod'
import { defineProjection } from '../projection.ts'

/** Farms in which vaults stake the shares of their depositors. */
export default defineProjection({
  name: 'svm_farm',
  version: 1,
  handles: ['SvmFarmNamed'],
  face: 'svm',
  streams: 'svm',
  row: z.object({
    chain_id: z.number(),
    mint: z.string(),
    timestamp: z.number(),
    position: z.number(),
    block_number: z.number(),
    vault: z.string(),
    farm: z.string(),
    farm_vault: z.string(),
  }),
})
