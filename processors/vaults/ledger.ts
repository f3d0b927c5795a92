import type { DomainEvent } from '../../db/events/vocabulary.ts'
import { ZERO_ADDRESS } from '../../db/units.ts'

type Deposited = DomainEvent<'Deposited'>
type Redeemed = DomainEvent<'Redeemed'>
type ShareTransferred = DomainEvent<'ShareTransferred'>

/** Whether a transfer is the one that moved the shares of a deposit or redemption. */
type Match<E> = (transfer: ShareTransferred, event: E, vault: string) => boolean

const isMint = (t: ShareTransferred) => t.data.from === ZERO_ADDRESS
const isBurn = (t: ShareTransferred) => t.data.to === ZERO_ADDRESS

/**
 * From the exact to the loose. Each transfer serves one event, and every event gets its try at an exact match before
 * any gets one at a looser match, so that equal deposits and fee mints in one transaction do not take each other's.
 */
const DEPOSIT_MATCHES: Match<Deposited>[] = [
  // The mint of ERC-4626.
  (t, { data }) => isMint(t) && t.data.to === data.owner && t.data.shares === data.shares,
  // A claim of shares that the vault had minted to itself when the request was settled (ERC-7540).
  (t, { data }, vault) => t.data.from === vault && t.data.to === data.owner && t.data.shares === data.shares,
  // Minted to another receiver than the event names.
  (t, { data }) => isMint(t) && t.data.shares === data.shares,
  // Minted to the owner, less or more than the event says: a fee in shares.
  (t, { data }) => isMint(t) && t.data.to === data.owner,
]

const REDEEM_MATCHES: Match<Redeemed>[] = [
  (t, { data }) => isBurn(t) && t.data.from === data.owner && t.data.shares === data.shares,
  (t, { data }, vault) => t.data.to === vault && t.data.from === data.owner && t.data.shares === data.shares,
  (t, { data }) => isBurn(t) && t.data.shares === data.shares,
  (t, { data }) => isBurn(t) && t.data.from === data.owner,
]

/**
 * Says of every deposit and redemption whether a share transfer of its own moves the shares, or (sDAI) none does and
 * the event itself has to. One that says so already (a claim of ERC-7540) takes no transfer from the others. `events`: all
 * of one transaction on one vault. Pure; gives new events, in the same order.
 */
export function settleLedgers(events: readonly DomainEvent[]): DomainEvent[] {
  const isOpen = ({ data }: Deposited | Redeemed) => data.ledger === 'self'
  const deposits = events.filter((e): e is Deposited => e.type === 'Deposited' && isOpen(e))
  const redemptions = events.filter((e): e is Redeemed => e.type === 'Redeemed' && isOpen(e))
  if (deposits.length === 0 && redemptions.length === 0) return [...events]
  const free = new Set(events.filter((e): e is ShareTransferred => e.type === 'ShareTransferred'))
  const moved = new Set<DomainEvent>([
    ...settle(deposits, free, DEPOSIT_MATCHES),
    ...settle(redemptions, free, REDEEM_MATCHES),
  ])
  return events.map(event => {
    if (!moved.has(event)) return event
    return { ...event, data: { ...event.data, ledger: 'transfer' } } as DomainEvent
  })
}

function settle<E extends Deposited | Redeemed>(
  events: readonly E[],
  free: Set<ShareTransferred>,
  matches: readonly Match<E>[],
): E[] {
  let open = [...events]
  const moved: E[] = []
  for (const match of matches) {
    open = open.filter(event => {
      for (const transfer of free) {
        if (!match(transfer, event, event.contract)) continue
        free.delete(transfer)
        moved.push(event)
        return false
      }
      return true
    })
    if (open.length === 0 || free.size === 0) break
  }
  return moved
}
