import * as Comet from '../../../abi/compound-v3/Comet.ts'
import * as Configurator from '../../../abi/compound-v3/Configurator.ts'
import * as Rewards from '../../../abi/rewards/CometRewards.ts'
import type { DomainEvent } from '../../../db/events/vocabulary.ts'
import table from '../../../db/registry/contracts/compound-v3.json' with { type: 'json' }
import rewards from '../../../db/registry/contracts/rewards.json' with { type: 'json' }
import { ZERO_ADDRESS } from '../../../db/units.ts'
import { eventOf, on, onMany } from '../../handling/decoder.ts'
import { addressesByNetwork } from '../../knowledge/address-tables.ts'
import { defineProtocol, type Wanted } from '../../protocol.ts'
import { readAsset, readConfiguration, readPrice, readPrincipal, readTotals } from './state.ts'
import { readCometVault, readShares, readVault } from './vault.ts'

const at = (networks: unknown) => addressesByNetwork({ source: table.source, networks })

/**
 * The amount of a Supply or Withdraw and the base balance that the Transfer after it tells of differ by the rounding of
 * both by an index, at most this many units while an index is less than twice what it began with.
 */
const ROUNDING = 3n

/**
 * Supply repays a debt first and lends the rest; Withdraw takes what was lent first and borrows the rest. The Transfer
 * that follows the log (from or to the zero address) is of what was lent alone, and there is none where there was none.
 * @see Comet.sol, supplyBase and withdrawBase
 */
function tellLoansApart(events: DomainEvent[]): DomainEvent[] {
  const told: DomainEvent[] = []
  const moved: DomainEvent<'BaseTransferred'>[] = []
  for (let i = 0; i < events.length; i++) {
    const event = events[i]
    // What an absorption leaves of the collateral's value is lent to the account.
    if (event?.type === 'BaseTransferred' && events[i - 1]?.type !== 'DebtAbsorbed') moved.push(event)
    if (!event || (event.type !== 'Supplied' && event.type !== 'Withdrawn')) {
      if (event) told.push(event)
      continue
    }
    const { assets, onBehalf } = event.data
    const isSupply = event.type === 'Supplied'
    const next = events[i + 1]
    const isPaired =
      next?.type === 'BaseTransferred' &&
      next.logIndex === (event.logIndex ?? 0) + 1 &&
      next.data[isSupply ? 'from' : 'to'] === ZERO_ADDRESS &&
      next.data[isSupply ? 'to' : 'from'] === onBehalf
    if (isPaired) i++
    const rest = assets - (isPaired ? next.data.assets : 0n)
    const debt = rest > ROUNDING ? rest : 0n
    if (debt > 0n && isSupply) {
      const { market, sender } = event.data
      told.push({ ...event, type: 'Repaid', data: { market, sender, onBehalf, assets: debt } })
    } else if (debt > 0n)
      told.push({ ...event, type: 'Borrowed', data: { ...event.data, assets: debt } } as DomainEvent)
    if (debt < assets || assets === 0n) {
      const lent = isPaired ? { lent: next.data.assets } : {}
      told.push({ ...event, data: { ...event.data, ...lent, assets: assets - debt } } as DomainEvent)
    }
  }
  return moved.length === 0 ? told : told.map(event => nameUnnamed(event, moved))
}

/** What was taken from lent balances and what came to them are equal, unless a debt is at one end of a transfer. */
function nameUnnamed(event: DomainEvent, moved: readonly DomainEvent<'BaseTransferred'>[]): DomainEvent {
  if (event.type !== 'BaseTransferred' || !moved.includes(event)) return event
  const sum = (side: 'from' | 'to') =>
    moved.reduce((total, { data }) => total + (data[side] === ZERO_ADDRESS ? data.assets : 0n), 0n)
  const difference = sum('from') - sum('to')
  const isBalanced = (difference < 0n ? -difference : difference) <= ROUNDING * BigInt(moved.length)
  return isBalanced ? event : { ...event, data: { ...event.data, unnamed: true } }
}

/** Accounts whose base principal an event may have changed. */
function principalsOf(event: DomainEvent): string[] {
  switch (event.type) {
    case 'Supplied':
    case 'Withdrawn':
    case 'Borrowed':
    case 'Repaid':
    case 'CollateralSupplied':
    case 'CollateralWithdrawn':
      return [event.data.onBehalf]
    case 'CollateralTransferred':
      return [event.data.from, event.data.to]
    case 'BaseTransferred':
      return [event.data.from, event.data.to].filter(account => account !== ZERO_ADDRESS)
    case 'DebtAbsorbed':
      return [event.data.borrower]
    default:
      return []
  }
}

function wants(event: DomainEvent): Wanted | undefined {
  if (event.type === 'ImplementationChanged')
    return { subjects: [event.data.market], lessons: [readConfiguration(event.data.market)] }
  if (event.type === 'CometConfigured') {
    const { market, baseAsset, assetCount } = event.data
    return {
      lessons: [
        ...Array.from({ length: assetCount }, (_, offset) => readAsset(market, offset)),
        { ...readVault(market, baseAsset), unless: `VaultDiscovered ${market}` },
      ],
    }
  }
  if (event.protocol !== 'compound-v3' || !('market' in event.data)) return undefined
  const comet = event.contract
  const shares = readShares(event)
  return {
    subjects: [comet],
    reads: [
      readTotals(comet),
      ...principalsOf(event).map(account => readPrincipal(comet, account)),
      ...(shares ? [shares] : []),
    ],
    ...(event.type === 'BaseTransferred' && event.data.unnamed
      ? { ofHolders: { contract: comet, read: (account: string) => readPrincipal(comet, account) } }
      : {}),
    lessons: [{ ...readConfiguration(comet), unless: `CometConfigured ${comet}` }],
  }
}

/**
 * Compound v3: a Comet is one market, of one base asset that is lent and borrowed and of collateral that is neither.
 * No log tells of indexes or of principals: they are read at the end of each block with a log of the Comet, and hourly.
 * What is lent to it is a position in a vault, too.
 * @see Comet.sol and Configurator.sol of compound-finance/comet
 */
export default defineProtocol({
  name: 'compound-v3',
  sources: [
    {
      kind: 'compound-v3-configurator',
      at: at(table.configurators),
      decoders: [
        on(Configurator.CometDeployed, 'ImplementationChanged', a => ({
          market: a.cometProxy,
          implementation: a.newComet,
        })),
      ],
    },
    {
      kind: 'compound-v3-comet',
      at: at(table.comets),
      transactions: true,
      decoders: [
        on(Comet.Supply, 'Supplied', (a, log) => ({
          market: log.address,
          sender: a.from,
          onBehalf: a.dst,
          assets: a.amount,
        })),
        on(Comet.Withdraw, 'Withdrawn', (a, log) => ({
          market: log.address,
          sender: a.src,
          onBehalf: a.src,
          receiver: a.to,
          assets: a.amount,
        })),
        on(Comet.Transfer, 'BaseTransferred', (a, log) => ({
          market: log.address,
          from: a.from,
          to: a.to,
          assets: a.amount,
        })),
        on(Comet.SupplyCollateral, 'CollateralSupplied', (a, log) => ({
          market: log.address,
          sender: a.from,
          onBehalf: a.dst,
          asset: a.asset,
          assets: a.amount,
        })),
        on(Comet.WithdrawCollateral, 'CollateralWithdrawn', (a, log) => ({
          market: log.address,
          sender: a.src,
          onBehalf: a.src,
          receiver: a.to,
          asset: a.asset,
          assets: a.amount,
        })),
        on(Comet.TransferCollateral, 'CollateralTransferred', (a, log) => ({
          market: log.address,
          from: a.from,
          to: a.to,
          asset: a.asset,
          assets: a.amount,
        })),
        on(Comet.AbsorbDebt, 'DebtAbsorbed', (a, log) => ({
          market: log.address,
          absorber: a.absorber,
          borrower: a.borrower,
          assets: a.basePaidOut,
        })),
        on(Comet.AbsorbCollateral, 'CollateralAbsorbed', (a, log) => ({
          market: log.address,
          absorber: a.absorber,
          borrower: a.borrower,
          asset: a.asset,
          assets: a.collateralAbsorbed,
        })),
        on(Comet.BuyCollateral, 'CollateralBought', (a, log) => ({
          market: log.address,
          buyer: a.buyer,
          asset: a.asset,
          baseAssets: a.baseAmount,
          assets: a.collateralAmount,
        })),
        on(Comet.WithdrawReserves, 'ReservesWithdrawn', (a, log) => ({
          market: log.address,
          receiver: a.to,
          assets: a.amount,
        })),
        onMany(Comet.PauseAction, ['ReserveFlagChanged'], (a, log) =>
          (['supply', 'transfer', 'withdraw', 'absorb', 'buy'] as const).map(act =>
            eventOf(log, 'ReserveFlagChanged', {
              market: log.address,
              flag: `${act}Paused`,
              enabled: a[`${act}Paused`],
            }),
          ),
        ),
        on(Comet.Upgraded, 'ImplementationChanged', (a, log) => ({
          market: log.address,
          implementation: a.implementation,
        })),
      ],
    },
    {
      kind: 'comet-rewards',
      at: addressesByNetwork(rewards['comet-rewards']),
      transactions: true,
      decoders: [
        on(Rewards.RewardClaimed, 'RewardClaimed', a => ({
          source: 'compound-v3' as const,
          account: a.src,
          receiver: a.recipient,
          token: a.token,
          amount: a.amount,
        })),
      ],
    },
  ],
  teaches: ['ImplementationChanged', 'CometConfigured', 'CometAssetConfigured'],
  remembers: ['CometConfigured', 'VaultDiscovered'],
  watches: event =>
    event.type === 'ImplementationChanged'
      ? [{ kind: 'compound-v3-comet', contract: event.data.market }]
      : [],
  reading: readCometVault,
  assets: event => {
    if (event.type === 'CometAssetConfigured') return [event.data.asset]
    return event.type === 'CometConfigured' ? [event.data.baseAsset] : []
  },
  samples: event => {
    if (event.type === 'CometConfigured') {
      const { market, baseAsset, baseOracle } = event.data
      return [readTotals(market), readPrice(market, baseAsset, baseOracle)].map(read => ({
        subject: market,
        read,
      }))
    }
    if (event.type !== 'CometAssetConfigured') return []
    const { market, asset, oracle } = event.data
    return [{ subject: market, read: readPrice(market, asset, oracle) }]
  },
  wants,
  reconcile: tellLoansApart,
})
