-- Vaults of chains of Solana's kind. Accounts and mints are 32 bytes, lower-case hex; signatures 64 bytes; block numbers are slots.
-- Which vault an account is: the program has checked the accounts of an instruction that it carried out.
CREATE TABLE IF NOT EXISTS svm_vault (
  chain_id UInt32 COMMENT 'chain, by the id of its stream: 1399811149 is Solana',
  vault LowCardinality(String) COMMENT 'account of the vault, lower-case hex of 32 bytes',
  timestamp DateTime('UTC') COMMENT 'time of the slot, UTC, as the cluster reckons it' CODEC(DoubleDelta, ZSTD(1)),
  position UInt64 COMMENT 'place of the event that the row follows from, in the chain''s stream of events' CODEC(DoubleDelta, ZSTD(1)),
  block_number UInt64 COMMENT 'that event''s slot' CODEC(DoubleDelta, ZSTD(1)),
  protocol LowCardinality(String) COMMENT 'slug of the protocol',
  program LowCardinality(String) COMMENT 'account of the program that carries it out: one code may be deployed more than once',
  share_mint String COMMENT 'mint of its shares' CODEC(ZSTD(1)),
  asset_mint LowCardinality(String) COMMENT 'mint of what it takes; that of wrapped SOL where it takes SOL',
  authority String COMMENT 'the account that alone mints shares' CODEC(ZSTD(1)),
  reserve String COMMENT 'the account that withdrawals are paid from; empty: none' CODEC(ZSTD(1))
) ENGINE = ReplacingMergeTree
PARTITION BY chain_id
ORDER BY (chain_id, vault, timestamp, position)
SETTINGS non_replicated_deduplication_window = 1000
COMMENT 'Grain: one row per time that a vault was met for the first time or with other accounts; the newest stands; `(chain_id, vault, timestamp, position)`.';

CREATE VIEW IF NOT EXISTS internal.svm_vault_rows AS
SELECT toUInt32(stream) AS chain_id, contract AS vault, timestamp, position, block_number, protocol, fields.program AS program,
  fields.shareMint AS share_mint, fields.asset AS asset_mint, fields.authority AS authority, fields.reserve AS reserve
FROM (
  SELECT stream, contract, timestamp, position, block_number, protocol,
    JSONExtract(data, 'Tuple(program String, shareMint String, asset String, authority String, reserve String)') AS fields
  FROM event
  WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64} AND type = 'SvmVaultIdentified'
);

-- What mints of shares and of assets say of themselves.
CREATE TABLE IF NOT EXISTS svm_mint (
  chain_id UInt32 COMMENT 'chain, by the id of its stream: 1399811149 is Solana',
  mint LowCardinality(String) COMMENT 'account of the mint, lower-case hex of 32 bytes',
  timestamp DateTime('UTC') COMMENT 'time of the slot, UTC, as the cluster reckons it' CODEC(DoubleDelta, ZSTD(1)),
  position UInt64 COMMENT 'place of the event that the row follows from, in the chain''s stream of events' CODEC(DoubleDelta, ZSTD(1)),
  block_number UInt64 COMMENT 'that event''s slot' CODEC(DoubleDelta, ZSTD(1)),
  token_program LowCardinality(String) COMMENT 'which token program it is of: Token or Token-2022',
  decimals UInt8 COMMENT 'its decimals',
  mint_authority String COMMENT 'who may make more of it; empty: nobody' CODEC(ZSTD(1)),
  freeze_authority String COMMENT 'who may freeze what others hold of it; empty: nobody' CODEC(ZSTD(1)),
  name String COMMENT 'its name, as it says itself; empty: not known' CODEC(ZSTD(1)),
  symbol String COMMENT 'its symbol, as it says itself; empty: not known' CODEC(ZSTD(1))
) ENGINE = ReplacingMergeTree
PARTITION BY chain_id
ORDER BY (chain_id, mint, timestamp, position)
SETTINGS non_replicated_deduplication_window = 1000
COMMENT 'Grain: one row per time that a mint was read; the newest stands; `(chain_id, mint, timestamp, position)`.';

CREATE VIEW IF NOT EXISTS internal.svm_mint_rows AS
SELECT toUInt32(stream) AS chain_id, contract AS mint, timestamp, position, block_number, fields.tokenProgram AS token_program,
  fields.decimals AS decimals, fields.mintAuthority AS mint_authority, fields.freezeAuthority AS freeze_authority, fields.name AS name, fields.symbol AS symbol
FROM (
  SELECT stream, contract, timestamp, position, block_number,
    JSONExtract(data, 'Tuple(tokenProgram String, decimals UInt8, mintAuthority String, freezeAuthority String, name String, symbol String)') AS fields
  FROM event
  WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64} AND type = 'SvmMintDescribed'
);

-- Deposits and withdrawals, with the amounts that the token instructions below them moved.
CREATE TABLE IF NOT EXISTS svm_flow (
  account String COMMENT 'owner of the token account whose shares came or went' CODEC(ZSTD(1)),
  chain_id UInt32 COMMENT 'chain, by the id of its stream: 1399811149 is Solana',
  vault LowCardinality(String) COMMENT 'account of the vault, lower-case hex of 32 bytes',
  timestamp DateTime('UTC') COMMENT 'time of the slot, UTC, as the cluster reckons it' CODEC(DoubleDelta, ZSTD(1)),
  position UInt64 COMMENT 'place of the event that the row follows from, in the chain''s stream of events' CODEC(DoubleDelta, ZSTD(1)),
  block_number UInt64 COMMENT 'that event''s slot' CODEC(DoubleDelta, ZSTD(1)),
  kind LowCardinality(String) COMMENT 'deposit, withdrawal',
  assets Nullable(UInt256) COMMENT 'asset base units; NULL: no instruction says how many' CODEC(ZSTD(1)),
  shares UInt256 COMMENT 'share base units: what the account got after the fee, or what left it with the fee' CODEC(ZSTD(1)),
  sender String COMMENT 'who paid the assets, or was paid them' CODEC(ZSTD(1)),
  tx_hash String COMMENT 'signature of the transaction, lower-case hex of 64 bytes' CODEC(ZSTD(1)),
  instruction_index UInt32 COMMENT 'place of the outer instruction in its transaction',
  place UInt32 COMMENT 'place in the slot: index of the transaction × 256 + place of the instruction in its trace',
  path String COMMENT 'places of the instruction, between dots: of the outer one, of the one that it called, …',
  INDEX by_vault vault TYPE bloom_filter(0.01) GRANULARITY 1
) ENGINE = ReplacingMergeTree
PARTITION BY chain_id
ORDER BY (account, chain_id, vault, timestamp, position)
SETTINGS non_replicated_deduplication_window = 1000
COMMENT 'Grain: one row per deposit or withdrawal; `(account, chain_id, vault, timestamp, position)`.';

CREATE VIEW IF NOT EXISTS internal.svm_flow_rows AS
SELECT fields.account AS account, toUInt32(stream) AS chain_id, contract AS vault, timestamp, position, block_number,
  if(type = 'SvmDeposited', 'deposit', 'withdrawal') AS kind, toUInt256OrNull(fields.assets) AS assets, toUInt256(fields.shares) AS shares,
  if(type = 'SvmDeposited', fields.sender, fields.receiver) AS sender, tx_hash, fields.instructionIndex AS instruction_index, log_index AS place, fields.path AS path
FROM (
  SELECT stream, contract, timestamp, position, block_number, type, tx_hash, log_index,
    JSONExtract(data, 'Tuple(account String, sender String, receiver String, assets Nullable(String), shares String, instructionIndex UInt32, path String)') AS fields
  FROM event
  WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64} AND type IN ('SvmDeposited', 'SvmWithdrawn')
);

-- Shares by token account and owner: what is so from a moment on, not what changed, so that one lost row is mended by the
-- next. What an owner has is the sum over token accounts of the newest row of each.
CREATE TABLE IF NOT EXISTS svm_balance (
  holder String COMMENT 'owner of the token account' CODEC(ZSTD(1)),
  chain_id UInt32 COMMENT 'chain, by the id of its stream: 1399811149 is Solana',
  mint LowCardinality(String) COMMENT 'mint of the shares',
  token_account String COMMENT 'the account that holds them' CODEC(ZSTD(1)),
  timestamp DateTime('UTC') COMMENT 'time of the slot, UTC, as the cluster reckons it' CODEC(DoubleDelta, ZSTD(1)),
  position UInt64 COMMENT 'place of the event that the row follows from, in the chain''s stream of events' CODEC(DoubleDelta, ZSTD(1)),
  block_number UInt64 COMMENT 'that event''s slot' CODEC(DoubleDelta, ZSTD(1)),
  amount UInt256 COMMENT 'share base units that the token account has for this owner from here on; 0: it was closed, emptied, or is another owner''s, who has a row too' CODEC(ZSTD(1)),
  INDEX by_mint mint TYPE bloom_filter(0.01) GRANULARITY 1
) ENGINE = ReplacingMergeTree
PARTITION BY chain_id
ORDER BY (holder, chain_id, mint, token_account, timestamp, position)
SETTINGS non_replicated_deduplication_window = 1000, index_granularity = 1024,
  min_bytes_for_wide_part = 268435456
COMMENT 'Grain: one row per change of a token account and owner; `(holder, chain_id, mint, token_account, timestamp, position)`.';

CREATE VIEW IF NOT EXISTS internal.svm_balance_rows AS
SELECT holding.1 AS holder, toUInt32(stream) AS chain_id, contract AS mint, fields.tokenAccount AS token_account, timestamp, position, block_number,
  toUInt256(holding.2) AS amount
FROM (
  SELECT stream, contract, timestamp, position, block_number,
    JSONExtract(data, 'Tuple(tokenAccount String, owner String, previousOwner String, amount String)') AS fields
  FROM event
  WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64} AND type = 'SvmShareAccountChanged'
)
ARRAY JOIN if(fields.previousOwner IN ('', fields.owner), [(fields.owner, fields.amount)],
  [(fields.owner, fields.amount), (fields.previousOwner, '0')]) AS holding;
