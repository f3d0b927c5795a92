import { groupBy } from '../../db/group-by.ts'
import type { EndpointContext } from '../http/endpoint.ts'
import { fixedTermFamilies } from '../load-protocols.ts'
import { inChunks } from '../moment/chunks.ts'
import { lastBy } from '../moment/last-by.ts'
import { ask } from '../moment/query.ts'
import { inTimes } from '../moment/states-at.ts'
import { ROW_LIMIT, refuseTooMany, type Stake, type StakeStep } from '../portfolio/stake.ts'
import { fixedTermMarketsOf, stateOf } from './book.ts'
import { type FixedTermMarket, rescaled } from './market.ts'
import { fixedTermStatesAt, principalByBlock, principalHeld } from './queries.ts'
import { protocolOf } from './wire.ts'

/** What accounts held of principal tokens from the beginning up to a moment (unix seconds), for statements. */
export async function fixedTermStakes(
  { chain, accounts, to }: { chain: number; accounts: readonly string[]; to: number },
  context: EndpointContext,
): Promise<Stake[]> {
  const markets = await fixedTermMarketsOf(context, chain)
  const p = context.catalogue.chain(chain, 'fixed-term')?.position ?? 0
  const asked = { chain, p, accounts: [...accounts], to, limit: ROW_LIMIT }
  const tokens = [...new Set(markets.map(({ pt }) => pt.address))]
  // Trades of what nobody held are not read.
  const held = await inChunks(tokens, pts =>
    ask(context.deps.clickhouse, principalHeld, { chain, p, accounts: [...accounts], pts }, context.signal),
  )
  const rows = await inChunks(
    held.map(({ pt }) => pt),
    pts => ask(context.deps.clickhouse, principalByBlock, { ...asked, pts }, context.signal),
  )
  refuseTooMany(rows.length)
  return [...groupBy(rows, ({ pt, account }) => `${pt} ${account}`).values()].flatMap((own): Stake[] => {
    const [first] = own
    // Several markets may trade one token: what vouches most for a price of it counts, and of equals the first by address.
    const [market] = markets
      .filter(({ pt }) => pt.address === first?.pt)
      .sort((a, b) => Number(a.standing === 'found') - Number(b.standing === 'found'))
    if (!first || !market) return []
    const steps = own.map(
      ({ at, block, balance, is_traded }): StakeStep => ({
        at,
        block,
        units: BigInt(balance),
        ...(is_traded ? { paid: 'worth' as const } : {}),
      }),
    )
    const values: Stake['values'] = async times => {
      const worthAt = await principalWorth(market, times, context)
      return (step, at) => worthAt(steps[step]?.units ?? 0n, at)
    }
    return [
      {
        kind: 'fixed-term',
        chainId: chain,
        account: first.account,
        protocol: protocolOf(market),
        id: market.address,
        address: market.pt.address,
        name: market.pt.name,
        asset: market.info,
        isVouchedFor: market.standing !== 'found',
        steps,
        values,
      },
    ]
  })
}

/** What principal tokens are worth at the rate of the last trade before each moment, base units of the asset, rounded down. */
async function principalWorth(
  { chainId, address, protocol, expiry, pt, info }: FixedTermMarket,
  times: readonly number[],
  { deps, catalogue, signal }: EndpointContext,
) {
  const family = fixedTermFamilies.find(of => of.protocol === protocol)
  const pinned = { chain: chainId, p: catalogue.chain(chainId, 'fixed-term')?.position ?? 0, market: address }
  const rows = await inTimes(times, some =>
    ask(deps.clickhouse, fixedTermStatesAt, { ...pinned, ...some }, signal),
  )
  return (amount: bigint, at: number) => {
    const row = lastBy(rows, at)
    const state = row && stateOf(row)
    if (!family || !state) return undefined
    const worth = family.figures({ ...state, totalPt: amount, totalSy: 0n, ptSupply: undefined }, expiry, at)
    return worth.liquidity === undefined ? undefined : rescaled(worth.liquidity, pt.decimals, info.decimals)
  }
}
