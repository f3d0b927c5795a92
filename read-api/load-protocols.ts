import { join } from 'node:path'
import { ConfigError } from '../db/process/errors.ts'
import { findModules } from '../db/process/modules.ts'
import type { LendingFamily } from './lending/family.ts'
import type { LendingMarket } from './lending/market.ts'
import type { ApiProtocol } from './protocol.ts'
import type { RewardContext, RewardSource } from './rewards/source.ts'
import type { SvmFamily } from './svm/family.ts'
import type { AmmFamily } from './transactions/amm/family.ts'
import type { BorrowFamily } from './transactions/borrow/family.ts'
import type { TransactionFamily } from './transactions/family.ts'
import type { FixedTermFamily } from './transactions/fixed-term/family.ts'
import { learnReverts } from './transactions/revert-reason.ts'

/** Every folder of read-api/protocols, in order of name. A protocol is found by being there. */
const protocols = (await findModules(join(import.meta.dirname, 'protocols'), 'folders')).map(
  ({ name, file, value }) => {
    if (!value)
      throw new ConfigError(
        `${file} has no protocol as its default export: export default defineApiProtocol({…}).`,
      )
    return { name, ...(value as ApiProtocol) }
  },
)

/** Those of vaults: the special before the general, which takes what is left. */
export const vaultFamilies: readonly TransactionFamily[] = protocols
  .flatMap(({ vaults }) => vaults ?? [])
  .sort((a, b) => Number(a.isGeneral ?? false) - Number(b.isGeneral ?? false))

/** Those of lending markets; the market of the index names its protocol. */
export const borrowFamilies: readonly BorrowFamily[] = protocols.flatMap(({ borrow }) => borrow ?? [])

/** What the read models say of lending markets, by slug. */
export const lendingFamilies: ReadonlyMap<string, LendingFamily> = new Map(
  protocols.flatMap(({ name, lending }) => (lending ? [[name, lending] as const] : [])),
)

/** Of a market of the index, which is of one of them. */
export function familyOf({ protocol }: LendingMarket): LendingFamily {
  const family = lendingFamilies.get(protocol)
  if (!family) throw new TypeError(`${protocol} has no lending markets`)
  return family
}

/** Those of fixed-term markets; the market of the index names its protocol. */
export const fixedTermFamilies: readonly FixedTermFamily[] = protocols.flatMap(
  ({ fixedTerm }) => fixedTerm ?? [],
)

/** Those of vaults of liquidity; the vault of the index names its protocol. */
export const ammFamilies: readonly AmmFamily[] = protocols.flatMap(({ amm }) => amm ?? [])

/** Those of vaults on Solana, by slug. */
export const svmFamilies: ReadonlyMap<string, SvmFamily> = new Map(
  protocols.flatMap(({ name, svm }) => (svm ? [[name, svm] as const] : [])),
)

/** What owes rewards, each with what it is made of, by slug. */
export const rewardSources = (contextOf: (slug: string) => RewardContext): RewardSource[] =>
  protocols.flatMap(({ name, rewards }) => rewards?.(contextOf(name)) ?? [])

learnReverts(protocols.flatMap(({ errors }) => errors ?? []))
