import * as Connector from '../../../abi/euler/EthereumVaultConnector.ts'
import * as Router from '../../../abi/euler/EulerRouter.ts'
import * as EVault from '../../../abi/euler/EVault.ts'
import * as Factory from '../../../abi/euler/GenericFactory.ts'
import * as Streams from '../../../abi/euler/TrackingRewardStreams.ts'
import type { DomainEvent } from '../../../db/events/vocabulary.ts'
import table from '../../../db/registry/contracts/euler-evc.json' with { type: 'json' }
import rewards from '../../../db/registry/contracts/rewards.json' with { type: 'json' }
import { ZERO_ADDRESS } from '../../../db/units.ts'
import { bpsToWad, eventOf, on, onMany, some } from '../../handling/decoder.ts'
import { addressesByNetwork } from '../../knowledge/address-tables.ts'
import { defineProtocol, type LogDecoder, type RawLog, type Wanted } from '../../protocol.ts'
import { factory } from '../../vaults/factory.ts'
import { VAULT } from '../../vaults/kind.ts'
import { describeEpoch } from './reward-epochs.ts'
import { readCollateralPrice, readDebt, readLoanPrice, readOracle, readTotal, readVault } from './state.ts'

/** Bits of hookedOps. @see Constants.sol of euler-vault-kit */
const OPERATIONS = { deposit: 0, withdraw: 2, redeem: 3, borrow: 6, repay: 7, liquidate: 11 } as const

/**
 * Operations as a configuration of hooks leaves them: what is hooked to nobody reverts; a contract may let pass what is
 * hooked to it. As a vault it is paused where nothing comes in and nothing goes out.
 */
function operationsOf(log: RawLog, hookedOps: number, hookTarget: string): DomainEvent[] {
  const isOff = (bit: number) => some(hookTarget) === undefined && ((hookedOps >> bit) & 1) === 1
  const { deposit, withdraw, redeem } = OPERATIONS
  return [
    ...Object.entries(OPERATIONS).map(([act, bit]) =>
      eventOf(log, 'ReserveFlagChanged', {
        market: log.address,
        flag: `${act}Paused`,
        enabled: isOff(bit),
      }),
    ),
    eventOf(log, [deposit, withdraw, redeem].every(isOff) ? 'Paused' : 'Unpaused', {}),
  ]
}

/** hookedOps at birth: all of them, to nobody; no other log says so. @see Initialize.sol of euler-vault-kit */
const BORN_WITH = (1 << 15) - 1

function debtorsOf(event: DomainEvent): string[] {
  switch (event.type) {
    case 'Borrowed':
    case 'Repaid':
      return [event.data.onBehalf]
    case 'DebtTransferred':
      return [event.data.from, event.data.to]
    case 'DebtSocialized':
      return [event.data.account]
    case 'Liquidated':
      return [event.data.liquidator, event.data.borrower]
    default:
      return []
  }
}

type Moved = DomainEvent<'Repaid' | 'Borrowed'>

/**
 * A debt that another account takes over, and one that is written off, is logged as a repayment and a loan too, right before
 * the log that says so: nobody paid or got anything. One that is taken over may differ by a unit there, of what the two
 * owed in fractions. @see BorrowUtils.sol (transferBorrow, decreaseBorrow) and Liquidation.sol of euler-vault-kit
 */
function leaveOutMoves(events: DomainEvent[]): DomainEvent[] {
  const told: DomainEvent[] = []
  for (const event of events) {
    /** Takes the last event but `after` where it is this. */
    const takeBack = (type: Moved['type'], account: string, least: bigint, most: bigint, after = 0) => {
      const at = told.length - 1 - after
      const last = told[at]
      if (last?.type !== type) return
      const { onBehalf, assets } = (last as Moved).data
      if (onBehalf === account && assets >= least && assets <= most) told.splice(at, 1)
    }
    const takeBackMove = (from: string, to: string, assets: bigint, after = 0) => {
      takeBack('Borrowed', to, assets - 1n, assets, after)
      takeBack('Repaid', from, assets, assets + 1n, after)
    }
    if (event.type === 'DebtTransferred') takeBackMove(event.data.from, event.data.to, event.data.assets)
    if (event.type === 'DebtSocialized')
      takeBack('Repaid', event.data.account, event.data.assets, event.data.assets)
    if (event.type === 'Liquidated' && event.data.repaidAssets > 0n) {
      const { borrower, liquidator, repaidAssets } = event.data
      takeBackMove(borrower, liquidator, repaidAssets, told.at(-1)?.type === 'DebtSocialized' ? 1 : 0)
    }
    told.push(event)
  }
  return told
}

/** trailingData of a vault that the factory made is asset, oracle and unit of account, 20 bytes each (abi.encodePacked). */
function parametersOf(trailingData: string): { asset?: string; oracle?: string } {
  if (trailingData.length !== 2 + 3 * 40) return {}
  const oracle = some(`0x${trailingData.slice(42, 82)}`)
  return { asset: trailingData.slice(0, 42), ...(oracle ? { oracle } : {}) }
}

/**
 * AmountCap: two bytes, mantissa in the upper 10 bits, exponent in the lower 6, in hundredths; 0 is the largest uint256, no
 * cap (euler-vault-kit, EVault/shared/types/AmountCap.sol).
 */
function amountOf(cap: number): bigint {
  return cap === 0 ? 2n ** 256n - 1n : (10n ** BigInt(cap & 63) * BigInt(cap >> 6)) / 100n
}

const vaultDecoders: LogDecoder[] = [
  on(EVault.GovSetInterestFee, 'FeeChanged', a => ({
    kind: 'reserve' as const,
    feeWad: bpsToWad(a.newFee),
  })),
  on(EVault.GovSetMaxLiquidationDiscount, 'FeeChanged', a => ({
    kind: 'liquidationDiscount' as const,
    feeWad: bpsToWad(a.newDiscount),
  })),
  onMany(EVault.GovSetCaps, ['CapChanged'], (a, log) => [
    eventOf(log, 'CapChanged', { kind: 'deposit', cap: amountOf(a.newSupplyCap) }),
    eventOf(log, 'CapChanged', { kind: 'borrow', cap: amountOf(a.newBorrowCap) }),
  ]),
]

function wants(event: DomainEvent): Wanted | undefined {
  if (event.type === 'RewardEpochRegistered') return { reads: [describeEpoch(event, event.data)] }
  if (event.protocol !== 'euler-v2' || !('market' in event.data)) return undefined
  if (event.type === 'OracleChanged') return { subjects: [event.contract] }
  const vault = event.contract
  const debts = debtorsOf(event).map(account => readDebt(vault, account))
  return {
    subjects: [vault],
    reads: event.type === 'VaultStatusChanged' ? [readTotal(vault), ...debts] : debts,
    ...(event.type === 'LtvChanged' ? { lessons: [readOracle(vault, event.data.collateral)] } : {}),
  }
}

/**
 * Euler v2 (Euler Vault Kit): a vault lends its asset against shares of the vaults that it has an LTV for. Deposits and
 * shares are those of an ERC-4626 vault; here are debts, rates, LTVs and what accounts have enabled in the connector. What
 * its oracle says is no log: it is asked after blocks in which the vault or the oracle's routes changed, and hourly.
 * @see Events.sol and Governance.sol of euler-vault-kit, IEVC of ethereum-vault-connector, EulerRouter.sol of
 * euler-price-oracle
 */
export default defineProtocol({
  name: 'euler-v2',
  sources: [
    factory(
      'euler-evk-factory',
      on(Factory.ProxyCreated, 'VaultCreated', (a, log) => ({
        vault: a.proxy,
        factory: log.address,
        protocol: 'euler-v2',
        ...parametersOf(a.trailingData),
      })),
    ),
    {
      kind: 'euler-reward-streams',
      at: addressesByNetwork(rewards['euler-reward-streams']),
      decoders: [
        onMany(Streams.RewardRegistered, ['RewardEpochRegistered'], (a, log) =>
          a.rewardAmounts.flatMap((amount, i) => {
            const epoch = Number(a.startEpoch) + i
            const data = { vault: a.rewarded, reward: a.reward, epoch, amount }
            return amount === 0n ? [] : [eventOf(log, 'RewardEpochRegistered', data) as DomainEvent]
          }),
        ),
      ],
    },
    {
      kind: 'euler-evk-vault',
      at: 'discovered',
      decoders: [
        on(EVault.VaultStatus, 'VaultStatusChanged', (a, log) => ({
          market: log.address,
          totalShares: a.totalShares,
          totalBorrows: a.totalBorrows,
          accumulatedFees: a.accumulatedFees,
          cash: a.cash,
          accumulatorRay: a.interestAccumulator,
          interestRateRay: a.interestRate,
        })),
        on(EVault.Borrow, 'Borrowed', (a, log) => ({
          market: log.address,
          sender: a.account,
          onBehalf: a.account,
          assets: a.assets,
        })),
        on(EVault.Repay, 'Repaid', (a, log) => ({
          market: log.address,
          sender: a.account,
          onBehalf: a.account,
          assets: a.assets,
        })),
        on(EVault.PullDebt, 'DebtTransferred', (a, log) => ({
          market: log.address,
          from: a.from,
          to: a.to,
          assets: a.assets,
        })),
        on(EVault.Liquidate, 'Liquidated', (a, log) => ({
          market: log.address,
          liquidator: a.liquidator,
          borrower: a.violator,
          repaidAssets: a.repayAssets,
          seizedAssets: a.yieldBalance,
          collateralMarket: a.collateral,
        })),
        on(EVault.DebtSocialized, 'DebtSocialized', (a, log) => ({
          market: log.address,
          account: a.account,
          assets: a.assets,
        })),
        onMany(EVault.EVaultCreated, ['ReserveFlagChanged', 'Paused'], (_, log) =>
          operationsOf(log, BORN_WITH, ZERO_ADDRESS),
        ),
        onMany(EVault.GovSetHookConfig, ['ReserveFlagChanged', 'Paused', 'Unpaused'], (a, log) =>
          operationsOf(log, a.newHookedOps, a.newHookTarget),
        ),
        on(EVault.GovSetInterestRateModel, 'RateModelChanged', (a, log) => ({
          market: log.address,
          model: a.newInterestRateModel,
        })),
        on(EVault.GovSetLTV, 'LtvChanged', (a, log) => ({
          market: log.address,
          collateral: a.collateral,
          borrowLtvBps: a.borrowLTV,
          liquidationLtvBps: a.liquidationLTV,
          initialLiquidationLtvBps: a.initialLiquidationLTV,
          targetAt: a.targetTimestamp,
          rampSeconds: a.rampDuration,
        })),
      ],
    },
    {
      kind: 'euler-router',
      isOpen: true,
      at: 'discovered',
      decoders: [
        on(Router.ConfigSet, 'OracleChanged', a => ({
          market: `${a.asset0}:${a.asset1}`,
          oracle: a.oracle,
        })),
        on(Router.ResolvedVaultSet, 'OracleChanged', a => ({ market: a.vault, oracle: a.asset })),
        on(Router.FallbackOracleSet, 'OracleChanged', a => ({
          market: 'fallback',
          oracle: a.fallbackOracle,
        })),
      ],
    },
    {
      kind: 'euler-evc',
      at: addressesByNetwork(table),
      decoders: [
        on(Connector.OwnerRegistered, 'AccountOwnerRegistered', a => ({
          prefix: a.addressPrefix,
          owner: a.owner,
        })),
        on(Connector.CollateralStatus, 'AccountCollateralChanged', a => ({
          account: a.account,
          vault: a.collateral,
          enabled: a.enabled,
        })),
        on(Connector.ControllerStatus, 'AccountControllerChanged', a => ({
          account: a.account,
          vault: a.controller,
          enabled: a.enabled,
        })),
      ],
    },
  ],
  adds: { [VAULT]: vaultDecoders },
  reading: readVault,
  teaches: ['VaultCreated', 'CollateralOracleNamed'],
  watches: event => {
    if (event.type !== 'VaultCreated' || event.data.protocol !== 'euler-v2') return []
    const { vault, oracle } = event.data
    return [
      { kind: 'euler-evk-vault', contract: vault },
      ...(oracle ? [{ kind: 'euler-router', contract: oracle }] : []),
    ]
  },
  samples: event => {
    if (event.type !== 'CollateralOracleNamed') return []
    const { market, collateral, asset, oracle, unitOfAccount } = event.data
    const vault = event.contract
    const reads = [
      readLoanPrice(vault, asset, oracle, unitOfAccount),
      readCollateralPrice(vault, collateral, oracle, unitOfAccount),
    ]
    return [market, oracle].flatMap(subject => reads.map(read => ({ subject, read, opened: vault })))
  },
  wants,
  reconcile: leaveOutMoves,
})
