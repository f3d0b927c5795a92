/**
 * Blocks are joined as they come. ClickHouse 26.7, where it puts small ones together first, finds no partner for rows that LIMIT BY over
 * one LowCardinality column gave: their keys' hashes are read from beyond the end of what was kept of them.
 *
 * @see https://github.com/ClickHouse/ClickHouse/pull/115604
 */
export const EVERY_PARTNER = { min_joined_block_size_rows: '0', min_joined_block_size_bytes: '0' } as const
