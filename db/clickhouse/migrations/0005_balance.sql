-- Which shares moved: the signed changes of holders' balances that the events at (from, to] of a stream make, and the
-- reversals of earlier ones by retractions, at the position of the retraction with the retracted event's block. Shares
-- sent to oneself and transfers of nothing change no balance and are left out. fresh = 0: the reversals alone.
CREATE VIEW IF NOT EXISTS internal.share_movement AS
WITH
  (SELECT (arrayPushFront(groupArray(position), 0), arrayPushFront(groupArray(retracted_by), 0)) FROM retracted
   WHERE stream = {stream:Int32} AND retracted_by > {from:UInt64} AND retracted_by <= {to:UInt64}) AS reversals
SELECT
  contract AS vault,
  holder,
  if(reversed, transform(at, reversals.1, reversals.2, toUInt64(0)), at) AS position,
  block_number,
  timestamp,
  reversed,
  if(gains = reversed, -shares, shares) AS delta
FROM (
  SELECT
    contract, position AS at, block_number, timestamp, position <= {from:UInt64} AS reversed,
    type = 'ShareTransferred' AS is_transfer,
    type = 'Deposited' AS is_deposit,
    JSONExtract(data, 'Tuple(from String, to String, owner String, shares String)') AS fields,
    -- Conditions may be tried in any order: other types' data are not to be read as a number.
    toInt256(if(type IN ('ShareTransferred', 'Deposited', 'Redeemed'), fields.shares, '0')) AS shares
  FROM event
  WHERE stream = {stream:Int32}
    AND (({fresh:UInt8} = 1 AND position > {from:UInt64} AND position <= {to:UInt64}) OR position IN (
      SELECT position FROM retracted
      WHERE stream = {stream:Int32} AND retracted_by > {from:UInt64} AND retracted_by <= {to:UInt64}))
    AND (type = 'ShareTransferred' OR (type IN ('Deposited', 'Redeemed') AND JSONExtractString(data, 'ledger') = 'self'))
)
ARRAY JOIN if(is_transfer, [fields.from, fields.to], [fields.owner]) AS holder, if(is_transfer, [0, 1], [is_deposit]) AS gains
WHERE holder != '0x0000000000000000000000000000000000000000' AND shares != 0 AND NOT (is_transfer AND fields.from = fields.to);

-- Share balances by holder: one row per change, with the balance after it, so that a balance at any moment is one
-- look-up in primary key order and never a sum over history. A balance below zero says that shares moved without a
-- log (a token whose genesis mint emitted none): kept as it is, not hidden.
CREATE TABLE IF NOT EXISTS balance (
  chain_id UInt32 COMMENT 'chain, by its id',
  vault LowCardinality(String) COMMENT 'address of the vault, lower case',
  holder String COMMENT 'address of the holder, lower case' CODEC(ZSTD(1)),
  timestamp DateTime('UTC') COMMENT 'time of the block, UTC' CODEC(DoubleDelta, ZSTD(1)),
  position UInt64 COMMENT 'place of the event that the row follows from, in the chain''s stream of events' CODEC(DoubleDelta, ZSTD(1)),
  block_number UInt64 COMMENT 'number of that event''s block' CODEC(DoubleDelta, ZSTD(1)),
  delta Int256 COMMENT 'share base units, signed' CODEC(ZSTD(1)),
  balance Int256 COMMENT 'share base units after this change; below zero where shares moved without a log' CODEC(ZSTD(1)),
  INDEX by_position position TYPE minmax GRANULARITY 1
) ENGINE = ReplacingMergeTree
PARTITION BY chain_id
ORDER BY (chain_id, vault, holder, timestamp, position)
SETTINGS non_replicated_deduplication_window = 1000, index_granularity = 1024,
  min_bytes_for_wide_part = 268435456
COMMENT 'Grain: one row per change of a holder''s shares; `(chain_id, vault, holder, timestamp, position)`.';

-- The head of balance: each holder's balance after the last change, the last write wins. Unlike rows of other tables
-- it knows of retractions, whose reversals are changes like any other. Kept so that a batch finds what went before by
-- one row per holder, however long the history.
CREATE TABLE IF NOT EXISTS holder (
  chain_id UInt32 COMMENT 'chain, by its id',
  vault LowCardinality(String) COMMENT 'address of the vault, lower case',
  holder String COMMENT 'address of the holder, lower case' CODEC(ZSTD(1)),
  timestamp DateTime('UTC') COMMENT 'time of the last change, or of the last one taken back, UTC' CODEC(DoubleDelta, ZSTD(1)),
  position UInt64 COMMENT 'of the last change, or of the retraction that took some back, in the chain''s stream of events' CODEC(DoubleDelta, ZSTD(1)),
  block_number UInt64 COMMENT 'number of the block of that change, or of the last one taken back' CODEC(DoubleDelta, ZSTD(1)),
  balance Int256 COMMENT 'share base units' CODEC(ZSTD(1)),
  INDEX by_position position TYPE minmax GRANULARITY 1
) ENGINE = ReplacingMergeTree(position)
PARTITION BY chain_id
ORDER BY (chain_id, vault, holder)
SETTINGS non_replicated_deduplication_window = 1000, index_granularity = 1024,
  min_bytes_for_wide_part = 268435456
COMMENT 'Grain: a head: one row per vault and holder, the newest; `(chain_id, vault, holder)`. Read it with FINAL. After a
retraction the balance is right, but `timestamp` and `block_number` are those of the change that was taken back, until the
next change. When the balance came about is told by `balance` and `balances_at`.';

-- When an account began and ceased to hold shares of a vault: its balance rose above zero, or fell to it.
CREATE TABLE IF NOT EXISTS position_change (
  account String COMMENT 'address of the account, lower case' CODEC(ZSTD(1)),
  chain_id UInt32 COMMENT 'chain, by its id',
  vault LowCardinality(String) COMMENT 'address of the vault, lower case',
  timestamp DateTime('UTC') COMMENT 'time of the block, UTC' CODEC(DoubleDelta, ZSTD(1)),
  position UInt64 COMMENT 'place of the event that the row follows from, in the chain''s stream of events' CODEC(DoubleDelta, ZSTD(1)),
  block_number UInt64 COMMENT 'number of that event''s block' CODEC(DoubleDelta, ZSTD(1)),
  kind LowCardinality(String) COMMENT 'opened, closed'
) ENGINE = ReplacingMergeTree
PARTITION BY chain_id
ORDER BY (account, chain_id, vault, timestamp, position)
SETTINGS non_replicated_deduplication_window = 1000
COMMENT 'Grain: one row per opening and closing of a position; `(account, chain_id, vault, timestamp, position)`.';

-- The vaults an account ever held shares of: the rows of holder in the order of accounts.
CREATE TABLE IF NOT EXISTS account_vault (
  account String COMMENT 'address of the account, lower case' CODEC(ZSTD(1)),
  chain_id UInt32 COMMENT 'chain, by its id',
  vault LowCardinality(String) COMMENT 'address of the vault, lower case',
  timestamp DateTime('UTC') COMMENT 'time of the last change, or of the last one taken back, UTC' CODEC(DoubleDelta, ZSTD(1)),
  position UInt64 COMMENT 'of the last change, or of the retraction that took some back, in the chain''s stream of events' CODEC(DoubleDelta, ZSTD(1)),
  block_number UInt64 COMMENT 'number of the block of that change, or of the last one taken back' CODEC(DoubleDelta, ZSTD(1)),
  balance Int256 COMMENT 'share base units' CODEC(ZSTD(1))
) ENGINE = ReplacingMergeTree(position)
PARTITION BY chain_id
ORDER BY (account, chain_id, vault)
SETTINGS non_replicated_deduplication_window = 1000, index_granularity = 1024,
  min_bytes_for_wide_part = 268435456
COMMENT 'Grain: a head: one row per account and vault it ever held; `(account, chain_id, vault)`. Read it with FINAL. After a
retraction `timestamp` and `block_number` are those of the change that was taken back, as in `holder`.';

-- A head may be ahead of `from` when a killed batch is repeated: what it already holds of this batch is taken off
-- again, which sums allow, so the balance as of `from` is known either way. Keys are 128-bit hashes: joining and
-- sorting by two strings took three times as long. Whom the heads are read of is asked of the events themselves: of
-- share_movement once more, a block's batch took half as long again to plan.
CREATE VIEW IF NOT EXISTS internal.balance_rows AS
WITH
  moved AS (
    SELECT *, reinterpretAsUInt128(sipHash128(vault, holder)) AS key
    FROM internal.share_movement(stream = {stream:Int32}, from = {from:UInt64}, to = {to:UInt64}, fresh = 1)
  ),
  head AS (
    SELECT reinterpretAsUInt128(sipHash128(vault, holder)) AS key, argMax(balance, position) AS balance, max(position) AS head_position
    FROM holder
    WHERE chain_id = toUInt32({stream:Int32})
      AND (vault, holder) IN (
        SELECT contract, arrayJoin([fields.from, fields.to, fields.owner])
        FROM (
          SELECT contract, JSONExtract(data, 'Tuple(from String, to String, owner String)') AS fields
          FROM event
          WHERE stream = {stream:Int32}
            AND (position > {from:UInt64} AND position <= {to:UInt64} OR position IN (
              SELECT position FROM retracted
              WHERE stream = {stream:Int32} AND retracted_by > {from:UInt64} AND retracted_by <= {to:UInt64}))
            AND type IN ('ShareTransferred', 'Deposited', 'Redeemed')))
    GROUP BY key
  )
SELECT chain_id, vault, holder, timestamp, position, block_number, delta, balance
FROM (
  SELECT
    toUInt32({stream:Int32}) AS chain_id, moved.vault AS vault, moved.holder AS holder,
    moved.timestamp AS timestamp,
    moved.position AS position,
    moved.block_number AS block_number,
    moved.reversed AS reversed,
    moved.delta AS delta,
    head.balance
      - sumIf(moved.delta, moved.position <= head.head_position) OVER (PARTITION BY moved.key)
      + sum(moved.delta) OVER (PARTITION BY moved.key ORDER BY moved.position
          ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS balance
  FROM moved LEFT JOIN head ON moved.key = head.key
)
WHERE NOT reversed;

-- What holders have whose shares retractions took back; a row of the batch after the retraction has a higher position
-- and wins.
CREATE VIEW IF NOT EXISTS internal.holder_taken_back_rows AS
WITH
  taken_back AS (
    SELECT * FROM internal.share_movement(stream = {stream:Int32}, from = {from:UInt64}, to = {to:UInt64}, fresh = 0)
  ),
  head AS (
    SELECT vault, holder, argMax(balance, position) AS balance, max(position) AS head_position
    FROM holder
    WHERE chain_id = toUInt32({stream:Int32}) AND (vault, holder) IN (SELECT vault, holder FROM taken_back)
    GROUP BY vault, holder
  )
SELECT
  toUInt32({stream:Int32}) AS chain_id,
  taken_back.vault AS vault,
  taken_back.holder AS holder,
  max((taken_back.position, taken_back.timestamp, taken_back.block_number)).2 AS timestamp,
  max((taken_back.position, taken_back.timestamp, taken_back.block_number)).1 AS position,
  max((taken_back.position, taken_back.timestamp, taken_back.block_number)).3 AS block_number,
  any(head.balance) + sumIf(taken_back.delta, taken_back.position > head.head_position) AS balance
FROM taken_back LEFT JOIN head ON taken_back.vault = head.vault AND taken_back.holder = head.holder
GROUP BY vault, holder
HAVING position > any(head.head_position);

-- The batch's rows, of which the engine keeps each holder's last.
CREATE VIEW IF NOT EXISTS internal.holder_rows AS
SELECT chain_id, vault, holder, timestamp, position, block_number, balance
FROM balance
WHERE chain_id = toUInt32({stream:Int32}) AND position > {from:UInt64} AND position <= {to:UInt64};

CREATE VIEW IF NOT EXISTS internal.position_change_rows AS
SELECT holder AS account, chain_id, vault, timestamp, position, block_number, if(balance > 0, 'opened', 'closed') AS kind
FROM balance
WHERE chain_id = toUInt32({stream:Int32}) AND position > {from:UInt64} AND position <= {to:UInt64}
  AND (balance > 0) != (balance - delta > 0);

CREATE VIEW IF NOT EXISTS internal.account_vault_rows AS
SELECT holder AS account, chain_id, vault, timestamp, position, block_number, balance
FROM holder
WHERE chain_id = toUInt32({stream:Int32}) AND position > {from:UInt64} AND position <= {to:UInt64};
