import { defineQuery, z } from '../moment/query.ts'
import { VISIBLE_ON_CHAIN } from '../moment/visible.ts'

/**
 * Fees, caps and pauses as a vault's own events tell them; `cap:markets` is the sum of the caps of its markets, and
 * `<cap>:<market>` each of them.
 */
const settingRow = z.object({
  vault: z.string(),
  /** setting → value; null where the last event does not say what it changed to. */
  settings: z.record(z.string(), z.string().nullable()),
})
export type SettingRow = z.output<typeof settingRow>

const settings = (
  where: string,
) => `SELECT vault, CAST((groupArray(setting), groupArray(held)), 'Map(String, Nullable(String))') AS settings
  FROM (
    SELECT vault, setting, argMax(tuple(toString(value)), position).1 AS held
    FROM vault_setting WHERE ${VISIBLE_ON_CHAIN} AND market = '' ${where}
    GROUP BY vault, setting
    UNION ALL
    SELECT vault, 'cap:markets' AS setting, toString(sum(cap)) AS held
    FROM (
      SELECT vault, market, assumeNotNull(argMax(value, position)) AS cap
      FROM vault_setting WHERE ${VISIBLE_ON_CHAIN} AND setting = 'cap:supply' AND market != '' ${where}
      GROUP BY vault, market)
    GROUP BY vault
    UNION ALL
    SELECT vault, concat(setting, ':', market) AS setting, argMax(tuple(toString(value)), position).1 AS held
    FROM vault_setting WHERE ${VISIBLE_ON_CHAIN} AND startsWith(setting, 'cap:') AND market != '' ${where}
    GROUP BY vault, vault_setting.setting, market)
  GROUP BY vault`

export const allSettings = defineQuery({ name: 'catalogue_settings', sql: settings(''), row: settingRow })

export const theseSettings = defineQuery({
  name: 'catalogue_settings_again',
  sql: settings('AND vault IN {vaults:Array(String)}'),
  row: settingRow,
})

/** The pauses of {vaults}, oldest first: from `at` on a vault was paused, or not. */
export const pauses = defineQuery({
  name: 'vault_pauses',
  sql: `SELECT vault, toUnixTimestamp(timestamp) AS at, toUInt8(assumeNotNull(value)) AS paused
    FROM vault_setting
    WHERE ${VISIBLE_ON_CHAIN} AND vault IN {vaults:Array(String)} AND setting = 'paused' AND market = ''
    ORDER BY timestamp, position`,
  row: z.object({ vault: z.string(), at: z.number(), paused: z.number() }),
})

/** When the first block was mined that anything is stored of. */
export const firstStored = defineQuery({
  name: 'first_stored',
  sql: `SELECT toUnixTimestamp(timestamp) AS at FROM event
    WHERE stream = toInt32({chain:UInt32}) ORDER BY position LIMIT 1`,
  row: z.object({ at: z.number() }),
})
