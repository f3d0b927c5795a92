import { networkOfChain } from '../../db/networks.ts'
import { checksum, toWhole, usdString } from '../http/amounts.ts'
import { type AmmVault, NOBODY_VOUCHES, type Side, usdOfVault } from './vault.ts'

/** What a reader of the figures has to know. */
export function warningsOf(vault: AmmVault): { warnings?: string[] } {
  const { tokens, figures, apr, standing } = vault
  const unpriced = tokens.filter(({ price }) => price === undefined).map(({ symbol }) => symbol)
  const warnings = [
    ...(standing === 'found' ? [NOBODY_VOUCHES] : []),
    ...(figures ? [] : ['The vault has not been read yet: apr is unknown and not 0.']),
    ...(figures?.isSpot
      ? [
          "tvl is reckoned at the pool's price of the moment, which a single trade moves: its oracle does not reach back as far as the vault looks.",
        ]
      : []),
    ...(figures && apr.week === undefined
      ? ['apr is unknown and not 0: there is no value of a share of seven days ago or more to compare with.']
      : []),
    ...(figures && unpriced.length > 0
      ? [`USD values are unknown: there is no price for ${unpriced.join(' and ')}.`]
      : []),
  ]
  return warnings.length > 0 ? { warnings } : {}
}

export function deepWire(vault: AmmVault) {
  const { chainId, tokens, state, figures, apr } = vault
  const { name = '', networkCaip = '' } = networkOfChain(chainId) ?? {}
  const asset = (side: Side) => {
    const { address, symbol, decimals } = tokens[side]
    return {
      address: checksum(address),
      symbol,
      decimals,
      balanceInVault: state?.totals[side].toString() ?? '',
    }
  }
  return {
    address: checksum(vault.address),
    network: { name, chainId, networkCaip },
    name: vault.symbol || vault.name,
    decimals: vault.decimals,
    asset0: asset(0),
    asset1: asset(1),
    apr: { '7day': apr.week ?? 0, '30day': apr.month ?? 0 },
    takes: vault.takes.map(side => checksum(tokens[side].address)),
    totalSupply: figures?.supply.toString() ?? '',
    tvl: { usd: usdString(usdOfVault(vault)), native: figures?.value.toString() ?? '' },
    valueToken: checksum(tokens[vault.side].address),
    ...(figures ? { price: figures.isSpot ? ('spot' as const) : ('time-weighted' as const) } : {}),
    standing: vault.standing,
    ...warningsOf(vault),
  }
}

/** The same with what a wallet holds of it. */
export function deepPositionWire(vault: AmmVault, balance: bigint) {
  const { figures } = vault
  const isPart = figures && figures.supply > 0n
  const part = isPart ? toWhole(balance, 0) / toWhole(figures.supply, 0) : undefined
  return {
    ...deepWire(vault),
    userBalance: balance.toString(),
    userValue: {
      usd: part === undefined ? '' : usdString(usdOfVault(vault, part)),
      native: isPart ? `${(figures.value * balance) / figures.supply}` : '',
    },
  }
}

/** What to know before a bundle is signed. */
export function bundleWarnings(
  { standing }: AmmVault,
  { isGuarded }: { isGuarded: boolean },
): { warnings?: string[] } {
  const warnings = [
    ...(standing === 'found' ? [NOBODY_VOUCHES] : []),
    ...(isGuarded
      ? []
      : [
          'No guard holds this to a minimum: what it gives is what the pool makes of it when it lands, and a trade before it may change that.',
        ]),
  ]
  return warnings.length > 0 ? { warnings } : {}
}
