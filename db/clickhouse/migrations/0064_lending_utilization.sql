-- What share of what is lent was owed, at each state that lending markets left: reserves of Aave v3, markets of Morpho
-- Blue, base assets of Compound v3. Amounts are as of the row's own moment, interest included up to it.
CREATE VIEW IF NOT EXISTS lending_utilization AS
SELECT chain_id, protocol, contract, market, asset, timestamp, position, block_number, supplied, borrowed,
  if(supplied = 0, 0, toFloat64(borrowed) / toFloat64(supplied)) AS utilization
FROM (
  SELECT chain_id, 'morpho-blue' AS protocol, morpho AS contract, market, m.loan_asset AS asset, timestamp, position, block_number,
    toUInt256(supply_assets) AS supplied, toUInt256(borrow_assets) AS borrowed
  FROM morpho_state AS s
  ANY LEFT JOIN (SELECT chain_id, market, loan_asset FROM morpho_market) AS m ON s.chain_id = m.chain_id AND s.market = m.market
  UNION ALL
  SELECT chain_id, 'compound-v3' AS protocol, comet AS contract, comet AS market, c.base_asset AS asset, timestamp, position,
    block_number, intDiv(supply_principal * supply_index, toUInt256(1000000000000000)) AS supplied,
    intDiv(borrow_principal * borrow_index, toUInt256(1000000000000000)) AS borrowed
  FROM comet_state AS s
  ANY LEFT JOIN (SELECT chain_id, comet, base_asset FROM comet_market) AS c ON s.chain_id = c.chain_id AND s.comet = c.comet
  UNION ALL
  SELECT i.chain_id AS chain_id, 'aave-v3' AS protocol, i.pool AS contract, i.asset AS market, i.asset AS asset, i.timestamp AS timestamp,
    i.position AS position, i.block_number AS block_number,
    intDiv(toUInt256(s.scaled) * i.liquidity_index + toUInt256('500000000000000000000000000'), toUInt256('1000000000000000000000000000')) AS supplied,
    intDiv(toUInt256(b.scaled) * i.variable_borrow_index + toUInt256('500000000000000000000000000'), toUInt256('1000000000000000000000000000')) AS borrowed
  FROM (
    SELECT chain_id, pool, asset, timestamp, position, block_number, liquidity_index, variable_borrow_index, a_token, variable_debt_token
    FROM aave_index AS x
    INNER JOIN (SELECT DISTINCT chain_id, pool, asset, a_token, r.variable_debt_token AS variable_debt_token
      FROM aave_token AS t INNER JOIN (SELECT DISTINCT chain_id, a_token, variable_debt_token FROM aave_reserve) AS r
        ON t.chain_id = r.chain_id AND t.a_token = r.a_token) AS n
      ON x.chain_id = n.chain_id AND x.pool = n.pool AND x.asset = n.asset
  ) AS i
  -- The log of the rates comes before those of the tokens: totals are those at the end of the block.
  ASOF LEFT JOIN (SELECT chain_id, token, block_number, argMax(scaled, position) AS scaled FROM aave_total
    WHERE (chain_id, position) NOT IN (SELECT toUInt32(stream), position FROM retracted)
    GROUP BY chain_id, token, block_number) AS s
    ON i.chain_id = s.chain_id AND i.a_token = s.token AND i.block_number >= s.block_number
  ASOF LEFT JOIN (SELECT chain_id, token, block_number, argMax(scaled, position) AS scaled FROM aave_total
    WHERE (chain_id, position) NOT IN (SELECT toUInt32(stream), position FROM retracted)
    GROUP BY chain_id, token, block_number) AS b
    ON i.chain_id = b.chain_id AND i.variable_debt_token = b.token AND i.block_number >= b.block_number
)
WHERE (chain_id, position) NOT IN (SELECT toUInt32(stream), position FROM retracted)
COMMENT 'What share of what is lent was owed, at each state that lending markets left: reserves of Aave v3, markets of Morpho Blue, base assets of Compound v3. Amounts are as of the row''s own moment, interest included up to it. What was retracted is left out.';
ALTER TABLE lending_utilization
  COMMENT COLUMN chain_id 'chain, by its id',
  COMMENT COLUMN protocol 'aave-v3, morpho-blue or compound-v3',
  COMMENT COLUMN contract 'address of the pool, Morpho or Comet, lower case',
  COMMENT COLUMN market 'market id: bytes32 for Morpho Blue, the asset for Aave, the Comet for Compound v3',
  COMMENT COLUMN asset 'address of what is lent, lower case',
  COMMENT COLUMN timestamp 'time of the block, UTC',
  COMMENT COLUMN position 'place of the event that the row follows from, in the chain''s stream of events',
  COMMENT COLUMN block_number 'number of that event''s block',
  COMMENT COLUMN supplied 'lent to the market, base units of the asset',
  COMMENT COLUMN borrowed 'owed to the market, base units of the asset',
  COMMENT COLUMN utilization 'borrowed over supplied, a fraction; 0 where nothing is supplied';
