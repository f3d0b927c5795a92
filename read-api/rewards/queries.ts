import { defineQuery, z } from '../moment/query.ts'
import { VISIBLE_ON_CHAIN } from '../moment/visible.ts'

/**
 * What holders of vaults are paid: streams, each until the next of its token takes its place, and periods that add up;
 * what ended by {since} is left out. A vault that ever paid has a row, be it an empty one.
 */
const streamRow = z.object({
  vault: z.string(),
  streams: z.array(
    z.object({
      reward: z.string(),
      name: z.string(),
      symbol: z.string(),
      decimals: z.number(),
      amount: z.string(),
      from: z.number(),
      until: z.number(),
      /** Anybody may have registered it: Euler's reward streams take any token for any vault. */
      is_anybodys: z.boolean(),
    }),
  ),
})
export type RewardStreamRow = z.output<typeof streamRow>

const streams = (where: string) => `SELECT vault,
    CAST(arraySort(groupArrayIf((reward, name, symbol, decimals, toString(amount), from, until, is_anybodys), until > {since:UInt32})),
      'Array(Tuple(reward String, name String, symbol String, decimals UInt8, amount String, from UInt32, until UInt32, is_anybodys Bool))') AS streams
  FROM (
    SELECT vault, reward, name, symbol, decimals, from, until, rate * toUInt256(until - from) AS amount, false AS is_anybodys
    FROM (
      SELECT vault, reward, name, symbol, decimals, rate, toUnixTimestamp(timestamp) AS from,
        least(ends_at, leadInFrame(toUnixTimestamp(timestamp), 1, 4294967295) OVER (
          PARTITION BY vault, reward ORDER BY position ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)) AS until
      FROM (SELECT * FROM reward_stream FINAL WHERE ${VISIBLE_ON_CHAIN} ${where}))
    WHERE from < until
    UNION ALL
    SELECT vault, reward, name, symbol, decimals, starts_at AS from, ends_at AS until, amount, true AS is_anybodys
    FROM reward_period FINAL WHERE ${VISIBLE_ON_CHAIN} ${where})
  WHERE amount > 0
  GROUP BY vault`

export const allRewardStreams = defineQuery({
  name: 'catalogue_rewards',
  sql: streams(''),
  row: streamRow,
})

export const theseRewardStreams = defineQuery({
  name: 'catalogue_rewards_again',
  sql: streams('AND vault IN {vaults:Array(String)}'),
  row: streamRow,
})
