import {
  Amount,
  AssetOnNetwork,
  AssetShape,
  NetworkShape,
  PositionAsset,
  PositionLpToken,
  ProtocolShape,
  Rate,
  Tvl,
  Unsupported,
  Usd,
} from '../http/shapes.ts'
import { widened, z } from '../http/zod.ts'
import { VaultListItem } from '../vaults/schemas.ts'

export const AssetReturns = widened(AssetShape, {
  returnsNative: Amount.openapi({ description: 'Base units of the asset; below zero: lost.' }),
}).openapi('AssetReturns')

const balance = { balanceNative: Amount, balanceUsd: z.string().optional() }

export const AssetBalance = widened(AssetShape, balance).openapi('AssetBalance')
export const AssetBalanceOnNetwork = widened(AssetOnNetwork, balance).openapi('AssetBalanceOnNetwork')

const unreachable = {
  unreachableNetworks: z.array(z.string()).optional().openapi({
    description: 'Networks whose wallet balances could not be read: what is said of them is not complete.',
  }),
}

export const PortfolioErrors = widened(Unsupported, unreachable).openapi('PortfolioErrors')
export const IdleErrors = widened(Unsupported.omit({ unsupportedProtocols: true }), unreachable).openapi(
  'IdleErrors',
)

const identity = VaultListItem.shape

export const Position = z
  .strictObject({
    vaultId: identity.vaultId,
    address: identity.address,
    name: z.string(),
    network: NetworkShape,
    protocol: ProtocolShape,
    asset: PositionAsset,
    lpToken: PositionLpToken.optional(),
    isTransactional: z.boolean(),
    isAppFeatured: z.boolean(),
    userEventsIndexed: z.boolean(),
    apy: Rate,
    apyComposite: z
      .strictObject({
        totalApy: Rate,
        intrinsicApy: Rate,
        asset: AssetShape,
        vault: z.strictObject({ vaultId: identity.vaultId, address: identity.address }),
      })
      .optional(),
  })
  .openapi('Position')

export const DepositOption = z
  .strictObject({
    name: z.string(),
    vaultId: identity.vaultId,
    address: identity.address,
    network: NetworkShape,
    isTransactional: z.boolean(),
    isAppFeatured: z.boolean(),
    protocol: ProtocolShape,
    tvl: Tvl,
    tags: z.array(z.string()).optional(),
    apy: Rate,
    projectedUsdAnnualEarnings: Usd,
    lendUrl: z.string().optional(),
    protocolVaultUrl: z.string().optional(),
  })
  .openapi('DepositOption')
