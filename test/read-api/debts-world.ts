import type { BlockEvents } from '../../db/events/event-store.ts'
import type { DomainEvent } from '../../db/events/vocabulary.ts'
import { type Book, half, less, makeBooks, type Place, RAY, UNIT, up } from './debts-books.ts'
import {
  A_TOKEN,
  beginning,
  COMET,
  DEBT_TOKEN,
  ETH,
  LENDER,
  LP,
  MORPHO,
  MORPHO_MARKET,
  POOL,
  PT,
  PT_MARKET,
  SECURES,
} from './debts-markets.ts'
import { mulberry, WALLETS } from './portfolio-world.ts'
import { HOUR, START } from './world.ts'

/** Wallets that lend, borrow and pledge in a market of each protocol, and hold principal tokens and shares of liquidity. */

const ZERO = `0x${'0'.repeat(40)}`
export const HOURS = 12 * 24

export function makeDebtsWorld(seed: number): { blocks: BlockEvents[]; places: Place[] } {
  const random = mulberry(seed)
  const dice = (n: number) => Math.floor(random() * n)
  const wallet = () => WALLETS[dice(WALLETS.length)] ?? ''
  const some = (amount: bigint) => (amount * BigInt(1 + dice(1_000))) / 1_000n
  const { aave, morpho, comet, evk, amm, books, evkOwed } = makeBooks()
  const places = new Map<string, Place>()
  const placeOf = (of: Book, who: string) => {
    const key = `${of.kind} ${of.protocol} ${of.asset} ${who}`
    const { kind, protocol, asset } = of
    const place = places.get(key) ?? { kind, protocol, asset, wallet: who, values: [], deeds: [] }
    places.set(key, place)
    return place
  }
  const has = (of: Book, who: string) => of.units.get(who) ?? 0n
  const worthOf = (of: Book, who: string) => of.worth(has(of, who), who)
  const set = (of: Book, who: string, units: bigint) => of.units.set(who, units)
  const add = (of: Book, who: string, units: bigint) => set(of, who, has(of, who) + units)

  let logs = 0
  const blocks: BlockEvents[] = []
  for (let hour = 0; hour < HOURS; hour++) {
    const at = START + hour * HOUR
    const number = 1_000 + hour
    const events: DomainEvent[] = []
    const tell = (protocol: string) => (contract: string, type: string, data: object) => {
      const transactionHash = `0x${(++logs).toString(16).padStart(64, '0')}`
      events.push({ protocol, contract, type, data, logIndex: logs, transactionHash } as DomainEvent)
    }
    const [aaveTell, morphoTell, cometTell, evkTell] = [
      'aave-v3',
      'morpho-blue',
      'compound-v3',
      'euler-v2',
    ].map(tell)
    const [ptTell, ammTell] = [tell('pendle-v2'), tell('ichi')]
    if (!aaveTell || !morphoTell || !cometTell || !evkTell) throw new Error('no protocol')
    if (hour === 0) events.push(...beginning(at))

    // Interest of the hour, before anything else happens in it.
    aave.income += aave.income / 3_000n
    aave.debt += aave.debt / 2_000n
    aaveTell(POOL, 'RateUpdated', {
      market: ETH,
      liquidityRateRay: 0n,
      variableBorrowRateRay: 0n,
      liquidityIndexRay: aave.income,
      variableBorrowIndexRay: aave.debt,
    })
    const interest = morpho.owed / 1_500n
    morpho.owed += interest
    morpho.assets += interest
    morphoTell(MORPHO, 'InterestAccrued', {
      market: MORPHO_MARKET,
      interest,
      feeShares: 0n,
      previousBorrowRateWad: 0n,
    })
    comet.supply += comet.supply / 4_000n
    comet.borrow += comet.borrow / 2_500n
    evk.accumulator += evk.accumulator / 1_800n
    amm.total0 += amm.total0 / 900n
    amm.total1 -= amm.total1 / 1_100n

    const before = Object.values(books).flatMap(of =>
      WALLETS.map(who => ({ of, who, units: has(of, who), worth: worthOf(of, who) })),
    )
    const paid = new Map<Place, { in: bigint; out: bigint }>()
    const pay = (of: Book, who: string, flow: { in?: bigint; out?: bigint }) => {
      const place = placeOf(of, who)
      const so = paid.get(place) ?? { in: 0n, out: 0n }
      paid.set(place, { in: so.in + (flow.in ?? 0n), out: so.out + (flow.out ?? 0n) })
    }
    /** Who gave it to whom, of a position that one wallet handed to another. */
    const passed = new Map<Place, string>()
    const pass = (of: Book, from: string, to: string) =>
      passed.set(placeOf(of, from), to).set(placeOf(of, to), from)
    /** Positions whose flows are what came and went, whatever that was worth. */
    const atWorth = new Set<Place>()

    const acts: (() => void)[] = [
      function aaveLend() {
        const [who, other, held] = [wallet(), wallet(), books.aaveLent]
        const mint = (amount: bigint, isMint: boolean) => {
          const scaled = half(amount * RAY, aave.income)
          add(held, who, isMint ? scaled : -scaled)
          aaveTell(A_TOKEN, isMint ? 'ScaledMinted' : 'ScaledBurned', {
            side: 'supply',
            caller: who,
            onBehalf: who,
            from: who,
            target: who,
            value: amount,
            balanceIncrease: 0n,
            indexRay: aave.income,
          })
          aaveTell(POOL, isMint ? 'Supplied' : 'Withdrawn', {
            market: ETH,
            sender: who,
            onBehalf: who,
            receiver: who,
            assets: amount,
          })
          pay(held, who, isMint ? { in: amount } : { out: amount })
        }
        if (has(held, who) > 10n && dice(3) === 0 && other !== who) {
          const scaledValue = some(has(held, who))
          add(held, who, -scaledValue)
          add(held, other, scaledValue)
          pass(held, who, other)
          aaveTell(A_TOKEN, 'ScaledTransferred', { from: who, to: other, scaledValue, indexRay: aave.income })
        } else if (dice(2) === 0) mint(some(10n ** 19n), true)
        else if (worthOf(held, who) > 10n) mint(some(worthOf(held, who) - 5n), false)
      },
      function aaveBorrow() {
        const [who, held] = [wallet(), books.aaveOwed]
        const owed = worthOf(held, who)
        const isMint = owed < 10n || dice(2) === 0
        const amount = isMint ? some(10n ** 19n) : dice(3) === 0 ? owed : some(owed)
        const scaled = less(half(amount * RAY, aave.debt), isMint ? 10n ** 40n : has(held, who))
        const burned = amount === owed && !isMint ? has(held, who) : scaled
        add(held, who, isMint ? scaled : -burned)
        aaveTell(DEBT_TOKEN, isMint ? 'ScaledMinted' : 'ScaledBurned', {
          side: 'variableDebt',
          caller: who,
          onBehalf: who,
          from: who,
          value: amount,
          balanceIncrease: 0n,
          indexRay: aave.debt,
          scaledChange: isMint ? scaled : -burned,
        })
        if (!isMint && dice(3) === 0) {
          // Somebody else repays, for the collateral.
          aaveTell(POOL, 'Liquidated', {
            market: ETH,
            collateralMarket: ETH,
            liquidator: LENDER.vault,
            borrower: who,
            repaidAssets: amount,
            seizedAssets: 0n,
          })
          return
        }
        aaveTell(POOL, isMint ? 'Borrowed' : 'Repaid', {
          market: ETH,
          sender: who,
          onBehalf: who,
          assets: amount,
        })
        pay(held, who, isMint ? { in: amount } : { out: amount })
      },
      function morphoLend() {
        const [who, held] = [wallet(), books.morphoLent]
        const isIn = has(held, who) === 0n || dice(2) === 0
        const shares = isIn ? 0n : dice(2) === 0 ? has(held, who) : some(has(held, who))
        const assets = isIn ? some(10n ** 12n) : held.worth(shares, who)
        const moved = isIn ? (assets * (morpho.shares + 10n ** 6n)) / (morpho.assets + 1n) : shares
        morpho.assets += isIn ? assets : -assets
        morpho.shares += isIn ? moved : -moved
        add(held, who, isIn ? moved : -moved)
        pay(held, who, isIn ? { in: assets } : { out: assets })
        morphoTell(MORPHO, isIn ? 'Supplied' : 'Withdrawn', {
          market: MORPHO_MARKET,
          sender: who,
          onBehalf: who,
          receiver: who,
          assets,
          shares: moved,
        })
      },
      function morphoBorrow() {
        const [who, held, pledged] = [wallet(), books.morphoOwed, books.morphoPledged]
        const assets = some(10n ** 19n)
        if (dice(3) === 0) {
          add(pledged, who, assets)
          pay(pledged, who, { in: assets })
          morphoTell(MORPHO, 'CollateralSupplied', {
            market: MORPHO_MARKET,
            sender: who,
            onBehalf: who,
            assets,
          })
          return
        }
        const isIn = has(held, who) === 0n || dice(2) === 0
        const shares = isIn ? 0n : dice(2) === 0 ? has(held, who) : some(has(held, who))
        const amount = isIn ? some(10n ** 11n) : held.worth(shares, who)
        const moved = isIn ? up(amount * (morpho.owedShares + 10n ** 6n), morpho.owed + 1n) : shares
        const isTaken = !isIn && has(pledged, who) > 0n && dice(2) === 0
        morpho.owed = isIn ? morpho.owed + amount : morpho.owed > amount ? morpho.owed - amount : 0n
        morpho.owedShares += isIn ? moved : -moved
        add(held, who, isIn ? moved : -moved)
        if (isTaken) {
          const seizedAssets = some(has(pledged, who))
          add(pledged, who, -seizedAssets)
          morphoTell(MORPHO, 'Liquidated', {
            market: MORPHO_MARKET,
            liquidator: LENDER.vault,
            borrower: who,
            repaidAssets: amount,
            repaidShares: moved,
            seizedAssets,
            badDebtAssets: 0n,
            badDebtShares: 0n,
          })
          return
        }
        pay(held, who, isIn ? { in: amount } : { out: amount })
        morphoTell(MORPHO, isIn ? 'Borrowed' : 'Repaid', {
          market: MORPHO_MARKET,
          sender: who,
          onBehalf: who,
          receiver: who,
          assets: amount,
          shares: moved,
        })
      },
      function cometMove() {
        const [who, other] = [wallet(), wallet()]
        const [lent, owed, pledged] = [books.cometLent, books.cometOwed, books.cometPledged]
        if (dice(4) === 0) {
          const isIn = has(pledged, who) === 0n || dice(2) === 0
          const assets = isIn ? some(10n ** 19n) : some(has(pledged, who))
          const isSent = !isIn && other !== who && dice(2) === 0
          add(pledged, who, isIn ? assets : -assets)
          const data = { market: COMET, asset: ETH, assets, sender: who, onBehalf: who, receiver: who }
          if (isSent) {
            add(pledged, other, assets)
            pass(pledged, who, other)
            cometTell(COMET, 'CollateralTransferred', {
              market: COMET,
              asset: ETH,
              assets,
              from: who,
              to: other,
            })
            return
          }
          pay(pledged, who, isIn ? { in: assets } : { out: assets })
          cometTell(COMET, isIn ? 'CollateralSupplied' : 'CollateralWithdrawn', data)
          return
        }
        // What is paid in repays first, what is taken out is taken from what was lent first.
        const isIn = dice(2) === 0
        const [from, to] = isIn ? [owed, lent] : [lent, owed]
        const amount = some(10n ** 10n) + (dice(2) === 0 ? worthOf(from, who) : 0n)
        const first = less(amount, worthOf(from, who))
        const rest = amount - first
        const index = (of: Book) => (of === lent ? comet.supply : comet.borrow)
        const left = worthOf(from, who) - first
        set(from, who, from === lent ? (left * UNIT) / index(from) : up(left * UNIT, index(from)))
        if (rest > 0n) {
          const now = worthOf(to, who) + rest
          set(to, who, to === lent ? (now * UNIT) / index(to) : up(now * UNIT, index(to)))
        }
        const data = { market: COMET, sender: who, onBehalf: who, receiver: who }
        if (first > 0n) {
          pay(from, who, { out: first })
          cometTell(COMET, isIn ? 'Repaid' : 'Withdrawn', { ...data, assets: first })
        }
        if (rest > 0n) {
          pay(to, who, { in: rest })
          cometTell(COMET, isIn ? 'Supplied' : 'Borrowed', { ...data, assets: rest })
        }
        cometTell(COMET, 'PrincipalSampled', {
          market: COMET,
          account: who,
          principal: has(lent, who) - has(owed, who),
        })
      },
      function evkMove() {
        const [who, held] = [wallet(), books.evkOwed]
        const owed = worthOf(held, who)
        const isIn = owed === 0n || dice(2) === 0
        const assets = isIn ? some(10n ** 11n) : dice(2) === 0 ? owed : some(owed)
        const now = isIn
          ? evkOwed(who) + (assets << 31n)
          : assets === owed
            ? 0n
            : evkOwed(who) - (assets << 31n)
        evk.owed.set(who, { owed: now, accumulator: evk.accumulator })
        set(held, who, now)
        pay(held, who, isIn ? { in: assets } : { out: assets })
        const market = LENDER.vault
        evkTell(market, isIn ? 'Borrowed' : 'Repaid', { market, sender: who, onBehalf: who, assets })
        evkTell(market, 'DebtSampled', { market, account: who, owed: now, accumulatorRay: evk.accumulator })
      },
      function principalMove() {
        const [who, other, held] = [wallet(), wallet(), books.principal]
        const isIn = has(held, who) === 0n || dice(2) === 0
        const amount = isIn ? some(10n ** 11n) : some(has(held, who))
        if (!isIn && other !== who && dice(2) === 0) {
          add(held, who, -amount)
          add(held, other, amount)
          pass(held, who, other)
          ptTell(PT, 'PrincipalTransferred', { from: who, to: other, amount })
          return
        }
        add(held, who, isIn ? amount : -amount)
        ptTell(
          PT,
          'PrincipalTransferred',
          isIn ? { from: PT_MARKET, to: who, amount } : { from: who, to: PT_MARKET, amount },
        )
        ptTell(PT_MARKET, 'PrincipalSwapped', {
          caller: who,
          receiver: who,
          ptOut: isIn ? amount : -amount,
          syOut: 0n,
          syFee: 0n,
          syToReserve: 0n,
        })
        atWorth.add(placeOf(held, who))
      },
      function liquidityMove() {
        const [who, other, held] = [wallet(), wallet(), books.liquidity0]
        const isIn = has(held, who) === 0n || dice(2) === 0
        const shares = isIn ? some(10n ** 18n) : some(has(held, who))
        const move = (to: string, by: bigint) => {
          add(held, to, by)
          set(books.liquidity1, to, has(held, to))
        }
        if (!isIn && other !== who && dice(2) === 0) {
          move(who, -shares)
          move(other, shares)
          for (const of of [held, books.liquidity1]) pass(of, who, other)
          ammTell(LP, 'AmmShareTransferred', { from: who, to: other, shares })
          return
        }
        const amounts = {
          amount0: (shares * amm.total0) / amm.supply,
          amount1: (shares * amm.total1) / amm.supply,
        }
        const sign = isIn ? 1n : -1n
        amm.total0 += sign * amounts.amount0
        amm.total1 += sign * amounts.amount1
        amm.supply += sign * shares
        move(who, sign * shares)
        ammTell(
          LP,
          'AmmShareTransferred',
          isIn ? { from: ZERO, to: who, shares } : { from: who, to: ZERO, shares },
        )
        ammTell(LP, isIn ? 'AmmDeposited' : 'AmmWithdrawn', { sender: who, to: who, shares, ...amounts })
        atWorth.add(placeOf(held, who)).add(placeOf(books.liquidity1, who))
      },
    ]
    if (hour > 0 && hour % 2 === 0) for (const act of acts) if (dice(3) > 0) act()

    cometTell(COMET, 'CometStateSampled', {
      market: COMET,
      supplyIndex: comet.supply,
      borrowIndex: comet.borrow,
      supplyPrincipal: 10n ** 12n,
      borrowPrincipal: 10n ** 11n,
      updatedAt: at,
      pauseFlags: 0,
      reserves: 0n,
    })
    const status = {
      totalShares: 10n ** 13n,
      totalBorrows: 10n ** 12n,
      cash: 10n ** 13n,
      accumulatedFees: 0n,
      interestRateRay: 0n,
    }
    for (const { vault } of [LENDER, SECURES])
      evkTell(vault, 'VaultStatusChanged', { market: vault, ...status, accumulatorRay: evk.accumulator })
    ptTell(PT_MARKET, 'FixedTermStateSampled', {
      totalPt: 10n ** 12n,
      totalSy: 10n ** 12n,
      totalLp: 10n ** 12n,
      lnRateWad: 0n,
      exchangeRate: 10n ** 18n,
      pyIndex: 10n ** 18n,
    })
    ammTell(LP, 'AmmVaultSampled', {
      total0: amm.total0,
      total1: amm.total1,
      supply: amm.supply,
      sqrtPriceX96: 1n << 96n,
    })
    for (const { of, who, units, worth } of before) {
      const place = placeOf(of, who)
      const value = worthOf(of, who)
      place.values.push({ at, value })
      const flow = paid.get(place)
      // Rounding by what others did in the block is no act of this one.
      const change = value - (of === books.evkOwed ? worth : of.worth(units, who))
      if (atWorth.has(place))
        place.deeds.push({
          at,
          in: change > 0n ? change : 0n,
          out: change < 0n ? -change : 0n,
          moved: 0n,
        })
      else if (flow) {
        const rest = change - flow.in + flow.out
        place.deeds.push({ at, ...flow, moved: rest > 10n || rest < -10n ? rest : 0n })
      } else if (change !== 0n)
        place.deeds.push({ at, in: 0n, out: 0n, moved: change, with: passed.get(place) })
    }
    blocks.push({
      block: { number, hash: `0x${number.toString(16).padStart(64, '0')}`, timestamp: at },
      events,
    })
  }
  return { blocks, places: [...places.values()] }
}
