import type { FoundVault } from '../catalogue/find-vault.ts'
import type { EndpointContext } from '../http/endpoint.ts'
import { RefusedError } from '../http/errors.ts'
import { ask } from '../moment/query.ts'
import { LAST_SECOND } from '../moment/time-range.ts'
import type { ShareDecimals, ShareState } from '../vaults/share-value.ts'
import { assetsOf, shareStateOf } from '../vaults/share-value.ts'
import { presentBalance } from './present-balances.ts'
import type { ReturnsSample } from './return-queries.ts'
import { balanceAfter, firstSample, flowTotals, sampleBefore, sharesSent } from './return-queries.ts'

/** A block and its time. */
type Edge = Pick<ReturnsSample, 'at' | 'block_number'>

const BEGINNING: Edge = { at: 0, block_number: 0 }
const NOW: Edge = { at: LAST_SECOND, block_number: Number.MAX_SAFE_INTEGER }

/** What went in and out between two moments, all in asset base units. */
export interface Account {
  /** Value of the shares held at the start and at the end. */
  opening: bigint
  closing: bigint
  deposited: bigint
  withdrawn: bigint
  /** Shares received less shares sent, at the share price of their blocks. */
  received: bigint
}

/** What was earned; below zero: lost. Windows that follow each other add up. */
export function returnsOf({ opening, closing, deposited, withdrawn, received }: Account): bigint {
  return closing + withdrawn - opening - deposited - received
}

/** What an account has earned with a vault in all its life, in asset base units; a closed position keeps it. */
export async function totalReturns(
  account: string,
  found: FoundVault,
  context: EndpointContext,
): Promise<bigint> {
  const asking = asker(account, found, context)
  const [closing, movements] = await Promise.all([asking.valueNow(), asking.movements(BEGINNING, NOW)])
  return returnsOf({ opening: 0n, closing, ...movements })
}

export interface PartialReturns {
  returns: bigint
  /** Unix seconds of the samples that the window begins and ends at. */
  from: number
  to: number
}

/**
 * What an account earned between two samples: the last ones at or before the edges of a window, or the first there is.
 * Movements in a sample's own block are before it.
 */
export async function partialReturns(
  account: string,
  found: FoundVault,
  window: { from: number; to: number },
  context: EndpointContext,
): Promise<PartialReturns> {
  const asking = asker(account, found, context)
  const [from, to] = await Promise.all([asking.sampleAt(window.from), asking.sampleAt(window.to)])
  if (!from || !to) throw new UnpricedError(found)
  const [opening, closing, movements] = await Promise.all([
    asking.valueAt(from, shareStateOf(from)),
    asking.valueAt(to, shareStateOf(to)),
    asking.movements(from, to),
  ])
  return { returns: returnsOf({ opening, closing, ...movements }), from: from.at, to: to.at }
}

class UnpricedError extends RefusedError {
  constructor({ vault }: FoundVault) {
    super(
      `The share price of ${vault.state.address} was never read: what its shares were worth is not known.`,
    )
  }
}

function asker(account: string, found: FoundVault, context: EndpointContext) {
  const { signal } = context
  const { clickhouse } = context.deps
  const { vault, pinned } = found
  const decimals: ShareDecimals = { decimals: vault.state.decimals, assetDecimals: vault.asset.decimals }
  const of = { ...pinned, account }

  const worth = (shares: bigint, state: ShareState | undefined): bigint => {
    const value = state ? assetsOf(shares, state, decimals) : shares === 0n ? 0n : undefined
    if (value === undefined) throw new UnpricedError(found)
    return value
  }

  const first = async () => (await ask(clickhouse, firstSample, of, signal))[0]

  return {
    /** At the catalogue's state, unless the vault did not answer when it was last asked. */
    async valueNow(): Promise<bigint> {
      const { sample } = vault.state
      const [shares, last] = await Promise.all([
        presentBalance(account, pinned, context),
        sample?.sharePriceRaw === undefined ? this.sampleAt(LAST_SECOND) : undefined,
      ])
      return worth(shares, last ? shareStateOf(last) : sample)
    },

    async sampleAt(at: number): Promise<ReturnsSample | undefined> {
      const [sample] = await ask(clickhouse, sampleBefore, { ...of, at }, signal)
      return sample ?? (await first())
    },

    async valueAt(edge: Edge, state: ShareState): Promise<bigint> {
      const [row] = await ask(
        clickhouse,
        balanceAfter,
        { ...of, at: edge.at, until: edge.block_number },
        signal,
      )
      return worth(BigInt(row?.balance ?? 0), state)
    },

    /** After the first block, up to the second. */
    async movements(from: Edge, to: Edge) {
      const range = { ...of, after: from.block_number, until: to.block_number, since: from.at, at: to.at }
      const [totals] = await ask(clickhouse, flowTotals, range, signal)
      let received = 0n
      if (totals && totals.transfers > 0) {
        const rows = await ask(
          clickhouse,
          sharesSent,
          { ...range, whole_share: `${10n ** BigInt(decimals.decimals)}` },
          signal,
        )
        // Shares that moved before the first sample are worth what it says.
        const fallback = rows.some(row => row.share_price_raw === null) ? await first() : undefined
        for (const row of rows) {
          const state = row.share_price_raw === null ? fallback : row
          received += worth(BigInt(row.sent), state && shareStateOf(state))
        }
      }
      return {
        deposited: BigInt(totals?.deposited ?? 0),
        withdrawn: BigInt(totals?.withdrawn ?? 0),
        received,
      }
    },
  }
}
