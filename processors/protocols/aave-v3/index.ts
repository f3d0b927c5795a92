import * as Oracle from '../../../abi/aave-v3/AaveOracle.ts'
import * as AclManager from '../../../abi/aave-v3/ACLManager.ts'
import * as AToken from '../../../abi/aave-v3/AToken.ts'
import * as Pool from '../../../abi/aave-v3/Pool.ts'
import * as Provider from '../../../abi/aave-v3/PoolAddressesProvider.ts'
import * as StableDebt from '../../../abi/aave-v3/StableDebtToken.ts'
import * as VariableDebt from '../../../abi/aave-v3/VariableDebtToken.ts'
import * as Rewards from '../../../abi/rewards/RewardsController.ts'
import { RAY } from '../../../db/units.ts'
import { cleanText, LONGEST_SYMBOL, on, some } from '../../handling/decoder.ts'
import { defineProtocol, type LogDecoder, type Source } from '../../protocol.ts'
import { describeStream, FAR } from '../../samples/reward-streams.ts'
import { ATOKEN_VAULT, atokenVaultDecoders, inspectAToken, readAToken } from './atoken-vault.ts'
import { configuratorDecoders } from './configurator.ts'
import { readLiquidity } from './liquidity.ts'
import { ofMarkets } from './markets.ts'
import { poolFact, readPool, readReservePrices } from './oracle.ts'
import { readRevision, readScaled, revisionFact, scaledAccount } from './scaled-state.ts'

/** A market is the address of its reserve's asset; the pool it belongs to is the event's contract. */
const poolDecoders: LogDecoder[] = [
  on(Pool.Supply, 'Supplied', a => ({
    market: a.reserve,
    sender: a.user,
    onBehalf: a.onBehalfOf,
    assets: a.amount,
  })),
  on(Pool.Withdraw, 'Withdrawn', a => ({
    market: a.reserve,
    sender: a.user,
    onBehalf: a.user,
    receiver: a.to,
    assets: a.amount,
  })),
  on(Pool.Borrow, 'Borrowed', a => ({
    market: a.reserve,
    sender: a.user,
    onBehalf: a.onBehalfOf,
    assets: a.amount,
    rateMode: a.interestRateMode,
    rateRay: a.borrowRate,
  })),
  on(Pool.Repay, 'Repaid', a => ({
    market: a.reserve,
    sender: a.repayer,
    onBehalf: a.user,
    assets: a.amount,
    useATokens: a.useATokens,
  })),
  on(Pool.LiquidationCall, 'Liquidated', a => ({
    market: a.debtAsset,
    liquidator: a.liquidator,
    borrower: a.user,
    repaidAssets: a.debtToCover,
    seizedAssets: a.liquidatedCollateralAmount,
    collateralMarket: a.collateralAsset,
  })),
  on(Pool.FlashLoan, 'FlashLoaned', a => ({
    market: a.asset,
    sender: a.initiator,
    assets: a.amount,
    premium: a.premium,
  })),
  on(Pool.ReserveDataUpdated, 'RateUpdated', a => ({
    market: a.reserve,
    liquidityRateRay: a.liquidityRate,
    stableBorrowRateRay: a.stableBorrowRate,
    variableBorrowRateRay: a.variableBorrowRate,
    liquidityIndexRay: a.liquidityIndex,
    variableBorrowIndexRay: a.variableBorrowIndex,
  })),
  on(Pool.ReserveUsedAsCollateralEnabled, 'CollateralEnabled', a => ({ market: a.reserve, user: a.user })),
  on(Pool.ReserveUsedAsCollateralDisabled, 'CollateralDisabled', a => ({ market: a.reserve, user: a.user })),
  on(Pool.UserEModeSet, 'EModeChanged', a => ({ user: a.user, category: a.categoryId })),
]

/** Logs of aToken and variable debt token look alike; which of the two it is the kind of contract says. */
function scaledDecoders(
  abi: typeof AToken | typeof VariableDebt,
  side: 'supply' | 'variableDebt',
): LogDecoder[] {
  return [
    on(abi.Mint, 'ScaledMinted', a => ({
      side,
      caller: a.caller,
      onBehalf: a.onBehalfOf,
      value: a.value,
      balanceIncrease: a.balanceIncrease,
      indexRay: a.index,
    })),
    on(abi.Burn, 'ScaledBurned', a => ({
      side,
      from: a.from,
      target: some(a.target),
      value: a.value,
      balanceIncrease: a.balanceIncrease,
      indexRay: a.index,
    })),
  ]
}

/** Stable debt (Aave v3.0 to v3.1) is not scaled: its amounts are underlying units, the index one. */
const stableDebtDecoders: LogDecoder[] = [
  on(StableDebt.Mint, 'ScaledMinted', a => ({
    side: 'stableDebt' as const,
    caller: a.user,
    onBehalf: a.onBehalfOf,
    value: a.amount,
    balanceIncrease: a.balanceIncrease,
    indexRay: RAY,
  })),
  on(StableDebt.Burn, 'ScaledBurned', a => ({
    side: 'stableDebt' as const,
    from: a.from,
    value: a.amount,
    balanceIncrease: a.balanceIncrease,
    indexRay: RAY,
  })),
]

/** keccak256 of the role's name (ACLManager.sol of @aave/core-v3 1.19.3). */
const ROLES: Record<string, string> = {
  [`0x${'0'.repeat(64)}`]: 'DEFAULT_ADMIN',
  '0x12ad05bde78c5ab75238ce885307f96ecd482bb402ef831f99e7018a0f169b7b': 'POOL_ADMIN',
  '0x5c91514091af31f62f596a314af7d5be40146b2f2355969392f055e12e0982fb': 'EMERGENCY_ADMIN',
  '0x8aa855a911518ecfbe5bc3088c8f3dda7badf130faaf8ace33fdc33828e18167': 'RISK_ADMIN',
  '0x939b8dfb57ecef2aea54a93a15e86768b9d4089f1ba61c245e6ec980695f4ca4': 'FLASH_BORROWER',
  '0x08fb31c3e81624356c3314088aa971b73bcc82d22bc3e3b184b4593077ae3278': 'BRIDGE',
  '0x19c860a63258efbd0ecb7d55c626237bf5c2044c26c073390b74f0c13c857433': 'ASSET_LISTING_ADMIN',
}

/** Of any token whose scaled amounts are followed, as that of a reserve or as a vault. */
const TOKEN_CODE = 'aave-v3-token-code'

const sources: Source[] = [
  { kind: 'aave-v3-pool', at: ofMarkets(m => m.pool), decoders: poolDecoders },
  { kind: 'aave-v3-configurator', at: ofMarkets(m => m.configurator), decoders: configuratorDecoders },
  {
    kind: 'aave-v3-atoken',
    at: ofMarkets(m => m.reserves.map(r => r.aToken)),
    decoders: [
      ...scaledDecoders(AToken, 'supply'),
      on(AToken.Initialized, 'ReserveTokenInitialized', a => ({
        market: a.underlyingAsset,
        pool: a.pool,
        decimals: Number(a.aTokenDecimals),
        symbol: cleanText(a.aTokenSymbol, LONGEST_SYMBOL),
      })),
      on(AToken.BalanceTransfer, 'ScaledTransferred', a => ({
        from: a.from,
        to: a.to,
        scaledValue: a.value,
        indexRay: a.index,
      })),
    ],
  },
  {
    kind: 'aave-v3-variable-debt',
    at: ofMarkets(m => m.reserves.map(r => r.variableDebtToken)),
    decoders: scaledDecoders(VariableDebt, 'variableDebt'),
  },
  {
    kind: TOKEN_CODE,
    at: ofMarkets(m => m.reserves.flatMap(r => [r.aToken, r.variableDebtToken])),
    decoders: [on(AToken.Upgraded, 'TokenUpgraded', a => ({ implementation: a.implementation }))],
  },
  // The same logs as those above, of aTokens that are known as vaults too.
  { kind: ATOKEN_VAULT, at: 'discovered', transactions: true, decoders: atokenVaultDecoders },
  { kind: 'aave-v3-stable-debt', at: 'discovered', decoders: stableDebtDecoders },
  {
    kind: 'aave-v3-oracle',
    at: ofMarkets(m => m.oracle),
    decoders: [on(Oracle.AssetSourceUpdated, 'OracleChanged', a => ({ market: a.asset, oracle: a.source }))],
  },
  {
    kind: 'aave-v3-provider',
    at: ofMarkets(m => m.addressesProvider),
    decoders: [
      on(Provider.PriceOracleUpdated, 'OracleChanged', a => ({ oracle: a.newAddress })),
      on(Provider.ACLManagerUpdated, 'OwnerChanged', a => ({
        owner: a.newAddress,
        previous: some(a.oldAddress),
        role: 'aclManager',
      })),
      on(Provider.ACLAdminUpdated, 'OwnerChanged', a => ({
        owner: a.newAddress,
        previous: some(a.oldAddress),
        role: 'aclAdmin',
      })),
    ],
  },
  {
    kind: 'aave-v3-rewards',
    at: ofMarkets(m => m.rewardsController ?? []),
    transactions: true,
    decoders: [
      on(Rewards.RewardsClaimed, 'RewardClaimed', a => ({
        source: 'aave-v3' as const,
        account: a.user,
        receiver: a.to,
        token: a.reward,
        amount: a.amount,
      })),
      // Emission or end was changed; of aTokens and of debt tokens alike.
      on(Rewards.AssetConfigUpdated, 'RewardStreamConfigured', a => ({
        vault: a.asset,
        reward: a.reward,
        ratePerSecond: a.newEmission,
        endsAt: Number(a.newDistributionEnd > FAR ? FAR : a.newDistributionEnd),
      })),
    ],
  },
  {
    kind: 'aave-v3-acl',
    at: ofMarkets(m => m.aclManager),
    decoders: [
      on(AclManager.RoleGranted, 'RoleChanged', a => ({
        role: ROLES[a.role] ?? a.role,
        account: a.account,
        granted: true,
      })),
      on(AclManager.RoleRevoked, 'RoleChanged', a => ({
        role: ROLES[a.role] ?? a.role,
        account: a.account,
        granted: false,
      })),
    ],
  },
]

/** Aave v3.0 to v3.6: pool, configurator, tokens of the reserves, oracle, access control. */
export default defineProtocol({
  name: 'aave-v3',
  sources,
  teaches: ['VaultDiscovered', 'ReserveListed', 'OracleChanged', 'OwnerChanged', 'LendingPoolDescribed'],
  remembers: ['PoolRevisionSampled', 'LendingPoolDescribed'],
  assets: event => (event.type === 'ReserveListed' ? [event.data.asset] : []),
  inspect: inspectAToken,
  reading: readAToken,
  wants: event => {
    if (event.protocol !== 'aave-v3') return undefined
    const token = event.contract
    if (event.type === 'RewardStreamConfigured') return { reads: [describeStream(event.data)] }
    if (event.type === 'TokenUpgraded') return { lessons: [readRevision(token, event.logIndex)] }
    if (event.type === 'RateUpdated') {
      const pool = event.contract
      return {
        lessons: [{ ...readPool(pool), unless: poolFact(pool) }],
        reads: [readLiquidity(pool, event.data.market)],
      }
    }
    // Its oracle is asked at once when it is known or another, and hourly.
    if (
      event.type === 'LendingPoolDescribed' ||
      (event.type === 'OracleChanged' && event.data.market === undefined)
    )
      return { subjects: [event.contract] }
    const account = scaledAccount(event)
    if (account === undefined) return undefined
    return {
      lessons: [{ ...readRevision(token), unless: revisionFact(token) }],
      reads: [readScaled(token, account)],
    }
  },
  samples: event => {
    if (event.type !== 'LendingPoolDescribed') return []
    const { addressesProvider } = event.data
    const read = readReservePrices(event.contract, addressesProvider)
    return [event.contract, addressesProvider].map(subject => ({ subject, read }))
  },
  watches: event => {
    if (event.protocol !== 'aave-v3') return []
    if (event.type === 'VaultDiscovered')
      return [ATOKEN_VAULT, TOKEN_CODE].map(kind => ({ kind, contract: event.data.vault }))
    if (event.type === 'ReserveListed') {
      const { aToken, variableDebtToken, stableDebtToken } = event.data
      return [
        { kind: 'aave-v3-atoken', contract: aToken },
        { kind: 'aave-v3-variable-debt', contract: variableDebtToken },
        ...[aToken, variableDebtToken].map(contract => ({ kind: TOKEN_CODE, contract })),
        ...(stableDebtToken ? [{ kind: 'aave-v3-stable-debt', contract: stableDebtToken }] : []),
      ]
    }
    // Of the two logs that change an oracle only the provider's names no market: its oracle is a new contract.
    if (event.type === 'OracleChanged' && event.data.market === undefined)
      return [{ kind: 'aave-v3-oracle', contract: event.data.oracle }]
    if (event.type === 'OwnerChanged' && event.data.role === 'aclManager')
      return [{ kind: 'aave-v3-acl', contract: event.data.owner }]
    return []
  },
})
