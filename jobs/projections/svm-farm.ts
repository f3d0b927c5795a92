import { defineProjection } from '../projection.ts'

/** Farms in which vaults stake the shares of their depositors. */
export default defineProjection({
  name: 'svm_farm',
  version: 1,
  handles: ['SvmFarmNamed'],
  face: 'svm',
  streams: 'svm',
})
