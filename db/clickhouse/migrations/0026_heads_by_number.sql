-- A batch looks for the heads of those whose shares it moves among all there are, which lie in every part of the table. By the texts of
-- vault and holder that took the longer the more holders there were: among eight million heads, those of half a million events took 2.8 s
-- to find. By one number, kept with the head, it is 1.2. Heads from before have none, so that balances are to be replayed. (A column that
-- ClickHouse works out from others was of two empty texts in parts from before it, where a condition had read the texts: its issue 111757.)
ALTER TABLE holder ADD COLUMN IF NOT EXISTS holder_key UInt128
  COMMENT 'SipHash of vault and holder, a number by which a batch finds its heads' CODEC(NONE);

-- Holders whose shares the events at (from, to] move, or retractions among them take back.
CREATE VIEW IF NOT EXISTS internal.share_holder AS
WITH JSONExtract(data, 'Tuple(from String, to String, owner String)') AS fields
SELECT contract AS vault, arrayJoin([fields.from, fields.to, fields.owner]) AS holder FROM event
WHERE stream = {stream:Int32}
  AND (position > {from:UInt64} AND position <= {to:UInt64} OR position IN (
    SELECT position FROM retracted
    WHERE stream = {stream:Int32} AND retracted_by > {from:UInt64} AND retracted_by <= {to:UInt64}))
  AND type IN ('ShareTransferred', 'Deposited', 'Redeemed');

-- As in 0005, where it is said what the rows are. For a block's batch the key of the table is faster, as it says where to look; only the
-- side that a batch takes is planned.
CREATE VIEW IF NOT EXISTS internal.balance_rows AS
WITH
  moved AS (
    SELECT *, reinterpretAsUInt128(sipHash128(vault, holder)) AS key
    FROM internal.share_movement(stream = {stream:Int32}, from = {from:UInt64}, to = {to:UInt64}, fresh = 1)
  ),
  head AS (
    SELECT holder_key AS key, argMax(balance, position) AS balance, max(position) AS head_position
    FROM holder
    WHERE chain_id = toUInt32({stream:Int32}) AND if(
      {to:UInt64} - {from:UInt64} > 1000,
      holder_key IN (
        SELECT reinterpretAsUInt128(sipHash128(vault, holder))
        FROM internal.share_holder(stream = {stream:Int32}, from = {from:UInt64}, to = {to:UInt64})),
      (vault, holder) IN (
        SELECT vault, holder FROM internal.share_holder(stream = {stream:Int32}, from = {from:UInt64}, to = {to:UInt64})))
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

-- As in 0005, with the number.
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
  any(head.balance) + sumIf(taken_back.delta, taken_back.position > head.head_position) AS balance,
  reinterpretAsUInt128(sipHash128(vault, holder)) AS holder_key
FROM taken_back LEFT JOIN head ON taken_back.vault = head.vault AND taken_back.holder = head.holder
GROUP BY vault, holder
HAVING position > any(head.head_position);

CREATE VIEW IF NOT EXISTS internal.holder_rows AS
SELECT chain_id, vault, holder, timestamp, position, block_number, balance,
  reinterpretAsUInt128(sipHash128(vault, holder)) AS holder_key
FROM balance
WHERE chain_id = toUInt32({stream:Int32}) AND position > {from:UInt64} AND position <= {to:UInt64};
