import * as Connector from '../../abi/euler/EthereumVaultConnector.ts'
import * as EVault from '../../abi/euler/EVault.ts'
import { encodeCall, uint } from '../../abi/words.ts'
import type { DomainEvent } from '../../db/events/vocabulary.ts'
import table from '../../db/registry/contracts/euler-evc.json' with { type: 'json' }
import { on } from '../decoder.ts'
import { defineProtocol, type StateRead, type Wanted } from '../protocol.ts'
import { addressesByNetwork } from '../registry.ts'
import { answered } from '../samples/answers.ts'

const PREFIX = 'evk:'
const marketOf = (vault: string) => PREFIX + vault
const asUint = (hex: string) => uint(hex, 2, 256)

/** totalBorrowsExact() of a vault after an act; no log has its fraction. */
function readTotal(vault: string): StateRead {
  return {
    key: `evk total ${vault}`,
    calls: [EVault.functions.totalBorrowsExact, EVault.functions.interestAccumulator].map(fn => ({
      to: vault,
      data: encodeCall(fn),
    })),
    events: ([total, accumulator]) => {
      const owed = answered(total, asUint)
      const accumulatorRay = answered(accumulator, asUint)
      if (owed === undefined || accumulatorRay === undefined) return []
      const data = { market: marketOf(vault), owed, accumulatorRay }
      return [{ type: 'DebtTotalSampled', contract: vault, data }]
    },
  }
}

function readDebt(vault: string, account: string): StateRead {
  return {
    key: `evk debt ${vault} ${account}`,
    calls: [
      { to: vault, data: encodeCall(EVault.functions.debtOfExact, account) },
      { to: vault, data: encodeCall(EVault.functions.interestAccumulator) },
    ],
    events: ([debt, accumulator]) => {
      const owed = answered(debt, asUint)
      const accumulatorRay = answered(accumulator, asUint)
      if (owed === undefined || accumulatorRay === undefined) return []
      const data = { market: marketOf(vault), account, owed, accumulatorRay }
      return [{ type: 'DebtSampled', contract: vault, data }]
    },
  }
}

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

function wants(event: DomainEvent): Wanted | undefined {
  if (!('market' in event.data) || !event.data.market?.startsWith(PREFIX)) return undefined
  const vault = event.contract
  const debts = debtorsOf(event).map(account => readDebt(vault, account))
  return { reads: event.type === 'VaultStatusChanged' ? [readTotal(vault), ...debts] : debts }
}

/**
 * Euler v2 (Euler Vault Kit): a vault lends its asset against shares of the vaults that it has an LTV for. Deposits and
 * shares are those of an ERC-4626 vault; here are debts, rates, LTVs and what accounts have enabled in the connector.
 * @see Events.sol and Governance.sol of euler-vault-kit, IEVC of ethereum-vault-connector
 */
export default defineProtocol({
  name: 'euler-evk',
  sources: [
    {
      kind: 'euler-evk-vault',
      at: 'discovered',
      decoders: [
        on(EVault.VaultStatus, 'VaultStatusChanged', (a, log) => ({
          market: marketOf(log.address),
          totalShares: a.totalShares,
          totalBorrows: a.totalBorrows,
          accumulatedFees: a.accumulatedFees,
          cash: a.cash,
          accumulatorRay: a.interestAccumulator,
          interestRateRay: a.interestRate,
        })),
        on(EVault.Borrow, 'Borrowed', (a, log) => ({
          market: marketOf(log.address),
          sender: a.account,
          onBehalf: a.account,
          assets: a.assets,
        })),
        on(EVault.Repay, 'Repaid', (a, log) => ({
          market: marketOf(log.address),
          sender: a.account,
          onBehalf: a.account,
          assets: a.assets,
        })),
        on(EVault.PullDebt, 'DebtTransferred', (a, log) => ({
          market: marketOf(log.address),
          from: a.from,
          to: a.to,
          assets: a.assets,
        })),
        on(EVault.Liquidate, 'Liquidated', (a, log) => ({
          market: marketOf(log.address),
          liquidator: a.liquidator,
          borrower: a.violator,
          repaidAssets: a.repayAssets,
          seizedAssets: a.yieldBalance,
          collateralMarket: marketOf(a.collateral),
        })),
        on(EVault.DebtSocialized, 'DebtSocialized', (a, log) => ({
          market: marketOf(log.address),
          account: a.account,
          assets: a.assets,
        })),
        on(EVault.GovSetLTV, 'LtvChanged', (a, log) => ({
          market: marketOf(log.address),
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
      kind: 'euler-evc',
      at: addressesByNetwork(table),
      decoders: [
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
  // The vaults of Euler Earn come under the same name; they have none of these logs.
  watches: event =>
    event.type === 'VaultCreated' && event.data.protocol === 'euler'
      ? [{ kind: 'euler-evk-vault', contract: event.data.vault }]
      : [],
  wants,
})
