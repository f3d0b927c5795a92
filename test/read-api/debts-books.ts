import { ETH, MORPHO_SEED, USD } from './debts-markets.ts'

/** How the markets of debts-world.ts reckon, as their contracts do. */

export const RAY = 10n ** 27n
export const UNIT = 10n ** 15n

export const up = (a: bigint, b: bigint) => (a + b - 1n) / b
export const less = (a: bigint, b: bigint) => (a < b ? a : b)
export const half = (a: bigint, b: bigint) => (a + b / 2n) / b

/** What one act or others' acts did to a position in a block; `moved`: what came or went at its worth, without its own act. */
export interface Deed {
  at: number
  in: bigint
  out: bigint
  moved: bigint
  /** The wallet that it came from or went to, where it was one. */
  with?: string | undefined
}

/** A position of a wallet as it was after each hour, and what happened to it; of a debt what is owed. */
export interface Place {
  kind: string
  protocol: string
  asset: string
  wallet: string
  values: { at: number; value: bigint }[]
  deeds: Deed[]
}

/** What wallets have of one kind in one market: units, and what so many are worth. */
export interface Book {
  kind: string
  protocol: string
  asset: string
  units: Map<string, bigint>
  worth(units: bigint, wallet: string): bigint
}

export function makeBooks() {
  const aave = { income: RAY, debt: RAY }
  const morpho = { ...MORPHO_SEED }
  const comet = { supply: UNIT, borrow: UNIT, lent: 0n, owed: 0n }
  const evk = { accumulator: RAY, owed: new Map<string, { owed: bigint; accumulator: bigint }>() }
  const amm = { total0: 10n ** 12n, total1: 10n ** 21n, supply: 10n ** 20n }
  const book = (kind: string, protocol: string, asset: string, worth: Book['worth']): Book => ({
    kind,
    protocol,
    asset,
    units: new Map(),
    worth,
  })
  const evkOwed = (who: string) => {
    const debt = evk.owed.get(who)
    return debt ? (debt.owed * evk.accumulator) / debt.accumulator : 0n
  }
  const books = {
    aaveLent: book('supplied', 'aave', ETH, units => half(units * aave.income, RAY)),
    aaveOwed: book('debt', 'aave', ETH, units => half(units * aave.debt, RAY)),
    morphoLent: book(
      'supplied',
      'morpho',
      USD,
      units => (units * (morpho.assets + 1n)) / (morpho.shares + 10n ** 6n),
    ),
    morphoOwed: book('debt', 'morpho', USD, units =>
      up(units * (morpho.owed + 1n), morpho.owedShares + 10n ** 6n),
    ),
    morphoPledged: book('collateral', 'morpho', ETH, units => units),
    cometLent: book('supplied', 'compound', USD, units => (units * comet.supply) / UNIT),
    cometOwed: book('debt', 'compound', USD, units => (units * comet.borrow) / UNIT),
    cometPledged: book('collateral', 'compound', ETH, units => units),
    evkOwed: book('debt', 'euler', USD, (_, who) => up(evkOwed(who), 1n << 31n)),
    principal: book('fixed-term', 'pendle', USD, units => units),
    liquidity0: book('amm', 'ichi', USD, units => (units * amm.total0) / amm.supply),
    liquidity1: book('amm', 'ichi', ETH, units => (units * amm.total1) / amm.supply),
  }
  return { aave, morpho, comet, evk, amm, books, evkOwed }
}
