import type { Vault } from './vault.ts'
import type { Window } from './vault-state.ts'

export const SORT_KEYS = ['tvl', 'apy1hour', 'apy1day', 'apy7day', 'apy30day'] as const
export type SortKey = (typeof SORT_KEYS)[number]

const WINDOW_OF: Record<Exclude<SortKey, 'tvl'>, Window> = {
  apy1hour: '1hour',
  apy1day: '1day',
  apy7day: '7day',
  apy30day: '30day',
}

function figureOf(vault: Vault, key: SortKey): number | undefined {
  const value = key === 'tvl' ? vault.tvlUsd : vault.totalApy(WINDOW_OF[key])
  return value === undefined || Number.isNaN(value) ? undefined : value
}

/** By chain, then address: the order of lists that are not sorted, and of equals in those that are. */
export function byIdentity(a: Vault, b: Vault): number {
  if (a.state.chainId !== b.state.chainId) return a.state.chainId - b.state.chainId
  return a.state.address < b.state.address ? -1 : a.state.address > b.state.address ? 1 : 0
}

/** Ascending or descending, the unknown last either way. */
export function compareFigures(a: number | undefined, b: number | undefined, order: 'asc' | 'desc'): number {
  if (a === undefined || b === undefined) return Number(a === undefined) - Number(b === undefined)
  return order === 'asc' ? a - b : b - a
}

/** Vaults in ascending order of one figure, those whose figure is unknown apart: they come last either way. */
export interface Order {
  readonly known: readonly Vault[]
  readonly unknown: readonly Vault[]
}

export const EMPTY_ORDER: Order = { known: [], unknown: [] }

/** A vault as it was and as it is; one of them is absent where it came or went. */
export interface Move {
  from: Vault | undefined
  to: Vault | undefined
}

/** More moves than this are sorted anew: each costs a shift of the whole list. */
const FEW = 400

/**
 * A sorted list after some vaults changed. What did not change keeps its place, so that an advance by a block costs
 * a few shifts and not a sort. `compare` is a total order.
 */
export function reorder(
  list: readonly Vault[],
  moves: readonly Move[],
  compare: (a: Vault, b: Vault) => number,
): readonly Vault[] {
  if (moves.length === 0) return list
  if (moves.length > FEW) {
    const gone = new Set(moves.map(({ from }) => from))
    const rest = list.filter(vault => !gone.has(vault))
    return [...rest, ...moves.map(({ to }) => to).filter(vault => vault !== undefined)].sort(compare)
  }
  const result = list.slice()
  for (const { from, to } of moves) {
    if (from) {
      const at = placeOf(result, from, compare)
      if (result[at] === from) result.splice(at, 1)
    }
    if (to) result.splice(placeOf(result, to, compare), 0, to)
  }
  return result
}

/** The first place whose vault is not before this one. */
function placeOf(list: readonly Vault[], vault: Vault, compare: (a: Vault, b: Vault) => number): number {
  let low = 0
  let high = list.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (compare(list[middle] as Vault, vault) < 0) low = middle + 1
    else high = middle
  }
  return low
}

/** The same for the order by a figure: vaults may become known and unknown. */
export function reorderBy(order: Order, key: SortKey, moves: readonly Move[]): Order {
  const known = (vault: Vault | undefined) =>
    vault !== undefined && figureOf(vault, key) !== undefined ? vault : undefined
  const unknown = (vault: Vault | undefined) =>
    vault !== undefined && figureOf(vault, key) === undefined ? vault : undefined
  const only = (pick: typeof known) =>
    moves
      .map(({ from, to }) => ({ from: pick(from), to: pick(to) }))
      .filter(({ from, to }) => from !== undefined || to !== undefined)
  return {
    known: reorder(
      order.known,
      only(known),
      (a, b) => (figureOf(a, key) as number) - (figureOf(b, key) as number) || byIdentity(a, b),
    ),
    unknown: reorder(order.unknown, only(unknown), byIdentity),
  }
}

const whole = new WeakMap<Order, { asc?: readonly Vault[]; desc?: readonly Vault[] }>()

/** Vaults in an order and direction, the unknown last. Put together once per order. */
export function inOrder(order: Order, direction: 'asc' | 'desc'): readonly Vault[] {
  const lists = whole.get(order) ?? {}
  whole.set(order, lists)
  lists[direction] ??= (direction === 'asc' ? order.known : order.known.toReversed()).concat(order.unknown)
  return lists[direction]
}
