-- What a total was before a batch lies at the end of all that it ever was, and all of that was read for it: 20 to 35 ms more a block for
-- each million changes of its markets. So it is looked for nearby first, among the last 10,000 events (as many as the batch has, where these
-- are more), and further back only for totals that have nothing there. Whom a batch changes is asked of the events themselves, not of
-- the changes once more, which spares a block's batch about as much planning as the second look costs.

CREATE VIEW IF NOT EXISTS internal.morpho_market_touched AS
SELECT JSONExtractString(data, 'market') AS market FROM event
WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64} AND protocol = 'morpho-blue';

-- Each market with what it was after the last change before the batch, as are the totals of the other heads below.
CREATE VIEW IF NOT EXISTS internal.morpho_state_head AS
WITH {from:UInt64} - least({from:UInt64}, greatest(10000, {to:UInt64} - {from:UInt64})) AS nearby
SELECT market, argMax((supply_assets, supply_shares, borrow_assets, borrow_shares, collateral, last_update, fee_wad, borrow_rate_wad), position) AS had
FROM (
  SELECT * FROM morpho_state
  WHERE chain_id = toUInt32({stream:Int32}) AND position > nearby AND position <= {from:UInt64}
    AND market IN (SELECT market FROM internal.morpho_market_touched(stream = {stream:Int32}, from = {from:UInt64}, to = {to:UInt64}))
  UNION ALL
  SELECT * FROM morpho_state
  WHERE chain_id = toUInt32({stream:Int32}) AND position <= nearby
    AND market IN (
      SELECT market FROM internal.morpho_market_touched(stream = {stream:Int32}, from = {from:UInt64}, to = {to:UInt64})
      WHERE market NOT IN (
        SELECT market FROM morpho_state
        WHERE chain_id = toUInt32({stream:Int32}) AND position > nearby AND position <= {from:UInt64}
          AND market IN (SELECT market FROM internal.morpho_market_touched(stream = {stream:Int32}, from = {from:UInt64}, to = {to:UInt64}))
          AND position NOT IN (SELECT position FROM retracted WHERE stream = {stream:Int32} AND retracted_by <= {to:UInt64})))
)
WHERE position NOT IN (SELECT position FROM retracted WHERE stream = {stream:Int32} AND retracted_by <= {to:UInt64})
GROUP BY market;

-- As in 0011, where it is said what the rows are.
CREATE VIEW IF NOT EXISTS internal.morpho_state_rows AS
WITH
  changes AS (SELECT * FROM internal.morpho_change(stream = {stream:Int32}, from = {from:UInt64}, to = {to:UInt64})),
  sums AS (
    SELECT
      c.morpho AS morpho, c.market AS market, c.timestamp AS timestamp, c.position AS position, c.block_number AS block_number,
      h.had.1 + sum(c.supply_assets) OVER w AS supply_assets,
      h.had.2 + sum(c.supply_shares) OVER w AS supply_shares,
      h.had.3 + sum(c.borrow_assets) OVER w AS borrow_assets,
      h.had.4 + sum(c.borrow_shares) OVER w AS borrow_shares,
      h.had.5 + sum(c.collateral) OVER w AS collateral,
      -- Every act but a supply of collateral brings interest up to date.
      greatest(h.had.6, max(if(c.type = 'CollateralSupplied', 0, toUnixTimestamp(c.timestamp))) OVER w) AS last_update,
      coalesce(anyLast(c.fee_wad) OVER w, h.had.7) AS fee_wad,
      coalesce(anyLast(c.borrow_rate_wad) OVER w, h.had.8) AS borrow_rate_wad
    FROM changes AS c LEFT JOIN internal.morpho_state_head(stream = {stream:Int32}, from = {from:UInt64}, to = {to:UInt64}) AS h
      ON c.market = h.market
    WINDOW w AS (PARTITION BY c.market ORDER BY c.position ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
  )
SELECT
  toUInt32({stream:Int32}) AS chain_id, morpho, market, timestamp, position, block_number, supply_assets, supply_shares,
  borrow_assets - least(toInt256(0), min(borrow_assets)
    OVER (PARTITION BY market ORDER BY position ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)) AS borrow_assets,
  borrow_shares, collateral, toUInt32(last_update) AS last_update, assumeNotNull(fee_wad) AS fee_wad, borrow_rate_wad
FROM sums;

-- Where interest accrues, whoever ever got fees: more than are changed do no harm.
CREATE VIEW IF NOT EXISTS internal.morpho_account_touched AS
WITH
  JSONExtract(data, 'Tuple(market String, onBehalf String, borrower String)') AS fields,
  (SELECT arrayPushFront(groupUniqArray(account), '0x0000000000000000000000000000000000000000') FROM morpho_fee_recipient
   WHERE chain_id = toUInt32({stream:Int32})) AS recipients
SELECT arrayJoin(if(type = 'InterestAccrued', recipients, [fields.onBehalf, fields.borrower])) AS account, fields.market AS market FROM event
WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64} AND protocol = 'morpho-blue';

CREATE VIEW IF NOT EXISTS internal.morpho_position_rows AS
WITH
  changes AS (
    SELECT c.morpho AS morpho, c.market AS market, c.timestamp AS timestamp, c.position AS position, c.block_number AS block_number,
      multiIf(c.type != 'InterestAccrued', c.account, r.account = '', '0x0000000000000000000000000000000000000000', r.account) AS account,
      c.supply_shares AS supply_shares, c.borrow_shares AS borrow_shares, c.collateral AS collateral
    FROM (
      SELECT * FROM internal.morpho_change(stream = {stream:Int32}, from = {from:UInt64}, to = {to:UInt64})
      WHERE account != '' OR fee_shares > 0
    ) AS c
    ASOF LEFT JOIN (
      SELECT morpho, position, account FROM morpho_fee_recipient
      WHERE chain_id = toUInt32({stream:Int32})
        AND position NOT IN (SELECT position FROM retracted WHERE stream = {stream:Int32} AND retracted_by <= {to:UInt64})
    ) AS r ON c.morpho = r.morpho AND c.position >= r.position
  ),
  head AS (
    SELECT account, market,
      argMax((supply_shares, borrow_shares, collateral), position) AS had
    FROM morpho_position
    WHERE chain_id = toUInt32({stream:Int32}) AND position <= {from:UInt64}
      AND (account, market) IN (SELECT account, market FROM internal.morpho_account_touched(stream = {stream:Int32}, from = {from:UInt64}, to = {to:UInt64}))
      AND position NOT IN (SELECT position FROM retracted WHERE stream = {stream:Int32} AND retracted_by <= {to:UInt64})
    GROUP BY account, market
  )
SELECT
  toUInt32({stream:Int32}) AS chain_id, c.morpho AS morpho, c.account AS account, c.market AS market,
  c.timestamp AS timestamp, c.position AS position, c.block_number AS block_number,
  h.had.1 + sum(c.supply_shares) OVER w AS supply_shares,
  h.had.2 + sum(c.borrow_shares) OVER w AS borrow_shares,
  h.had.3 + sum(c.collateral) OVER w AS collateral
FROM changes AS c LEFT JOIN head AS h ON c.account = h.account AND c.market = h.market
WINDOW w AS (PARTITION BY c.account, c.market ORDER BY c.position ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW);

CREATE VIEW IF NOT EXISTS internal.aave_account_touched AS
WITH JSONExtract(data, 'Tuple(onBehalf String, from String, to String)') AS fields
SELECT arrayJoin([fields.onBehalf, fields.from, fields.to]) AS account, contract AS token FROM event
WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64} AND protocol = 'aave-v3'
  AND type IN ('ScaledMinted', 'ScaledBurned', 'ScaledTransferred');

-- As in 0012.
CREATE VIEW IF NOT EXISTS internal.aave_balance_rows AS
WITH
  moved AS (SELECT * FROM internal.aave_movement(stream = {stream:Int32}, from = {from:UInt64}, to = {to:UInt64})),
  head AS (
    SELECT account, token, argMax(scaled, position) AS had FROM aave_balance
    WHERE chain_id = toUInt32({stream:Int32}) AND position <= {from:UInt64}
      AND (account, token) IN (SELECT account, token FROM internal.aave_account_touched(stream = {stream:Int32}, from = {from:UInt64}, to = {to:UInt64}))
      AND position NOT IN (SELECT position FROM retracted WHERE stream = {stream:Int32} AND retracted_by <= {to:UInt64})
    GROUP BY account, token
  )
SELECT toUInt32({stream:Int32}) AS chain_id, m.account AS account, m.token AS token, m.timestamp AS timestamp,
  m.position AS position, m.block_number AS block_number, m.delta AS delta,
  h.had + sum(m.delta) OVER (PARTITION BY m.account, m.token ORDER BY m.position
    ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS scaled
FROM moved AS m LEFT JOIN head AS h ON m.account = h.account AND m.token = h.token;

CREATE VIEW IF NOT EXISTS internal.aave_token_touched AS
SELECT contract AS token FROM event
WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64} AND protocol = 'aave-v3'
  AND type IN ('ScaledMinted', 'ScaledBurned', 'ScaledTransferred');

CREATE VIEW IF NOT EXISTS internal.aave_total_head AS
WITH {from:UInt64} - least({from:UInt64}, greatest(10000, {to:UInt64} - {from:UInt64})) AS nearby
SELECT token, argMax(scaled, position) AS had
FROM (
  SELECT * FROM aave_total
  WHERE chain_id = toUInt32({stream:Int32}) AND position > nearby AND position <= {from:UInt64}
    AND token IN (SELECT token FROM internal.aave_token_touched(stream = {stream:Int32}, from = {from:UInt64}, to = {to:UInt64}))
  UNION ALL
  SELECT * FROM aave_total
  WHERE chain_id = toUInt32({stream:Int32}) AND position <= nearby
    AND token IN (
      SELECT token FROM internal.aave_token_touched(stream = {stream:Int32}, from = {from:UInt64}, to = {to:UInt64})
      WHERE token NOT IN (
        SELECT token FROM aave_total
        WHERE chain_id = toUInt32({stream:Int32}) AND position > nearby AND position <= {from:UInt64}
          AND token IN (SELECT token FROM internal.aave_token_touched(stream = {stream:Int32}, from = {from:UInt64}, to = {to:UInt64}))
          AND position NOT IN (SELECT position FROM retracted WHERE stream = {stream:Int32} AND retracted_by <= {to:UInt64})))
)
WHERE position NOT IN (SELECT position FROM retracted WHERE stream = {stream:Int32} AND retracted_by <= {to:UInt64})
GROUP BY token;

CREATE VIEW IF NOT EXISTS internal.aave_total_rows AS
WITH
  moved AS (
    SELECT token, timestamp, position, block_number, sum(delta) AS change
    FROM internal.aave_movement(stream = {stream:Int32}, from = {from:UInt64}, to = {to:UInt64})
    GROUP BY token, timestamp, position, block_number
    HAVING change != 0
  )
SELECT toUInt32({stream:Int32}) AS chain_id, m.token AS token, m.timestamp AS timestamp, m.position AS position,
  m.block_number AS block_number,
  h.had + sum(m.change) OVER (PARTITION BY m.token ORDER BY m.position ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS scaled
FROM moved AS m LEFT JOIN internal.aave_total_head(stream = {stream:Int32}, from = {from:UInt64}, to = {to:UInt64}) AS h ON m.token = h.token;

CREATE VIEW IF NOT EXISTS internal.comet_account_touched AS
WITH JSONExtract(data, 'Tuple(onBehalf String, borrower String, from String, to String, asset String)') AS fields
SELECT arrayJoin([fields.onBehalf, fields.borrower, fields.from, fields.to]) AS account, contract AS comet, fields.asset AS asset FROM event
WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64} AND protocol = 'compound-v3'
  AND type IN ('CollateralSupplied', 'CollateralWithdrawn', 'CollateralTransferred', 'CollateralAbsorbed');

-- As in 0013.
CREATE VIEW IF NOT EXISTS internal.comet_collateral_rows AS
WITH
  moved AS (
    SELECT account, comet, asset, timestamp, position, block_number, sum(delta) AS change
    FROM internal.comet_movement(stream = {stream:Int32}, from = {from:UInt64}, to = {to:UInt64})
    GROUP BY account, comet, asset, timestamp, position, block_number
  ),
  head AS (
    SELECT account, comet, asset, argMax(balance, position) AS had FROM comet_collateral
    WHERE chain_id = toUInt32({stream:Int32}) AND position <= {from:UInt64}
      AND (account, comet, asset) IN (
        SELECT account, comet, asset FROM internal.comet_account_touched(stream = {stream:Int32}, from = {from:UInt64}, to = {to:UInt64}))
      AND position NOT IN (SELECT position FROM retracted WHERE stream = {stream:Int32} AND retracted_by <= {to:UInt64})
    GROUP BY account, comet, asset
  )
SELECT toUInt32({stream:Int32}) AS chain_id, m.account AS account, m.comet AS comet, m.asset AS asset, m.timestamp AS timestamp,
  m.position AS position, m.block_number AS block_number, m.change AS delta,
  h.had + sum(m.change) OVER (PARTITION BY m.account, m.comet, m.asset ORDER BY m.position
    ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS balance
FROM moved AS m LEFT JOIN head AS h ON m.account = h.account AND m.comet = h.comet AND m.asset = h.asset;

CREATE VIEW IF NOT EXISTS internal.comet_asset_touched AS
SELECT contract AS comet, JSONExtractString(data, 'asset') AS asset FROM event
WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64} AND protocol = 'compound-v3'
  AND type IN ('CollateralSupplied', 'CollateralWithdrawn', 'CollateralTransferred', 'CollateralAbsorbed');

CREATE VIEW IF NOT EXISTS internal.comet_collateral_total_head AS
WITH {from:UInt64} - least({from:UInt64}, greatest(10000, {to:UInt64} - {from:UInt64})) AS nearby
SELECT comet, asset, argMax(total, position) AS had
FROM (
  SELECT * FROM comet_collateral_total
  WHERE chain_id = toUInt32({stream:Int32}) AND position > nearby AND position <= {from:UInt64}
    AND (comet, asset) IN (SELECT comet, asset FROM internal.comet_asset_touched(stream = {stream:Int32}, from = {from:UInt64}, to = {to:UInt64}))
  UNION ALL
  SELECT * FROM comet_collateral_total
  WHERE chain_id = toUInt32({stream:Int32}) AND position <= nearby
    AND (comet, asset) IN (
      SELECT comet, asset FROM internal.comet_asset_touched(stream = {stream:Int32}, from = {from:UInt64}, to = {to:UInt64})
      WHERE (comet, asset) NOT IN (
        SELECT comet, asset FROM comet_collateral_total
        WHERE chain_id = toUInt32({stream:Int32}) AND position > nearby AND position <= {from:UInt64}
          AND (comet, asset) IN (SELECT comet, asset FROM internal.comet_asset_touched(stream = {stream:Int32}, from = {from:UInt64}, to = {to:UInt64}))
          AND position NOT IN (SELECT position FROM retracted WHERE stream = {stream:Int32} AND retracted_by <= {to:UInt64})))
)
WHERE position NOT IN (SELECT position FROM retracted WHERE stream = {stream:Int32} AND retracted_by <= {to:UInt64})
GROUP BY comet, asset;

CREATE VIEW IF NOT EXISTS internal.comet_collateral_total_rows AS
WITH
  moved AS (
    SELECT comet, asset, timestamp, position, block_number, sum(delta) AS change
    FROM internal.comet_movement(stream = {stream:Int32}, from = {from:UInt64}, to = {to:UInt64})
    GROUP BY comet, asset, timestamp, position, block_number
    HAVING change != 0
  )
SELECT toUInt32({stream:Int32}) AS chain_id, m.comet AS comet, m.asset AS asset, m.timestamp AS timestamp,
  m.position AS position, m.block_number AS block_number,
  h.had + sum(m.change) OVER (PARTITION BY m.comet, m.asset ORDER BY m.position
    ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS total
FROM moved AS m LEFT JOIN internal.comet_collateral_total_head(stream = {stream:Int32}, from = {from:UInt64}, to = {to:UInt64}) AS h
  ON m.comet = h.comet AND m.asset = h.asset;

CREATE VIEW IF NOT EXISTS internal.fixed_term_market_touched AS
SELECT contract AS market FROM event
WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64} AND type IN ('PrincipalSwapped', 'PoolLiquidityAdded', 'PoolLiquidityRemoved');

-- As in 0018. A market ends, and with it what is read of it.
CREATE VIEW IF NOT EXISTS internal.fixed_term_trade_rows AS
WITH
  moved AS (SELECT * FROM internal.fixed_term_movement(stream = {stream:Int32}, from = {from:UInt64}, to = {to:UInt64})),
  head AS (
    SELECT market, argMax(total_pt, position) AS had_pt, argMax(total_sy, position) AS had_sy FROM fixed_term_trade
    WHERE chain_id = toUInt32({stream:Int32}) AND position <= {from:UInt64} AND market IN (
        SELECT market FROM internal.fixed_term_market_touched(stream = {stream:Int32}, from = {from:UInt64}, to = {to:UInt64}))
      AND position NOT IN (SELECT position FROM retracted WHERE stream = {stream:Int32} AND retracted_by <= {to:UInt64})
    GROUP BY market
  )
SELECT toUInt32({stream:Int32}) AS chain_id, m.market AS market, m.timestamp AS timestamp, m.position AS position,
  m.block_number AS block_number, m.tx_hash AS tx_hash, m.log_index AS log_index, m.kind AS kind, m.receiver AS receiver,
  m.pt_out AS pt_out, m.sy_out AS sy_out, m.sy_fee AS sy_fee, m.lp AS lp,
  h.had_pt - sum(m.pt_out) OVER (PARTITION BY m.market ORDER BY m.position ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS total_pt,
  h.had_sy - sum(m.sy_out) OVER (PARTITION BY m.market ORDER BY m.position ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS total_sy
FROM moved AS m LEFT JOIN head AS h ON m.market = h.market;

CREATE VIEW IF NOT EXISTS internal.pt_holder_touched AS
SELECT contract AS pt, arrayJoin([JSONExtractString(data, 'from'), JSONExtractString(data, 'to')]) AS holder FROM event
WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64} AND type = 'PrincipalTransferred';

CREATE VIEW IF NOT EXISTS internal.pt_balance_rows AS
WITH
  moved AS (SELECT * FROM internal.pt_movement(stream = {stream:Int32}, from = {from:UInt64}, to = {to:UInt64})),
  head AS (
    SELECT pt, holder, argMax(balance, position) AS had FROM pt_balance
    WHERE chain_id = toUInt32({stream:Int32}) AND position <= {from:UInt64}
      AND (pt, holder) IN (SELECT pt, holder FROM internal.pt_holder_touched(stream = {stream:Int32}, from = {from:UInt64}, to = {to:UInt64}))
      AND position NOT IN (SELECT position FROM retracted WHERE stream = {stream:Int32} AND retracted_by <= {to:UInt64})
    GROUP BY pt, holder
  )
SELECT toUInt32({stream:Int32}) AS chain_id, m.pt AS pt, m.holder AS holder, m.timestamp AS timestamp, m.position AS position,
  m.block_number AS block_number, m.delta AS delta,
  h.had + sum(m.delta) OVER (PARTITION BY m.pt, m.holder ORDER BY m.position
    ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS balance
FROM moved AS m LEFT JOIN head AS h ON m.pt = h.pt AND m.holder = h.holder;

CREATE VIEW IF NOT EXISTS internal.amm_holder_touched AS
SELECT contract AS vault, arrayJoin([JSONExtractString(data, 'from'), JSONExtractString(data, 'to')]) AS holder FROM event
WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64} AND type = 'AmmShareTransferred';

-- As in 0019.
CREATE VIEW IF NOT EXISTS internal.amm_share_rows AS
WITH
  moved AS (SELECT * FROM internal.amm_share_movement(stream = {stream:Int32}, from = {from:UInt64}, to = {to:UInt64})),
  head AS (
    SELECT vault, holder, argMax(balance, position) AS had FROM amm_share
    WHERE chain_id = toUInt32({stream:Int32}) AND position <= {from:UInt64}
      AND (vault, holder) IN (SELECT vault, holder FROM internal.amm_holder_touched(stream = {stream:Int32}, from = {from:UInt64}, to = {to:UInt64}))
      AND position NOT IN (SELECT position FROM retracted WHERE stream = {stream:Int32} AND retracted_by <= {to:UInt64})
    GROUP BY vault, holder
  )
SELECT toUInt32({stream:Int32}) AS chain_id, m.vault AS vault, m.holder AS holder, m.timestamp AS timestamp, m.position AS position,
  m.block_number AS block_number, m.delta AS delta,
  h.had + sum(m.delta) OVER (PARTITION BY m.vault, m.holder ORDER BY m.position
    ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS balance
FROM moved AS m LEFT JOIN head AS h ON m.vault = h.vault AND m.holder = h.holder;
