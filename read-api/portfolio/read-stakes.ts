import { groupBy } from '../../db/group-by.ts'
import { inLanes } from '../../db/process/lanes.ts'
import { ammStakes } from '../amm/stakes.ts'
import { fixedTermStakes } from '../fixed-term/stakes.ts'
import type { EndpointContext } from '../http/endpoint.ts'
import { lendingMarkets } from '../lending/book.ts'
import { lendingFamilies } from '../load-protocols.ts'
import { lastIndexBy } from '../moment/last-by.ts'
import { type PriceAt, readAssetPrices } from './asset-prices.ts'
import type { Place } from './places.ts'
import type { Asked } from './read-statement.ts'
import type { Period } from './shares.ts'
import { LANES, refuseTooLong, type Stake, type StakePlace } from './stake.ts'
import {
  type Account,
  accountOf,
  type Ledger,
  type Method,
  type Movement,
  midnightsOf,
  opposite,
  sum,
  together,
} from './statement.ts'

/** A position that is no vault's in a statement, of all who have it together: units are what it counts in, at either end. */
export interface StatedStake {
  place: StakePlace
  /** Wallets, and accounts that they have in the protocol, that ever had it. */
  accounts: string[]
  openingUnits: bigint
  closingUnits: bigint
  account: Account
}

/** What the wallets lent, owed, pledged and held of terms and of liquidity, from the beginning or in a period. */
export async function readStakes(
  { places, method, ...period }: Asked,
  want: (place: StakePlace) => boolean,
  context: EndpointContext,
): Promise<StatedStake[]> {
  const stated = await Promise.all(
    places.map(async place => {
      const alive = inPlaces(await stakesIn(place, period, context)).filter(
        stakes => stakes.some(stake => isIn(stake, period)) && want(stakes[0]),
      )
      refuseTooLong(alive.flat().length * midnightsOf(period).length)
      const positions = alive.map(stakes => ({ asset: stakes[0].asset, times: timesOf(stakes, period) }))
      const pricesOf = await readAssetPrices(positions, context)
      return inLanes(LANES, alive, stakes =>
        statedOf(stakes, { ...period, method }, pricesOf(stakes[0].asset)),
      )
    }),
  )
  return stated.flat()
}

async function stakesIn(place: Place, { to }: Period, context: EndpointContext): Promise<Stake[]> {
  const { catalogue, shown } = context
  const { chain } = place
  const asked = (what: string) => ({ chain, accounts: place.accountsIn(what), to })
  const isVaultShown = (address: string) => {
    const vault = catalogue.find(chain, address)
    return vault !== undefined && shown.has(vault)
  }
  const isLent = catalogue.chain(chain, 'lending') !== undefined
  const lending = [...lendingFamilies]
    .filter(([slug]) => isLent && place.has(slug))
    .map(async ([slug, { stakes }]) =>
      stakes.read(await lendingMarkets(context, chain, slug), { ...asked(slug), isVaultShown }, context),
    )
  const found = await Promise.all([
    ...lending,
    place.has('fixedTerm') ? fixedTermStakes(asked('fixedTerm'), context) : [],
    place.has('amm') ? ammStakes(asked('amm'), context) : [],
  ])
  return found.flat()
}

/** Those of one place, of whatever accounts. */
type Shared = [Stake, ...Stake[]]

const inPlaces = (stakes: readonly Stake[]) =>
  [
    ...groupBy(stakes, ({ kind, id, address, asset }) =>
      [kind, id, address, asset.address].join(' '),
    ).values(),
  ] as Shared[]

async function statedOf(
  stakes: Shared,
  { method, ...period }: Period & { method: Method },
  priceAt: PriceAt,
): Promise<StatedStake> {
  const [place] = stakes
  const account = accountOf(await ledgerOf(stakes, period, priceAt), method)
  const units = (at: number) => stakes.reduce((all, stake) => all + unitsAt(stake, at), 0n)
  return {
    place,
    accounts: stakes.map(({ account: of }) => of).sort(),
    openingUnits: units(period.from),
    closingUnits: units(period.to),
    account: place.kind === 'debt' ? opposite(account) : account,
  }
}

const unitsAt = ({ steps }: Stake, at: number) => steps[lastIndexBy(steps, at)]?.units ?? 0n

/** Something was there when the period began, or moved in it. */
const isIn = (stake: Stake, { from, to }: Period) =>
  stake.steps.some(({ at }) => at > from && at <= to) || unitsAt(stake, from) !== 0n

const marksOf = (period: Period) => [...midnightsOf(period), period.from, period.to]

const timesOf = (stakes: Shared, period: Period) =>
  inOrder([...marksOf(period), ...stakes.flatMap(({ steps }) => steps.map(({ at }) => at))])

async function ledgerOf(stakes: Shared, { from, to }: Period, priceAt: PriceAt): Promise<Ledger> {
  const [{ asset }] = stakes
  const marks = marksOf({ from, to })
  const parts = await Promise.all(stakes.map(stake => partOf(stake, marks)))
  const mark = (at: number) => ({
    at,
    value: sum(...parts.map(({ valueAt }) => valueAt(at))),
    price: priceAt(at),
  })
  const moved = parts.flatMap(({ movementsAt }) => movementsAt(priceAt))
  const blocks = [...groupBy(moved, ({ block }) => block)].sort(([a], [b]) => a - b)
  return {
    assetDecimals: asset.decimals,
    movements: blocks.map(([, all]) =>
      together(all.map(({ movement }) => movement) as [Movement, ...Movement[]], ROUNDING),
    ),
    opening: mark(from),
    closing: mark(to),
    midnights: midnightsOf({ from, to }).map(mark),
  }
}

const inOrder = (times: readonly number[]) => [...new Set(times)].sort((a, b) => a - b)

/** What one account has at these moments, and what its steps did. */
async function partOf({ steps, values }: Stake, marks: readonly number[]) {
  const worthSince = await values(inOrder([...marks, ...steps.map(({ at }) => at)]))
  const worth = (step: number, at: number) => ((steps[step]?.units ?? 0n) === 0n ? 0n : worthSince(step, at))
  return {
    valueAt: (at: number) => worth(lastIndexBy(steps, at), at),
    movementsAt: (priceAt: PriceAt) =>
      steps.map((step, i) => {
        const units = steps[i - 1]?.units ?? 0n
        const was = { units, before: worth(i - 1, step.at), after: worth(i, step.at) }
        return { block: step.block, movement: movementOf(step, was, priceAt(step.at)) }
      }),
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
