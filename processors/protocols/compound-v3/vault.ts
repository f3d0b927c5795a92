import { toFunctionSelector } from 'viem'
import { functions as Comet } from '../../../abi/compound-v3/Comet.ts'
import { accruedIndex, presentValue, principalWorth } from '../../../abi/compound-v3/math.ts'
import { functions as token } from '../../../abi/erc4626/Vault.ts'
import { encodeCall } from '../../../abi/words.ts'
import type { DomainEvent, EventData } from '../../../db/events/vocabulary.ts'
import type { SampledVault, ShareAmounts, StateRead, VaultReading } from '../../protocol.ts'
import { answered, asDecimals, asWord } from '../../samples/answers.ts'
import { balanceOf, figureByFigure, totalSupply } from '../../samples/vault-reading.ts'
import { discovered } from '../../vaults/verdict.ts'
import { totalsOf } from './state.ts'

/**
 * A Comet as a vault of its base asset. Balances of lenders grow without a log, so its shares are what it keeps itself:
 * principal, of which one is worth the supply index. Its logs tell amounts of the base asset; every act accrues first, so
 * the index at the end of a block is that of all logs in it. One thing no log tells: a supply or transfer of nothing to a
 * lender may round the lender's principal down by one unit.
 */

/** A Comet's name and its asset's, once. One whose decimals are not to be had is no vault. */
export function readVault(comet: string, asset: string): StateRead {
  const described = [token.decimals, token.name, token.symbol]
  return {
    key: `comet vault ${comet}`,
    calls: [comet, asset].flatMap(to => described.map(fn => ({ to, data: encodeCall(fn) }))),
    events: ([decimalsAnswer, name, symbol, assetDecimalsAnswer, assetName, assetSymbol]) => {
      const decimals = answered(decimalsAnswer, asDecimals)
      const assetDecimals = answered(assetDecimalsAnswer, asDecimals)
      if (decimals === undefined || assetDecimals === undefined) return []
      return discovered(
        comet,
        { protocol: 'compound-v3', decimals, asset, assetDecimals, pool: comet },
        { name, symbol, assetName, assetSymbol },
      )
    },
  }
}

/** What an event of the market means for the vault's shares; undefined where no principal of a lender came or went. */
export function readShares(event: DomainEvent): StateRead | undefined {
  const value = event.type === 'BaseTransferred' ? event.data.assets : 'lent' in event.data && event.data.lent
  if (!value) return undefined
  return {
    key: `comet shares ${event.contract} ${event.logIndex}`,
    calls: [{ to: event.contract, data: encodeCall(Comet.totalsBasic) }],
    events: ([answer]) => {
      const supplyIndex = totalsOf(answer)?.supplyIndex
      if (!supplyIndex) return []
      return [asVault(event, { shares: principalWorth(supplyIndex, value), supplyIndex })]
    },
  }
}

function asVault(event: DomainEvent, moved: { shares: bigint; supplyIndex: bigint }): DomainEvent {
  const told = (type: string, data: object) =>
    ({ ...event, type, data: { ...data, ...moved } }) as DomainEvent
  switch (event.type) {
    case 'Supplied': {
      const { sender, onBehalf: owner, assets } = event.data
      return told('Deposited', { sender, owner, assets, ledger: 'self' })
    }
    case 'Withdrawn': {
      const { sender, receiver, onBehalf: owner, assets } = event.data
      return told('Redeemed', { sender, receiver, owner, assets, ledger: 'self' })
    }
    default: {
      const { from, to } = event.data as EventData<'BaseTransferred'>
      return told('ShareTransferred', { from, to })
    }
  }
}

const RATES = [
  Comet.supplyKink,
  Comet.supplyPerSecondInterestRateBase,
  Comet.supplyPerSecondInterestRateSlopeLow,
  Comet.supplyPerSecondInterestRateSlopeHigh,
]

/** Comet, CometMainInterface.sol: what is lent out with interest, in base units of the asset. */
const TOTAL_BORROW = toFunctionSelector('totalBorrow()')

/** Total and idle assets as the Comet and its asset say them; principal, and what it is worth, by its own arithmetic. */
export function readCometVault({ vault, asset }: SampledVault, amounts: ShareAmounts): VaultReading {
  const simple = figureByFigure([
    ['totalAssets', totalSupply(vault)],
    ['idleAssets', balanceOf(asset, vault)],
    ['borrowedAssets', { to: vault, data: TOTAL_BORROW }],
  ])
  return {
    calls: [
      ...simple.calls,
      ...[Comet.totalsBasic, ...RATES].map(fn => ({ to: vault, data: encodeCall(fn) })),
    ],
    figures: (answers, at) => ({
      ...simple.figures(answers, at),
      ...cometFigures(answers.slice(simple.calls.length), amounts, at),
    }),
  }
}

/** Principal of all lenders, and what amounts of it are worth with interest up to `at` (unix seconds). */
function cometFigures(answers: readonly (string | undefined)[], { whole, fine }: ShareAmounts, at: number) {
  const totals = totalsOf(answers[0])
  const [kink, base, slopeLow, slopeHigh] = answers.slice(1).map(answer => answered(answer, asWord))
  if (!totals) return {}
  const totalSupply = totals.supplyPrincipal
  if (kink === undefined || base === undefined || slopeLow === undefined || slopeHigh === undefined)
    return { totalSupply }
  const index = accruedIndex(totals.supplyIndex, totals, { kink, base, slopeLow, slopeHigh }, at)
  return { totalSupply, sharePrice: presentValue(index, whole), finePrice: presentValue(index, fine) }
}
