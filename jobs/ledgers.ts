import type { ClickHouseClient } from '@clickhouse/client'
import type pg from 'pg'
import { storeDeadLetters } from '../db/dead-letters.ts'

interface Difference {
  chain_id: number
  vault: string
  block_number: string
  /** Share base units, of all holders together. */
  ledger: string
  supply: string
}

/** Why a vault's ledger stands in the dead letters; the figures are in the payload. */
export const LEDGER_DIFFERS =
  'the balances that its events give do not add up to its total supply: something moves shares that no event tells, or an event tells of shares that did not move'

/**
 * Vaults whose holders together have another number of shares than the supply that was sampled last. Every move of shares
 * is sampled in its own block, behind its events: a vault whose newest move is not sampled yet is left for later.
 */
export async function ledgerDifferences(clickhouse: ClickHouseClient): Promise<Difference[]> {
  const answer = await clickhouse.query({
    query: `SELECT sampled.chain_id AS chain_id, sampled.vault AS vault, toString(sampled.last.3) AS block_number,
        toString(held.ledger) AS ledger, toString(sampled.last.4) AS supply
      FROM (
        SELECT chain_id, vault, max((timestamp, position, block_number, assumeNotNull(total_supply))) AS last
        FROM vault_sample
        WHERE total_supply IS NOT NULL AND (chain_id, position) NOT IN (SELECT chain_id, position FROM retracted_row)
          AND (chain_id, toDate(timestamp)) IN (
            SELECT chain_id, arrayJoin([day, day - 1]) FROM (SELECT chain_id, max(toDate(timestamp)) AS day FROM vault_sample GROUP BY chain_id))
        GROUP BY chain_id, vault
      ) AS sampled
      LEFT JOIN (
        SELECT chain_id, vault, sum(balance) AS ledger, max(position) AS moved FROM holder FINAL GROUP BY chain_id, vault
      ) AS held ON sampled.chain_id = held.chain_id AND sampled.vault = held.vault
      WHERE held.moved < sampled.last.2 AND toString(held.ledger) != toString(sampled.last.4)
      ORDER BY chain_id, vault`,
    format: 'JSONEachRow',
    clickhouse_settings: { log_comment: 'ledgers', join_use_nulls: 0 },
  })
  return answer.json<Difference>()
}

/** Keeps a dead letter of every vault whose ledger differs, and resolves those whose ledger adds up again. */
export async function checkLedgers(pool: pg.Pool, clickhouse: ClickHouseClient): Promise<Difference[]> {
  const differences = await ledgerDifferences(clickhouse)
  const column = (of: (difference: Difference) => unknown) => differences.map(of)
  await storeDeadLetters(
    pool,
    differences.map(payload => ({
      stage: 'ledger',
      stream: payload.chain_id,
      contract: payload.vault,
      reason: LEDGER_DIFFERS,
      payload,
    })),
  )
  await pool.query(
    `UPDATE dead_letter SET resolved_at = clock_timestamp()
     WHERE stage = 'ledger' AND reason = $3 AND resolved_at IS NULL
       AND (stream, contract) NOT IN (SELECT * FROM unnest($1::int[], $2::text[]))`,
    [column(d => d.chain_id), column(d => d.vault), LEDGER_DIFFERS],
  )
  return differences
}
