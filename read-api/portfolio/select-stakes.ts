import type { Shown } from '../catalogue/catalogue.ts'
import { assetNames, type VaultFilter } from '../catalogue/filter.ts'
import { passes } from '../lending/select.ts'
import type { StakePlace } from './stake.ts'

type Lists = Pick<
  VaultFilter,
  'allowedAssets' | 'disallowedAssets' | 'allowedProtocols' | 'disallowedProtocols'
>

/** Whether a position passes a filter of vaults, as far as it is of assets and protocols. A symbol names what is vouched for. */
export function stakeFilter(query: Lists, shown: Shown): (stake: StakePlace) => boolean {
  const words = (names: string[] | undefined) => names && new Set(names.map(name => name.toLowerCase()))
  const isNamed = (stake: StakePlace) => ({
    isNamed: (asset: StakePlace['asset']) => stake.isVouchedFor || shown.isNamed(asset),
  })
  const [allowed, disallowed] = [words(query.allowedProtocols), words(query.disallowedProtocols)]
  return stake => {
    const { name, protocolId = name } = stake.protocol
    if (!passes([name, protocolId], allowed, disallowed)) return false
    const isOf = (names: string[]) => assetNames(names, isNamed(stake))(stake.asset)
    return query.allowedAssets
      ? isOf(query.allowedAssets)
      : !(query.disallowedAssets && isOf(query.disallowedAssets))
  }
}
