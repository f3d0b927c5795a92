-- Of which event store these read models are: the uuid of `read_models` in Postgres. A database without it is new.
CREATE TABLE IF NOT EXISTS identity (
  store String COMMENT 'uuid of the event store (`read_models` in Postgres)'
) ENGINE = ReplacingMergeTree
ORDER BY (store)
COMMENT 'Grain: one row: of which event store the read models are. A database without it is new.';

-- Curated facts (feeds of assets, tags, curators, flags, protocol names) with their history: the last row of a
-- (subject, kind) is what holds, unless it says removed.
CREATE TABLE IF NOT EXISTS registry_fact (
  subject String COMMENT 'vault:<chain>:<address>, asset:<chain>:<address>, protocol:<name>, curator:<name>',
  kind LowCardinality(String) COMMENT 'feed, peg, tags, flags …',
  position UInt64 COMMENT 'place in the registry''s stream',
  block_number UInt64 COMMENT 'place in the registry''s stream, which has no blocks',
  timestamp DateTime('UTC') COMMENT 'when it was recorded, UTC',
  value String COMMENT 'JSON; empty when removed',
  removed UInt8 COMMENT '1: does not hold from here on'
) ENGINE = ReplacingMergeTree
ORDER BY (subject, kind, position)
SETTINGS non_replicated_deduplication_window = 1000
COMMENT 'Grain: one row per statement; `(subject, kind, position)`. What holds is the last of a (subject, kind).';

CREATE VIEW IF NOT EXISTS internal.registry_fact_rows AS
SELECT
  fields.subject AS subject,
  fields.kind AS kind,
  position,
  block_number,
  timestamp,
  fields.value AS value,
  type = 'FactRemoved' AS removed
FROM (
  SELECT position, block_number, timestamp, type,
    JSONExtract(data, 'Tuple(subject String, kind String, value String)') AS fields
  FROM event
  WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64}
    AND type IN ('FactRecorded', 'FactRemoved')
);

-- Views for the data team have stable names and columns, leave retracted rows out, and give amounts in whole units beside the exact
-- ones. README.md beside this folder documents each; a test runs its examples.
CREATE VIEW IF NOT EXISTS retracted_row AS
SELECT toUInt32(stream) AS chain_id, position FROM retracted
COMMENT 'Grain: one row per retracted position; other views use it.';
ALTER TABLE retracted_row
  COMMENT COLUMN chain_id 'chain, by its id',
  COMMENT COLUMN position 'a position whose rows are not to be seen';

-- What holds now of what the registry was told.
CREATE VIEW IF NOT EXISTS facts AS
SELECT subject, kind, value, since
FROM (
  SELECT subject, kind, argMax(value, position) AS value, argMax(removed, position) AS removed, argMax(timestamp, position) AS since
  FROM registry_fact
  WHERE position NOT IN (SELECT position FROM retracted WHERE stream = 0)
  GROUP BY subject, kind
)
WHERE removed = 0
COMMENT 'Grain: one row per subject and kind of fact that holds now.';
ALTER TABLE facts
  COMMENT COLUMN subject 'what it is said of: vault:<chain>:<address>, asset:<chain>:<address>, contract:<chain>:<address>, protocol:<name> or curator:<name>',
  COMMENT COLUMN kind 'of a vault: listed, vaultId, tags, curator, featured, flags, fees, rewards, incentives, transactional; of an asset: feed, peg, group, logo; of a contract: ignored; of a protocol or curator: profile',
  COMMENT COLUMN value 'JSON; db/registry/kinds.ts has the schema of each kind',
  COMMENT COLUMN since 'when it was recorded, UTC';

-- Facts about what has an address.
CREATE VIEW IF NOT EXISTS address_facts AS
WITH splitByChar(':', subject) AS parts
SELECT subject, toUInt32OrZero(parts[2]) AS chain_id, lower(parts[3]) AS address, kind, value, since
FROM facts
WHERE length(parts) = 3
COMMENT 'Grain: one row per fact that holds now of a vault, an asset, a contract or a market: `facts` with chain and address apart.';
ALTER TABLE address_facts
  COMMENT COLUMN subject 'vault:<chain>:<address>, asset:<chain>:<address>, contract:<chain>:<address> or market:<chain>:<address>',
  COMMENT COLUMN chain_id 'chain, by its id',
  COMMENT COLUMN address 'address of what it is said of, lower case',
  COMMENT COLUMN kind 'listed, tags, feed, peg, ignored …: see `facts`',
  COMMENT COLUMN value 'JSON; db/registry/kinds.ts has the schema of each kind',
  COMMENT COLUMN since 'when it was recorded, UTC';

-- Contracts that an operator has left alone: no view shows what is stored of them as vaults.
CREATE VIEW IF NOT EXISTS ignored_contracts AS
SELECT chain_id, address AS contract, since, JSONExtractString(value, 'reason') AS reason
FROM address_facts
WHERE subject LIKE 'contract:%' AND kind = 'ignored'
COMMENT 'Grain: one row per contract that an operator has left alone (`vaultlog ignore`). No other view shows what is stored of it as a
vault; the tables and `latest_events` do.';
ALTER TABLE ignored_contracts
  COMMENT COLUMN chain_id 'chain, by its id',
  COMMENT COLUMN contract 'address of the contract, lower case',
  COMMENT COLUMN since 'when it was recorded, UTC',
  COMMENT COLUMN reason 'in words; empty where none was given';

CREATE VIEW IF NOT EXISTS latest_events AS
SELECT toUInt32(stream) AS chain_id, position, timestamp, type, block_number, contract, tx_hash,
  if(log_index = 4294967295, NULL, log_index) AS log_index, data
FROM event
WHERE stream = toInt32({chain:UInt32})
  AND position > (SELECT toInt64(max(position)) - 1000 FROM event WHERE stream = toInt32({chain:UInt32}))
  AND position NOT IN (SELECT position FROM retracted WHERE stream = toInt32({chain:UInt32}))
  AND type != 'BlockRetracted'
ORDER BY position DESC
COMMENT 'Grain: the newest events of one `chain` (UInt32), at most 1,000.

`chain_id`: chain, by its id
`position`: place of the event that the row follows from, in the chain''s stream of events
`timestamp`: time of the block, UTC
`type`: what happened, as in db/events/vocabulary.ts
`block_number`: number of that event''s block
`contract`: address of the contract that emitted it, lower case
`tx_hash`: hash of the transaction
`log_index`: place of the log in its block; NULL: not from a log
`data`: what the event says, JSON; on-chain integers are decimal strings in base units';
