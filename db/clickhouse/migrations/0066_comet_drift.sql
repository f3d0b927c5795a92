-- Whether the principals known of a Comet's accounts add up to the totals it says. A few units of difference are
-- rounding: where it takes a unit of a lender (a supply or transfer of nothing), the Comet leaves its total as it was. More is an
-- account whose principal changed without a log and without a debt; debts are read again every hour.
CREATE VIEW IF NOT EXISTS comet_drift AS
SELECT chain_id, comet, toInt256(totals.1) - lent AS supply_drift, toInt256(totals.2) - owed AS borrow_drift
FROM (
  SELECT chain_id, comet, argMax((supply_principal, borrow_principal), position) AS totals
  FROM comet_state WHERE (chain_id, position) NOT IN (SELECT toUInt32(stream), position FROM retracted)
  GROUP BY chain_id, comet
) AS s
INNER JOIN (
  SELECT chain_id, comet, sum(if(principal > 0, principal, toInt256(0))) AS lent, sum(if(principal < 0, -principal, toInt256(0))) AS owed
  FROM (
    SELECT chain_id, account, comet, argMax(principal, position) AS principal
    FROM comet_principal WHERE (chain_id, position) NOT IN (SELECT toUInt32(stream), position FROM retracted)
    GROUP BY chain_id, account, comet
  )
  GROUP BY chain_id, comet
) AS p ON s.chain_id = p.chain_id AND s.comet = p.comet
COMMENT 'Whether the principals known of a Comet''s accounts add up to the totals it says. A few units of difference are rounding: where it takes a unit of a lender (a supply or transfer of nothing), the Comet leaves its total as it was. More is an account whose principal changed without a log and without a debt; debts are read again every hour. A Comet whose history is not stored from its beginning shows what its earlier accounts have.';
ALTER TABLE comet_drift
  COMMENT COLUMN chain_id 'chain, by its id',
  COMMENT COLUMN comet 'address of the market (a Comet), lower case',
  COMMENT COLUMN supply_drift 'total less the sum over accounts, before interest',
  COMMENT COLUMN borrow_drift 'total less the sum over accounts, before interest';
