-- Which of our chains a bridge knows by which number: those of a message are its own.
CREATE VIEW IF NOT EXISTS bridge_domains AS
SELECT * FROM values('protocol String, domain UInt32, chain_id UInt32',
  ('cctp-v2', 0, 1), ('cctp-v2', 1, 43114), ('cctp-v2', 2, 10), ('cctp-v2', 3, 42161), ('cctp-v2', 6, 8453), ('cctp-v2', 7, 137), ('cctp-v2', 10, 130),
  ('cctp-v2', 11, 59144), ('cctp-v2', 14, 480), ('cctp-v2', 15, 143), ('cctp-v2', 19, 999), ('cctp-v2', 21, 57073), ('cctp-v2', 33, 9745))
COMMENT 'Grain: one row per chain that a bridge reaches and that is indexed here.';
ALTER TABLE bridge_domains
  COMMENT COLUMN protocol 'slug of the bridge',
  COMMENT COLUMN domain 'the bridge''s own number of the chain',
  COMMENT COLUMN chain_id 'chain, by its id';

CREATE TABLE IF NOT EXISTS bridge_sent (
  recipient String COMMENT 'for whom it is, lower-case hex: an address, or 32 bytes on a chain that is no EVM chain' CODEC(ZSTD(1)),
  chain_id UInt32 COMMENT 'chain that it left, by its id',
  position UInt64 COMMENT 'place of the event that the row follows from, in the chain''s stream of events' CODEC(DoubleDelta, ZSTD(1)),
  block_number UInt64 COMMENT 'number of that event''s block' CODEC(DoubleDelta, ZSTD(1)),
  timestamp DateTime('UTC') COMMENT 'time of the block, UTC' CODEC(DoubleDelta, ZSTD(1)),
  protocol LowCardinality(String) COMMENT 'slug of the bridge',
  depositor String COMMENT 'who burnt it, address in lower case' CODEC(ZSTD(1)),
  token LowCardinality(String) COMMENT 'what was burnt, address in lower case',
  amount UInt256 COMMENT 'token base units, with the fee' CODEC(ZSTD(1)),
  max_fee UInt256 COMMENT 'token base units: the most that may be kept of the amount' CODEC(ZSTD(1)),
  source_domain UInt32 COMMENT 'the bridge''s number of the chain that it left',
  destination_domain UInt32 COMMENT 'the bridge''s number of the chain that it goes to',
  min_finality UInt32 COMMENT 'what was asked for: 1000 fast, 2000 standard',
  transfer_key String COMMENT 'hash of what burn and receipt have in common: of several burns with one key nobody can say which was received' CODEC(ZSTD(1)),
  message_hash String COMMENT 'keccak256 of the message as it was emitted' CODEC(ZSTD(1)),
  tx_hash String COMMENT 'hash of the transaction' CODEC(ZSTD(1)),
  log_index UInt32 COMMENT 'place of the log in its block',
  INDEX by_depositor depositor TYPE bloom_filter(0.01) GRANULARITY 1,
  INDEX by_transaction tx_hash TYPE bloom_filter(0.01) GRANULARITY 1
) ENGINE = ReplacingMergeTree
PARTITION BY chain_id
ORDER BY (recipient, chain_id, position)
SETTINGS non_replicated_deduplication_window = 1000
COMMENT 'Grain: one row per transfer that left a chain; `(recipient, chain_id, position)`.';

CREATE VIEW IF NOT EXISTS internal.bridge_sent_rows AS
SELECT
  fields.recipient AS recipient, toUInt32(stream) AS chain_id, position, block_number, timestamp, protocol,
  fields.depositor AS depositor, fields.token AS token, toUInt256(fields.amount) AS amount, toUInt256(fields.maxFee) AS max_fee,
  fields.sourceDomain AS source_domain, fields.destinationDomain AS destination_domain, fields.minFinality AS min_finality,
  fields.transferKey AS transfer_key, fields.messageHash AS message_hash, tx_hash, log_index
FROM (
  SELECT stream, protocol, timestamp, position, block_number, tx_hash, log_index,
    JSONExtract(data, 'Tuple(recipient String, depositor String, token String, amount String, maxFee String, sourceDomain UInt32, destinationDomain UInt32, minFinality UInt32, transferKey String, messageHash String)') AS fields
  FROM event
  WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64} AND type = 'BridgeSent'
);

CREATE TABLE IF NOT EXISTS bridge_received (
  transfer_key String COMMENT 'hash of what burn and receipt have in common' CODEC(ZSTD(1)),
  chain_id UInt32 COMMENT 'chain that it arrived on, by its id',
  position UInt64 COMMENT 'place of the event that the row follows from, in the chain''s stream of events' CODEC(DoubleDelta, ZSTD(1)),
  block_number UInt64 COMMENT 'number of that event''s block' CODEC(DoubleDelta, ZSTD(1)),
  timestamp DateTime('UTC') COMMENT 'time of the block, UTC' CODEC(DoubleDelta, ZSTD(1)),
  protocol LowCardinality(String) COMMENT 'slug of the bridge',
  source_domain UInt32 COMMENT 'the bridge''s number of the chain that it left',
  nonce String COMMENT 'the one of the message, which no burn knows' CODEC(ZSTD(1)),
  recipient String COMMENT 'who was paid, address in lower case' CODEC(ZSTD(1)),
  depositor String COMMENT 'who burnt it, lower-case hex' CODEC(ZSTD(1)),
  token LowCardinality(String) COMMENT 'what was burnt on the other chain, lower-case hex',
  amount UInt256 COMMENT 'token base units that were burnt: paid out less the fee' CODEC(ZSTD(1)),
  fee UInt256 COMMENT 'token base units that were kept' CODEC(ZSTD(1)),
  caller String COMMENT 'who delivered the message, address in lower case' CODEC(ZSTD(1)),
  finality UInt32 COMMENT 'what it was attested at: 1000 confirmed, 2000 finalized',
  tx_hash String COMMENT 'hash of the transaction' CODEC(ZSTD(1)),
  log_index UInt32 COMMENT 'place of the log in its block',
  INDEX by_recipient recipient TYPE bloom_filter(0.01) GRANULARITY 1
) ENGINE = ReplacingMergeTree
PARTITION BY chain_id
ORDER BY (transfer_key, chain_id, position)
SETTINGS non_replicated_deduplication_window = 1000
COMMENT 'Grain: one row per transfer that arrived on a chain; `(transfer_key, chain_id, position)`.';

CREATE VIEW IF NOT EXISTS internal.bridge_received_rows AS
SELECT
  fields.transferKey AS transfer_key, toUInt32(stream) AS chain_id, position, block_number, timestamp, protocol,
  fields.sourceDomain AS source_domain, fields.nonce AS nonce, fields.recipient AS recipient, fields.depositor AS depositor, fields.token AS token,
  toUInt256(fields.amount) AS amount, toUInt256(fields.fee) AS fee, fields.caller AS caller, fields.finality AS finality, tx_hash, log_index
FROM (
  SELECT stream, protocol, timestamp, position, block_number, tx_hash, log_index,
    JSONExtract(data, 'Tuple(transferKey String, sourceDomain UInt32, nonce String, recipient String, depositor String, token String, amount String, fee String, caller String, finality UInt32)') AS fields
  FROM event
  WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64} AND type = 'BridgeReceived'
);

-- Of equal transfers the oldest count as received first: how many are under way is exact, which of them is a convention.
CREATE VIEW IF NOT EXISTS transfers_in_transit AS
SELECT sent.protocol AS protocol, sent.chain_id AS chain_id, sent.destination_domain AS destination_domain, goal.chain_id AS destination_chain_id,
  sent.recipient AS recipient, sent.depositor AS depositor, sent.token AS token, told.symbol AS symbol,
  if(told.asset = '', NULL, toFloat64(sent.amount) / pow(10., told.decimals)) AS amount, sent.amount AS amount_raw,
  sent.timestamp AS sent_at, sent.tx_hash AS tx_hash, sent.log_index AS log_index
FROM (
  SELECT *, row_number() OVER (PARTITION BY protocol, source_domain, destination_domain, transfer_key ORDER BY position) AS place
  FROM bridge_sent FINAL WHERE (chain_id, position) NOT IN (SELECT chain_id, position FROM retracted_row)
) AS sent
LEFT JOIN (SELECT protocol, domain, toNullable(chain_id) AS chain_id FROM bridge_domains) AS goal
  ON sent.protocol = goal.protocol AND sent.destination_domain = goal.domain
LEFT JOIN (
  SELECT r.protocol AS protocol, r.source_domain AS source_domain, d.domain AS domain, r.transfer_key AS transfer_key, count() AS received
  FROM (SELECT * FROM bridge_received FINAL WHERE (chain_id, position) NOT IN (SELECT chain_id, position FROM retracted_row)) AS r
  INNER JOIN bridge_domains AS d ON d.protocol = r.protocol AND d.chain_id = r.chain_id
  GROUP BY r.protocol, r.source_domain, d.domain, r.transfer_key
) AS arrived ON sent.protocol = arrived.protocol AND sent.source_domain = arrived.source_domain
  AND sent.destination_domain = arrived.domain AND sent.transfer_key = arrived.transfer_key
LEFT JOIN assets AS told ON sent.chain_id = told.chain_id AND sent.token = told.asset
WHERE sent.place > arrived.received
COMMENT 'Grain: one row per transfer that left a chain and has not arrived. One to a chain that is not indexed here stays for ever: its arrival is not seen.';
ALTER TABLE transfers_in_transit
  COMMENT COLUMN protocol 'slug of the bridge',
  COMMENT COLUMN chain_id 'chain that it left, by its id',
  COMMENT COLUMN destination_domain 'the bridge''s number of the chain that it goes to',
  COMMENT COLUMN destination_chain_id 'chain that it goes to, by its id; NULL: none of those here',
  COMMENT COLUMN recipient 'for whom it is, lower-case hex',
  COMMENT COLUMN depositor 'who burnt it, address in lower case',
  COMMENT COLUMN token 'what was burnt, address in lower case',
  COMMENT COLUMN symbol 'its symbol, as it says itself; empty: not known',
  COMMENT COLUMN amount 'whole units of the token, with the fee; NULL: its decimals are not known',
  COMMENT COLUMN amount_raw 'token base units, with the fee',
  COMMENT COLUMN sent_at 'time of the block that it left in, UTC',
  COMMENT COLUMN tx_hash 'hash of the transaction that burnt it',
  COMMENT COLUMN log_index 'place of the log in its block';
