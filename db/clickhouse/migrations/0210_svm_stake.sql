-- Shares that their owners have staked in farms. They lie in token accounts of the farms, and belong to who staked them.
-- Which farm a vault stakes the shares of its depositors in, as its own account says: stakes in others prove nothing, as anybody can make a
-- farm, and who made it may take out what others staked.
CREATE TABLE IF NOT EXISTS svm_farm (
  chain_id UInt32 COMMENT 'chain, by the id of its stream: 1399811149 is Solana',
  mint LowCardinality(String) COMMENT 'mint of the shares, lower-case hex of 32 bytes',
  timestamp DateTime('UTC') COMMENT 'time of the slot, UTC, as the cluster reckons it' CODEC(DoubleDelta, ZSTD(1)),
  position UInt64 COMMENT 'place of the event that the row follows from, in the chain''s stream of events' CODEC(DoubleDelta, ZSTD(1)),
  block_number UInt64 COMMENT 'that event''s slot' CODEC(DoubleDelta, ZSTD(1)),
  vault LowCardinality(String) COMMENT 'account of the vault',
  farm LowCardinality(String) COMMENT 'account of the farm',
  farm_vault String COMMENT 'token account of the farm, in which all that is staked lies' CODEC(ZSTD(1))
) ENGINE = ReplacingMergeTree
PARTITION BY chain_id
ORDER BY (chain_id, mint, timestamp, position)
SETTINGS non_replicated_deduplication_window = 1000
COMMENT 'Grain: one row per farm that a vault was read to name for the first time; all of them count; `(chain_id, mint, timestamp, position)`.';

CREATE VIEW IF NOT EXISTS internal.svm_farm_rows AS
SELECT toUInt32(stream) AS chain_id, contract AS mint, timestamp, position, block_number, fields.vault AS vault, fields.farm AS farm, fields.farmVault AS farm_vault
FROM (
  SELECT stream, contract, timestamp, position, block_number, JSONExtract(data, 'Tuple(vault String, farm String, farmVault String)') AS fields
  FROM event
  WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64} AND type = 'SvmFarmNamed'
);

-- One row per change of a stake with what is staked after it. What the farm's own account says replaces what the changes before came to:
-- they begin where the index does, and do not tell of a stake that was given to another owner, nor of a penalty.
CREATE TABLE IF NOT EXISTS svm_stake (
  holder String COMMENT 'owner of the stake' CODEC(ZSTD(1)),
  chain_id UInt32 COMMENT 'chain, by the id of its stream: 1399811149 is Solana',
  mint LowCardinality(String) COMMENT 'mint of the shares',
  stake_account String COMMENT 'account in which the farm keeps what this owner has in it' CODEC(ZSTD(1)),
  timestamp DateTime('UTC') COMMENT 'time of the slot, UTC, as the cluster reckons it' CODEC(DoubleDelta, ZSTD(1)),
  position UInt64 COMMENT 'place of the event that the row follows from, in the chain''s stream of events' CODEC(DoubleDelta, ZSTD(1)),
  block_number UInt64 COMMENT 'that event''s slot' CODEC(DoubleDelta, ZSTD(1)),
  farm LowCardinality(String) COMMENT 'account of the farm; it need not be one that a vault names: see svm_farm',
  amount Int256 COMMENT 'share base units that the owner has in the farm from here on, what is unstaked and not taken out yet with them; below zero where more was taken out than is known of' CODEC(ZSTD(1)),
  INDEX by_mint mint TYPE bloom_filter(0.01) GRANULARITY 1
) ENGINE = ReplacingMergeTree
PARTITION BY chain_id
ORDER BY (holder, chain_id, mint, stake_account, timestamp, position)
SETTINGS non_replicated_deduplication_window = 1000, index_granularity = 1024,
  min_bytes_for_wide_part = 268435456
COMMENT 'Grain: one row per change of a stake, or reading of its account; `(holder, chain_id, mint, stake_account, timestamp, position)`.';

CREATE VIEW IF NOT EXISTS internal.svm_stake_rows AS
WITH
  told AS (
    SELECT contract AS mint, timestamp, position, block_number, type = 'SvmStakeSampled' AS is_whole,
      JSONExtract(data, 'Tuple(farm String, stakeAccount String, owner String, change String, amount String)') AS fields,
      -- Conditions may be tried in any order: other types' data are not to be read as a number.
      toInt256(multiIf(type = 'SvmStakeSampled', fields.amount, type = 'SvmStakeChanged', fields.change, '0')) AS value
    FROM event
    WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64} AND type IN ('SvmStakeChanged', 'SvmStakeSampled')
  ),
  head AS (
    SELECT holder, mint, stake_account, argMax(amount, position) AS before
    FROM svm_stake
    WHERE chain_id = toUInt32({stream:Int32}) AND position <= {from:UInt64}
      AND holder IN (
        SELECT JSONExtractString(data, 'owner') FROM event
        WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64} AND type IN ('SvmStakeChanged', 'SvmStakeSampled'))
      AND position NOT IN (SELECT position FROM retracted WHERE stream = {stream:Int32} AND retracted_by <= {to:UInt64})
    GROUP BY holder, mint, stake_account
  ),
  counted AS (
    SELECT fields.owner AS holder, mint, fields.stakeAccount AS stake_account, fields.farm AS farm, timestamp, position, block_number, value,
      sum(is_whole) OVER (PARTITION BY holder, mint, stake_account ORDER BY position ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS wholes
    FROM told
  )
SELECT counted.holder AS holder, toUInt32({stream:Int32}) AS chain_id, counted.mint AS mint, counted.stake_account AS stake_account,
  counted.timestamp AS timestamp, counted.position AS position, counted.block_number AS block_number, counted.farm AS farm,
  if(counted.wholes = 0, head.before, toInt256(0))
    + sum(counted.value) OVER (PARTITION BY counted.holder, counted.mint, counted.stake_account, counted.wholes ORDER BY counted.position
        ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS amount
FROM counted
LEFT JOIN head ON counted.holder = head.holder AND counted.mint = head.mint AND counted.stake_account = head.stake_account;

-- Staked shares stand under who staked them; the farm in whose token account they lie holds none.
CREATE OR REPLACE VIEW svm_positions AS
SELECT b.chain_id AS chain_id, v.vault AS vault, b.holder AS holder, b.shares_raw AS shares_raw,
  toFloat64(b.shares_raw) / pow(10., v.share_decimals) AS shares, shares * v.share_price AS assets, v.asset_symbol AS asset_symbol, b.since AS changed_at,
  b.staked_raw AS staked_raw
FROM (
  SELECT chain_id, mint, holder, toUInt256(sum(held)) AS shares_raw, toUInt256(sumIf(held, is_staked)) AS staked_raw, max(last.2) AS since
  FROM (
    SELECT chain_id, mint, holder, 0 AS is_staked, argMax((toInt256(amount), timestamp), position) AS last, last.1 AS held
    FROM svm_balance
    WHERE (chain_id, position) NOT IN (SELECT chain_id, position FROM retracted_row)
      AND (chain_id, mint, token_account) NOT IN (
        SELECT chain_id, mint, farm_vault FROM svm_farm WHERE (chain_id, position) NOT IN (SELECT chain_id, position FROM retracted_row))
    GROUP BY chain_id, mint, holder, token_account
    UNION ALL
    SELECT chain_id, mint, holder, 1 AS is_staked, argMax((amount, timestamp), position) AS last, greatest(last.1, toInt256(0)) AS held
    FROM svm_stake
    WHERE (chain_id, position) NOT IN (SELECT chain_id, position FROM retracted_row)
      AND (chain_id, mint, farm) IN (
        SELECT chain_id, mint, farm FROM svm_farm WHERE (chain_id, position) NOT IN (SELECT chain_id, position FROM retracted_row))
    GROUP BY chain_id, mint, holder, stake_account
  )
  GROUP BY chain_id, mint, holder
  HAVING shares_raw > 0
) AS b
INNER JOIN svm_vaults AS v ON v.chain_id = b.chain_id AND v.share_mint = b.mint
COMMENT 'Grain: one row per holder and vault of a chain of Solana''s kind, with what is held now over all token accounts and staked in the farm that the vault names; `(chain_id, vault, holder)`. Shares that another farm or another program holds stand under that program.';
ALTER TABLE svm_positions
  COMMENT COLUMN chain_id 'chain, by the id of its stream: 1399811149 is Solana',
  COMMENT COLUMN vault 'account of the vault, lower-case hex of 32 bytes',
  COMMENT COLUMN holder 'owner of the token accounts and of the stake',
  COMMENT COLUMN shares_raw 'shares, base units',
  COMMENT COLUMN shares 'shares, whole units; NULL: decimals were never read',
  COMMENT COLUMN assets 'what they are worth at the newest sample, whole units of the asset; NULL: no price of a share is known',
  COMMENT COLUMN asset_symbol 'symbol of the asset; empty: not known',
  COMMENT COLUMN changed_at 'time of the newest change, UTC',
  COMMENT COLUMN staked_raw 'of these, what is staked in a farm, base units';
