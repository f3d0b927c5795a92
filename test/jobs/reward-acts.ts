import type { EventData } from '../../db/events/vocabulary.ts'

/** What a deposit's transaction may bear: nothing, our suffix, another's, ours without a key, ours among others. */
export const suffixes: { codes?: string[] }[] = [
  {},
  {},
  { codes: ['0a1b2c3d', 'vaultlog'] },
  { codes: ['wallet'] },
  { codes: ['vaultlog', 'wallet'] },
  { codes: ['app', 'ffee0011', 'vaultlog', 'wallet'] },
]

export function claims(account: string, receiver: string, amount: bigint): EventData<'RewardClaimed'>[] {
  const token = account.replace('0x61', '0x74')
  return [
    { source: 'merkl', account, token, amount: 0n },
    { source: 'morpho-urd', account, token: receiver, amount },
    { source: 'compound-v3', account, receiver, token, amount },
  ]
}
