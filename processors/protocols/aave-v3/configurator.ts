import * as Configurator from '../../../abi/aave-v3/PoolConfigurator.ts'
import type { EventAbi } from '../../../abi/words.ts'
import { bpsToWad, cleanText, on, some } from '../../handling/decoder.ts'
import type { LogDecoder } from '../../protocol.ts'

/** A switch of a reserve. */
function flag<Args extends { asset: string }>(
  abi: EventAbi<Args>,
  name: string | ((args: Args) => string),
  isEnabled: (args: Args) => boolean,
): LogDecoder {
  return on(abi, 'ReserveFlagChanged', args => ({
    market: args.asset,
    flag: typeof name === 'string' ? name : name(args),
    enabled: isEnabled(args),
  }))
}

/** Market of an eMode category in events about the category itself. */
const eModeMarket = (category: number) => `emode:${category}`

/**
 * The configuration of Aave v3's reserves. Caps count whole tokens (0: no cap), the debt ceiling cents
 * (aave-v3, ReserveConfiguration.sol and DEBT_CEILING_DECIMALS).
 */
export const configuratorDecoders: LogDecoder[] = [
  on(Configurator.ReserveInitialized, 'ReserveListed', a => ({
    market: a.asset,
    asset: a.asset,
    aToken: a.aToken,
    stableDebtToken: some(a.stableDebtToken),
    variableDebtToken: a.variableDebtToken,
    rateStrategy: some(a.interestRateStrategyAddress),
  })),
  on(Configurator.CollateralConfigurationChanged, 'RiskParametersChanged', a => ({
    market: a.asset,
    ltvBps: a.ltv,
    liquidationThresholdBps: a.liquidationThreshold,
    liquidationBonusBps: a.liquidationBonus,
  })),
  on(Configurator.EModeAssetCategoryChanged, 'RiskParametersChanged', a => ({
    market: a.asset,
    eModeCategory: a.newCategoryId,
  })),
  on(Configurator.EModeCategoryAdded, 'RiskParametersChanged', a => ({
    market: eModeMarket(a.categoryId),
    eModeCategory: a.categoryId,
    ltvBps: a.ltv,
    liquidationThresholdBps: a.liquidationThreshold,
    liquidationBonusBps: a.liquidationBonus,
    label: cleanText(a.label),
    oracle: some(a.oracle),
  })),
  flag(
    Configurator.AssetCollateralInEModeChanged,
    a => `${eModeMarket(a.categoryId)}:collateral`,
    a => a.collateral,
  ),
  flag(
    Configurator.AssetBorrowableInEModeChanged,
    a => `${eModeMarket(a.categoryId)}:borrowable`,
    a => a.borrowable,
  ),
  flag(
    Configurator.AssetLtvzeroInEModeChanged,
    a => `${eModeMarket(a.categoryId)}:ltvzero`,
    a => a.ltvzero,
  ),
  flag(Configurator.ReserveBorrowing, 'borrowing', a => a.enabled),
  flag(Configurator.ReserveStableRateBorrowing, 'stableBorrowing', a => a.enabled),
  flag(Configurator.ReserveFlashLoaning, 'flashLoaning', a => a.enabled),
  flag(Configurator.ReserveActive, 'active', a => a.active),
  flag(Configurator.ReserveFrozen, 'frozen', a => a.frozen),
  flag(Configurator.ReservePaused, 'paused', a => a.paused),
  flag(Configurator.ReserveDropped, 'dropped', () => true),
  flag(Configurator.SiloedBorrowingChanged, 'siloedBorrowing', a => a.newState),
  flag(Configurator.BorrowableInIsolationChanged, 'borrowableInIsolation', a => a.borrowable),
  on(Configurator.ReserveFactorChanged, 'FeeChanged', a => ({
    kind: 'reserve' as const,
    feeWad: bpsToWad(a.newReserveFactor),
    market: a.asset,
  })),
  on(Configurator.LiquidationProtocolFeeChanged, 'FeeChanged', a => ({
    kind: 'liquidation' as const,
    feeWad: bpsToWad(a.newFee),
    market: a.asset,
  })),
  on(Configurator.FlashloanPremiumTotalUpdated, 'FeeChanged', a => ({
    kind: 'flashloan' as const,
    feeWad: bpsToWad(a.newFlashloanPremiumTotal),
  })),
  on(Configurator.FlashloanPremiumToProtocolUpdated, 'FeeChanged', a => ({
    kind: 'protocol' as const,
    feeWad: bpsToWad(a.newFlashloanPremiumToProtocol),
  })),
  on(Configurator.BorrowCapChanged, 'CapChanged', a => ({
    kind: 'borrow' as const,
    cap: a.newBorrowCap,
    capDecimals: 0,
    market: a.asset,
    asset: a.asset,
  })),
  on(Configurator.SupplyCapChanged, 'CapChanged', a => ({
    kind: 'supply' as const,
    cap: a.newSupplyCap,
    capDecimals: 0,
    market: a.asset,
    asset: a.asset,
  })),
  on(Configurator.DebtCeilingChanged, 'CapChanged', a => ({
    kind: 'debtCeiling' as const,
    cap: a.newDebtCeiling,
    capDecimals: 2,
    market: a.asset,
    asset: a.asset,
  })),
  on(Configurator.ReserveInterestRateStrategyChanged, 'RateModelChanged', a => ({
    market: a.asset,
    model: a.newStrategy,
  })),
  on(Configurator.ReserveInterestRateDataChanged, 'RateModelChanged', a => ({
    market: a.asset,
    model: a.strategy,
  })),
]
