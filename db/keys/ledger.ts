import type { ApiKey } from './keys.ts'

export type Account = Pick<ApiKey, 'id' | 'creditsPerMonth'>

export interface Charge {
  account: Account
  credits: number
}

/** Where credits are kept. A month is its first day, YYYY-MM-DD, UTC. */
export interface CreditLedger {
  /**
   * Books in order; charges of one key stand together, keys ascend. Gives what was used after each, undefined for a
   * charge that could not be booked.
   */
  book(
    month: string,
    charges: readonly Charge[],
  ): Promise<({ isAccepted: boolean; used: number } | undefined)[]>
  used(month: string, keyId: number): Promise<number>
  close(): Promise<void>
}
