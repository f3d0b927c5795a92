-- What accounts did in lending markets, by account: one row per asset that moved, so that a liquidation has two.
-- side: 'loan' is what is lent and borrowed, 'collateral' what only secures (Aave has one kind of asset, always 'loan').
-- market: where a market has several assets of a side, the asset (Aave; collateral of Compound v3).
CREATE TABLE IF NOT EXISTS lending_event (
  chain_id UInt32 COMMENT 'chain, by its id',
  protocol LowCardinality(String) COMMENT 'slug of the protocol, e.g. aave-v3',
  account String COMMENT 'address of the account, lower case' CODEC(ZSTD(1)),
  contract LowCardinality(String) COMMENT 'address of the pool, Morpho, Comet or lending vault, lower case',
  market String COMMENT 'market: bytes32 id of Morpho Blue, the asset of Aave v3; of Compound v3 the Comet, or the asset where it is collateral; of Euler the vault' CODEC(ZSTD(1)),
  side LowCardinality(String) COMMENT 'loan: what is lent and borrowed; collateral: what only secures',
  timestamp DateTime('UTC') COMMENT 'time of the block, UTC' CODEC(DoubleDelta, ZSTD(1)),
  position UInt64 COMMENT 'place of the event that the row follows from, in the chain''s stream of events' CODEC(DoubleDelta, ZSTD(1)),
  block_number UInt64 COMMENT 'number of that event''s block' CODEC(DoubleDelta, ZSTD(1)),
  event_type LowCardinality(String) COMMENT 'supply, withdraw, borrow, repay, liquidation',
  assets UInt256 COMMENT 'base units of the asset' CODEC(ZSTD(1)),
  tx_hash String COMMENT 'hash of the transaction' CODEC(ZSTD(1)),
  log_index UInt32 COMMENT 'place of the log in its block',
  part UInt8 COMMENT 'of the event: 1 is what a liquidation took, which may be of the asset that it repaid'
) ENGINE = ReplacingMergeTree
PARTITION BY chain_id
ORDER BY (chain_id, account, contract, market, side, timestamp, position, part)
SETTINGS non_replicated_deduplication_window = 1000
COMMENT 'What accounts did in lending markets, by account: one row per asset that moved, so that a liquidation has two. side: ''loan'' is what is lent and borrowed, ''collateral'' what only secures (Aave has one kind of asset, always ''loan''). market: where a market has several assets of a side, the asset (Aave; collateral of Compound v3). Ordered by (chain_id, account, contract, market, side, timestamp, position, part).';

CREATE VIEW IF NOT EXISTS internal.lending_event_rows AS
SELECT toUInt32(stream) AS chain_id, protocol, account, contract, moved.1 AS market, moved.2 AS side, timestamp, position, block_number,
  multiIf(type IN ('Supplied', 'CollateralSupplied'), 'supply', type IN ('Withdrawn', 'CollateralWithdrawn'), 'withdraw',
    type = 'Borrowed', 'borrow', type = 'Repaid', 'repay', 'liquidation') AS event_type,
  toUInt256OrZero(moved.3) AS assets, tx_hash, log_index, toUInt8(moved.4) AS part
FROM (
  SELECT stream, protocol, contract, timestamp, position, block_number, type, tx_hash, log_index,
    JSONExtract(data, 'Tuple(market String, onBehalf String, borrower String, asset String, assets String, repaidAssets String, seizedAssets String, collateralMarket String)') AS fields,
    if(type IN ('Liquidated', 'DebtAbsorbed', 'CollateralAbsorbed'), fields.borrower, fields.onBehalf) AS account
  FROM event
  WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64}
    AND type IN ('Supplied', 'Withdrawn', 'CollateralSupplied', 'CollateralWithdrawn', 'Borrowed', 'Repaid', 'Liquidated',
      'DebtAbsorbed', 'CollateralAbsorbed')
)
ARRAY JOIN multiIf(
  type = 'Liquidated', [(fields.market, 'loan', fields.repaidAssets, 0),
    if(fields.collateralMarket = '', (fields.market, 'collateral', fields.seizedAssets, 1), (fields.collateralMarket, 'loan', fields.seizedAssets, 1))],
  [(if(fields.asset = '', fields.market, fields.asset),
    if(type IN ('CollateralSupplied', 'CollateralWithdrawn', 'CollateralAbsorbed'), 'collateral', 'loan'), fields.assets, 0)]) AS moved;
