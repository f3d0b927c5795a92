import { DAY } from '../../../../db/units.ts'
import { findVault, vaultParams } from '../../../catalogue/find-vault.ts'
import { defineEndpoint } from '../../../http/endpoint.ts'
import { pageOfAll } from '../../../http/paging.ts'
import { day, paging } from '../../../http/parameters.ts'
import { Amount, pageOf } from '../../../http/shapes.ts'
import { z } from '../../../http/zod.ts'
import { ask } from '../../../moment/query.ts'
import { LAST_SECOND } from '../../../moment/time-range.ts'
import { dailyFlows, firstFlowDay, newestDailyFlows } from '../../../vaults/history-queries.ts'

export default defineEndpoint({
  tier: 'alpha',
  method: 'get',
  path: '/historical/{network}/{vaultId}/daily-flows',
  summary: 'Deposits and redemptions of a vault by UTC day',
  description:
    'From the first day of the vault to the day of the newest block; days without a flow are there, with zeros.',
  params: vaultParams,
  query: z.object({
    fromDate: day().openapi({ description: 'First day, inclusive.' }),
    toDate: day().openapi({ description: 'Last day, exclusive.' }),
    ...paging({ perPage: 100, max: 366 }),
  }),
  response: pageOf(
    z
      .strictObject({
        date: z.string(),
        totalDeposits: Amount,
        totalRedemptions: Amount,
        depositCount: z.int(),
        redemptionCount: z.int(),
        uniqueDepositors: z.int(),
        uniqueRedeemers: z.int(),
      })
      .openapi('DailyFlow'),
  ),
  table: 'data',
  example: {
    params: { network: '{network}', vaultId: '{vault}' },
    query: { fromDate: '{fromDate}', toDate: '{toDate}' },
  },
  cost: ({ items }) => 1 + items,
  cache: 'moment',
  async handler({ params, query }, context) {
    const found = findVault(params, context)
    const { deps, signal } = context
    const { deployedAt, seenAt } = found.vault.state
    const pageFrom = (first: number) => {
      const from = Math.max(query.fromDate, Math.floor(first / DAY) * DAY)
      const to = Math.min(query.toDate, (Math.floor(found.chain.blockTime / DAY) + 1) * DAY, LAST_SECOND)
      return pageOfAll(
        Array.from({ length: Math.max(0, (to - from) / DAY) }, (_, i) => from + i * DAY),
        query,
      )
    }
    const flowsOf = async ({ data: days }: { data: readonly number[] }) => {
      const [start, end] = [days[0], days.at(-1)]
      if (start === undefined || end === undefined) return []
      const asked = { ...found.pinned, from: start, to: end + DAY }
      const newest = await ask(deps.clickhouse, newestDailyFlows, asked, signal)
      return newest.every(({ position }) => position <= found.pinned.p)
        ? newest
        : ask(deps.clickhouse, dailyFlows, asked, signal)
    }
    const known = Math.min(deployedAt ?? seenAt, seenAt)
    let page = pageFrom(known)
    // A vault may have lived before it was seen: then the days begin earlier, and so does the page.
    const knownDay = Math.floor(known / DAY)
    const [[firstFlow] = [], ofPage] = await Promise.all([
      query.fromDate / DAY < knownDay ? ask(deps.clickhouse, firstFlowDay, found.pinned, signal) : undefined,
      flowsOf(page),
    ])
    let rows = ofPage
    if (firstFlow && Math.floor(firstFlow.begins / DAY) < knownDay) {
      page = pageFrom(firstFlow.begins)
      rows = await flowsOf(page)
    }
    const byDay = new Map(rows.map(row => [row.date, row]))
    return {
      ...page,
      data: page.data.map(at => {
        const date = new Date(at * 1000).toISOString().slice(0, 10)
        const row = byDay.get(date)
        return {
          date,
          totalDeposits: row?.total_deposits ?? '0',
          totalRedemptions: row?.total_redemptions ?? '0',
          depositCount: row?.deposit_count ?? 0,
          redemptionCount: row?.redemption_count ?? 0,
          uniqueDepositors: row?.unique_depositors ?? 0,
          uniqueRedeemers: row?.unique_redeemers ?? 0,
        }
      }),
    }
  },
})
