import { functions as token } from '../../abi/erc4626/Vault.ts'
import { encodeCall } from '../../abi/words.ts'
import { isUnknownToNode, StateMissingError } from '../../db/chain/errors.ts'
import type { BlockEvents, BlockRef } from '../../db/events/event-store.ts'
import type { DomainEvent } from '../../db/events/vocabulary.ts'
import type { DeadLetter, Handled } from '../handling/block.ts'
import { answered, asWord } from '../samples/answers.ts'
import type { ChainRpc } from '../source/rpc.ts'
import type { BalanceBudget } from './balance-budget.ts'

/** Owners asked about in one vault and block: a contract may log as many as it likes. */
const MOST_OWNERS = 100
/** Gas for one balance in a vault that nobody listed: one that is worked out, as a rebasing token's, takes a fifth of it. */
const BALANCE_GAS = 500_000
/** Blocks that are settled together: one after the other, each would cost its round trips. */
const BLOCKS_AT_ONCE = 10

/** What one owner of shares did in one block by events that may or may not have moved the shares. */
interface Doubt {
  vault: string
  owner: string
  /** Deposits and redemptions without a transfer of their own. */
  open: DomainEvent[]
  /** Shares that they say came, less those that went. */
  stated: bigint
  /** Shares that transfers brought, less those that they took. */
  transferred: bigint
}

/**
 * A deposit or redemption without a transfer either moves shares itself (sDAI) or was logged with a request whose shares
 * come with another transaction, maybe another number of them (Umami). The vault's own balances of the owner before and
 * after the block tell which. Where a node has no such state they are taken to move: the total of the ledger is held
 * against each sampled supply anyhow.
 */
export async function settleByBalances(
  { output, letters }: Pick<Handled, 'output' | 'letters'>,
  rpc: ChainRpc,
  budget?: BalanceBudget,
): Promise<void> {
  const inOrder = [...output].sort((a, b) => a.block.number - b.block.number)
  const doubtful = inOrder.flatMap(entry => {
    const doubts = doubtsOf(entry.events).filter(
      ({ vault, owner }) => budget?.admits(vault, owner, entry.block, letters) ?? true,
    )
    return doubts.length > 0 ? [{ entry, doubts }] : []
  })
  for (let i = 0; i < doubtful.length; i += BLOCKS_AT_ONCE) {
    const some = doubtful.slice(i, i + BLOCKS_AT_ONCE)
    const grown = await Promise.all(
      some.map(({ entry, doubts }) => growthOf(doubts, entry.block, rpc, budget)),
    )
    for (const [n, { entry, doubts }] of some.entries()) {
      const growth = grown[n]
      if (growth) settle(entry, doubts, growth, letters)
    }
  }
}

/** Says of one block's doubtful events what the balances say; `grown`: of each doubt, by how much its balance grew. */
function settle(
  entry: BlockEvents,
  doubts: readonly Doubt[],
  grown: readonly (bigint | undefined)[],
  letters: DeadLetter[],
): void {
  const moved = new Map<DomainEvent, DomainEvent>()
  for (const [i, { vault, owner, open, stated, transferred }] of doubts.entries()) {
    const growth = grown[i]
    if (growth === undefined || stated === 0n) continue
    const unsaid = growth - transferred
    if (distance(unsaid, 0n) < distance(unsaid, stated)) {
      for (const event of open)
        moved.set(event, { ...event, data: { ...event.data, ledger: 'transfer' } } as DomainEvent)
    }
    if (unsaid === 0n || unsaid === stated) continue
    const reason = `the balance of ${owner} moved by ${growth} shares, of which transfers say ${transferred} and deposits and redemptions without one ${stated}`
    letters.push({ stage: 'sample', block: entry.block, contract: vault, reason })
  }
  if (moved.size > 0) entry.events = entry.events.map(event => moved.get(event) ?? event)
}

const distance = (a: bigint, b: bigint) => (a > b ? a - b : b - a)

function doubtsOf(events: readonly DomainEvent[]): Doubt[] {
  const doubts = new Map<string, Doubt>()
  const owners = new Map<string, number>()
  for (const event of events) {
    if (event.type !== 'Deposited' && event.type !== 'Redeemed') continue
    const { ledger, indexRay, supplyIndex, owner, shares } = event.data
    // Shares of lending markets are the market's own units: no log of theirs is a request.
    if (ledger !== 'self' || indexRay !== undefined || supplyIndex !== undefined) continue
    const vault = event.contract
    const key = `${vault} ${owner}`
    const doubt = doubts.get(key) ?? { vault, owner, open: [], stated: 0n, transferred: 0n }
    if (!doubts.has(key)) {
      const count = (owners.get(vault) ?? 0) + 1
      owners.set(vault, count)
      if (count > MOST_OWNERS) continue
      doubts.set(key, doubt)
    }
    doubt.open.push(event)
    doubt.stated += event.type === 'Deposited' ? shares : -shares
  }
  if (doubts.size === 0) return []
  for (const event of events) {
    if (event.type !== 'ShareTransferred') continue
    const { from, to, shares } = event.data
    const giver = doubts.get(`${event.contract} ${from}`)
    const taker = doubts.get(`${event.contract} ${to}`)
    if (giver) giver.transferred -= shares
    if (taker) taker.transferred += shares
  }
  return [...doubts.values()]
}

/** By how much each balance grew in the block; undefined where the node has no such state. */
async function growthOf(
  doubts: readonly Doubt[],
  block: BlockRef,
  rpc: ChainRpc,
  budget: BalanceBudget | undefined,
): Promise<(bigint | undefined)[] | undefined> {
  const isTrusted = ({ vault }: Doubt) => budget?.isListed(vault) ?? true
  const balancesAt = async (at: BlockRef): Promise<(bigint | undefined)[]> => {
    const balances = new Map<Doubt, bigint>()
    const ask = async (some: readonly Doubt[], gas?: number) => {
      const calls = some.map(({ vault, owner }) => ({ to: vault, data: encodeCall(token.balanceOf, owner) }))
      for (const [i, answer] of (await rpc.calls(calls, at, undefined, gas)).entries()) {
        const balance = answered(answer, asWord)
        const doubt = some[i]
        if (doubt && balance !== undefined) balances.set(doubt, balance)
      }
    }
    const others = doubts.filter(doubt => !isTrusted(doubt))
    await Promise.all([ask(doubts.filter(isTrusted)), ask(others, BALANCE_GAS)])
    return doubts.map(doubt => balances.get(doubt))
  }
  try {
    const parent = await rpc.header(block.number - 1)
    if (!parent) return undefined
    const [had, has] = await Promise.all([balancesAt(parent), balancesAt(block)])
    const silent = doubts.flatMap(({ vault }, i) => (had[i] === undefined ? [vault] : []))
    // Before the vault was made nobody had any.
    const existed = new Set(await withCode(silent, parent.number, rpc))
    return doubts.map(({ vault }, i) => {
      const now = has[i]
      const earlier = had[i] ?? (existed.has(vault) ? undefined : 0n)
      return now === undefined || earlier === undefined ? undefined : now - earlier
    })
  } catch (error) {
    if (error instanceof StateMissingError) return undefined
    throw error
  }
}

/** Those of these contracts that exist at a height, and where the node cannot tell, all of them. */
async function withCode(
  contracts: readonly string[],
  height: number,
  rpc: ChainRpc,
): Promise<readonly string[]> {
  if (contracts.length === 0) return []
  try {
    return await rpc.codeAt([...new Set(contracts)], height)
  } catch (error) {
    if (isUnknownToNode(error)) return contracts
    throw error
  }
}
