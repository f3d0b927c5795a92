import { groupBy } from '../../db/group-by.ts'
import { inLanes } from '../../db/process/lanes.ts'
import { ammStakes } from '../amm/stakes.ts'
import { fixedTermStakes } from '../fixed-term/stakes.ts'
import type { EndpointContext } from '../http/endpoint.ts'
import { lendingMarkets } from '../lending/book.ts'
import { familyOf, lendingFamilies } from '../load-protocols.ts'
import { lastIndexBy } from '../moment/last-by.ts'
import { readPrices } from '../vaults/price-history.ts'
import { type Asked, LANES, type Period, refuseTooLong } from './read-statement.ts'
import type { Stake } from './stake.ts'
import { type Account, accountOf, type Ledger, type Movement, midnightsOf, opposite } from './statement.ts'

/** A position that is no vault's in a statement: units are what it counts in, at either end. */
export interface StatedStake {
  stake: Stake
  openingUnits: bigint
  closingUnits: bigint
  account: Account
}

/** What the wallets lent, owed, pledged and held of terms and of liquidity, from the beginning or in a period. */
export async function readStakes(
  { wallets, method, ...period }: Asked,
  wants: (chainId: number) => boolean,
  want: (stake: Stake) => boolean,
  context: EndpointContext,
): Promise<StatedStake[]> {
  const chains = [...context.catalogue.moment.chains.keys()].filter(wants)
  const stated = await Promise.all(
    chains.map(async chain => {
      const asked = { chain, accounts: wallets, to: period.to }
      const all = await Promise.all([
        lendingStakes(asked, context),
        fixedTermStakes(asked, context),
        ammStakes(asked, context),
      ])
      const alive = all.flat().filter(stake => isIn(stake, period) && want(stake))
      refuseTooLong(alive.length * midnightsOf(period).length)
      return inLanes(LANES, alive, async (stake): Promise<StatedStake> => {
        const account = accountOf(await ledgerOf(stake, period, context), method)
        return {
          stake,
          openingUnits: unitsAt(stake, period.from),
          closingUnits: unitsAt(stake, period.to),
          account: stake.kind === 'debt' ? opposite(account) : account,
        }
      })
    }),
  )
  return stated.flat()
}

async function lendingStakes(
  asked: { chain: number; accounts: readonly string[]; to: number },
  context: EndpointContext,
): Promise<Stake[]> {
  const { catalogue, shown } = context
  if (!catalogue.chain(asked.chain, 'lending')) return []
  const markets = groupBy(await lendingMarkets(context, asked.chain), familyOf)
  const isVaultShown = (address: string) => {
    const vault = catalogue.find(asked.chain, address)
    return vault !== undefined && shown.has(vault)
  }
  const found = await Promise.all(
    [...lendingFamilies.values()].map(family =>
      family.stakes(markets.get(family) ?? [], { ...asked, isVaultShown }, context),
    ),
  )
  return found.flat()
}

const unitsAt = ({ steps }: Stake, at: number) => steps[lastIndexBy(steps, at)]?.units ?? 0n

/** Something was there when the period began, or moved in it. */
const isIn = (stake: Stake, { from, to }: Period) =>
  stake.steps.some(({ at }) => at > from && at <= to) || unitsAt(stake, from) !== 0n

async function ledgerOf(stake: Stake, { from, to }: Period, context: EndpointContext): Promise<Ledger> {
  const { steps, asset } = stake
  const midnights = midnightsOf({ from, to })
  const moments = [...steps.map(({ at }) => at), ...midnights, from, to]
  const times = [...new Set(moments)].sort((a, b) => a - b)
  const [pricesOf, worthSince] = await Promise.all([
    readPrices(asset, { from: times[0] ?? from, to }, context),
    stake.values(times),
  ])
  const prices = new Map(pricesOf(times).map((price, i) => [times[i], price]))
  const worth = (step: number, at: number) => ((steps[step]?.units ?? 0n) === 0n ? 0n : worthSince(step, at))
  const mark = (at: number) => ({ at, value: worth(lastIndexBy(steps, at), at), price: prices.get(at) })
  return {
    assetDecimals: asset.decimals,
    movements: steps.map((step, i) =>
      movementOf(
        step,
        { units: steps[i - 1]?.units ?? 0n, before: worth(i - 1, step.at), after: worth(i, step.at) },
        prices.get(step.at),
      ),
    ),
    opening: mark(from),
    closing: mark(to),
    midnights: midnights.map(mark),
  }
}

/** Base units that an act may be off by what the position became: contracts round what they store. */
const ROUNDING = 10n

/**
 * What a block did to a position, by what it was worth at the end of the block with what was there before and with what was
 * there after. What the account paid itself is told by logs; the rest came or went without its act, by a transfer or a
 * liquidation.
 */
export function movementOf(
  { at, units, paid }: Stake['steps'][number],
  was: { units: bigint; before: bigint | undefined; after: bigint | undefined },
  price: number | undefined,
): Movement {
  const delta = units - was.units
  const change = was.before === undefined || was.after === undefined ? undefined : was.after - was.before
  const none = { at, minted: 0n, burned: 0n, deposited: 0n, withdrawn: 0n, sent: 0n, sentWorth: 0n, price }
  if (paid === undefined) return delta === 0n ? none : { ...none, sent: delta, sentWorth: change }
  if (paid === 'worth')
    return delta < 0n
      ? { ...none, burned: -delta, withdrawn: change === undefined ? undefined : -change }
      : { ...none, minted: delta, deposited: change }
  const flows = { deposited: paid.in, withdrawn: paid.out }
  const rest = change === undefined ? 0n : change - paid.in + paid.out
  const [whole, worth] = was.units > units ? [was.units, was.before] : [units, was.after]
  const isRounded = rest <= ROUNDING && rest >= -ROUNDING
  const sent = isRounded || !worth ? 0n : (rest * whole) / worth
  const left = delta - sent
  const burnedBesides = paid.in > 0n && paid.out > 0n && worth ? (paid.out * whole) / worth : 0n
  const [minted, burned] = paid.in > 0n ? [left + burnedBesides, burnedBesides] : [0n, -left]
  // Where units cannot be told apart so, they all came or went with what was paid.
  if (minted < 0n || burned < 0n)
    return { ...none, ...flows, ...(delta < 0n ? { burned: -delta } : { minted: delta }) }
  return { ...none, ...flows, minted, burned, sent, sentWorth: sent === 0n ? 0n : rest }
}
