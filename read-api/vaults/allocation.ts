/** A place in which part of a vault's assets is. */
export interface Allocation {
  name: string
  address: string
  /** What `value` is in. */
  assetSymbol: string
  /** Base units of the vault's asset. */
  value: bigint
  kind: 'deployed' | 'idle'
  /** Share of it that is lent out, as a fraction; undefined where the place does not say. */
  utilization: number | undefined
}
