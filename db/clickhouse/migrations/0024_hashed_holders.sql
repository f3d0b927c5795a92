-- As in 0005. A large batch moves shares of holders all over the table of heads, which it reads whole: one number for each of its rows is
-- told apart in half the time of two texts. Of a block the heads are found by their key.
CREATE VIEW IF NOT EXISTS internal.holder_moved AS
SELECT contract AS vault, arrayJoin([fields.from, fields.to, fields.owner]) AS holder
FROM (
  SELECT contract, JSONExtract(data, 'Tuple(from String, to String, owner String)') AS fields
  FROM event
  WHERE stream = {stream:Int32}
    AND (position > {from:UInt64} AND position <= {to:UInt64} OR position IN (
      SELECT position FROM retracted
      WHERE stream = {stream:Int32} AND retracted_by > {from:UInt64} AND retracted_by <= {to:UInt64}))
    AND type IN ('ShareTransferred', 'Deposited', 'Redeemed')
);

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
      -- Holders of the same hash are read in vain, and joined to nobody.
      AND if({to:UInt64} - {from:UInt64} > 10000,
        cityHash64(vault, holder) IN (
          SELECT cityHash64(vault, holder)
          FROM internal.holder_moved(stream = {stream:Int32}, from = {from:UInt64}, to = {to:UInt64})),
        (vault, holder) IN (
          SELECT vault, holder
          FROM internal.holder_moved(stream = {stream:Int32}, from = {from:UInt64}, to = {to:UInt64})))
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
