-- Vaults of chains of Solana's kind for analysts: what they are, who holds them, what went in and out, and prices by the hour.
CREATE VIEW IF NOT EXISTS svm_vaults AS
WITH
  mints AS (
    SELECT chain_id, mint, argMax(toNullable(decimals), position) AS decimals, argMax(symbol, position) AS symbol, argMax(name, position) AS name
    FROM svm_mint
    WHERE (chain_id, position) NOT IN (SELECT chain_id, position FROM retracted_row)
    GROUP BY chain_id, mint
  ),
  samples AS (
    SELECT chain_id, vault, max(timestamp) AS sampled_at, argMax((total_assets, total_supply, share_price), position) AS last
    FROM svm_vault_sample
    WHERE (chain_id, position) NOT IN (SELECT chain_id, position FROM retracted_row)
    GROUP BY chain_id, vault
  )
SELECT v.chain_id AS chain_id, v.vault AS vault, v.protocol AS protocol, v.program AS program, share.name AS name,
  v.share_mint AS share_mint, share.symbol AS share_symbol, share.decimals AS share_decimals,
  v.asset_mint AS asset_mint, asset.symbol AS asset_symbol, asset.decimals AS asset_decimals,
  if(s.vault = '', NULL, s.sampled_at) AS sampled_at, s.last.1 AS total_assets_raw, s.last.2 AS total_supply_raw, s.last.3 AS share_price,
  toFloat64(s.last.1) / pow(10., asset.decimals) AS total_assets
FROM (
  SELECT * FROM svm_vault
  WHERE (chain_id, position) NOT IN (SELECT chain_id, position FROM retracted_row)
  ORDER BY position DESC
  LIMIT 1 BY chain_id, vault
) AS v
LEFT JOIN mints AS share ON share.chain_id = v.chain_id AND share.mint = v.share_mint
LEFT JOIN mints AS asset ON asset.chain_id = v.chain_id AND asset.mint = v.asset_mint
LEFT JOIN samples AS s ON s.chain_id = v.chain_id AND s.vault = v.vault
COMMENT 'Grain: one row per vault of a chain of Solana''s kind, as it stands now; `(chain_id, vault)`.';
ALTER TABLE svm_vaults
  COMMENT COLUMN chain_id 'chain, by the id of its stream: 1399811149 is Solana',
  COMMENT COLUMN vault 'account of the vault, lower-case hex of 32 bytes',
  COMMENT COLUMN protocol 'slug of the protocol',
  COMMENT COLUMN program 'account of the program that carries it out',
  COMMENT COLUMN name 'what its share is called, as the mint says itself; empty: not known',
  COMMENT COLUMN share_mint 'mint of its shares',
  COMMENT COLUMN share_symbol 'symbol of the share; empty: not known',
  COMMENT COLUMN share_decimals 'decimals of the share; NULL: never read',
  COMMENT COLUMN asset_mint 'mint of what it takes; that of wrapped SOL where it takes SOL',
  COMMENT COLUMN asset_symbol 'symbol of the asset; empty: not known',
  COMMENT COLUMN asset_decimals 'decimals of the asset; NULL: never read',
  COMMENT COLUMN sampled_at 'time of the newest sample, UTC; NULL: never read',
  COMMENT COLUMN total_assets_raw 'assets of the vault, asset base units; NULL: not read',
  COMMENT COLUMN total_supply_raw 'all shares, share base units; NULL: not read',
  COMMENT COLUMN share_price 'assets per whole share; NULL: there is no share',
  COMMENT COLUMN total_assets 'assets of the vault, whole units; NULL: not read';

CREATE VIEW IF NOT EXISTS svm_positions AS
SELECT b.chain_id AS chain_id, v.vault AS vault, b.holder AS holder, b.shares_raw AS shares_raw,
  toFloat64(b.shares_raw) / pow(10., v.share_decimals) AS shares, shares * v.share_price AS assets, v.asset_symbol AS asset_symbol, b.since AS changed_at
FROM (
  SELECT chain_id, mint, holder, sum(last.1) AS shares_raw, max(last.2) AS since
  FROM (
    SELECT chain_id, mint, holder, token_account, argMax((amount, timestamp), position) AS last
    FROM svm_balance
    WHERE (chain_id, position) NOT IN (SELECT chain_id, position FROM retracted_row)
    GROUP BY chain_id, mint, holder, token_account
  )
  GROUP BY chain_id, mint, holder
  HAVING shares_raw > 0
) AS b
INNER JOIN svm_vaults AS v ON v.chain_id = b.chain_id AND v.share_mint = b.mint
COMMENT 'Grain: one row per holder and vault of a chain of Solana''s kind, with what is held now over all token accounts; `(chain_id, vault, holder)`. Shares that a farm or another program holds stand under that program.';
ALTER TABLE svm_positions
  COMMENT COLUMN chain_id 'chain, by the id of its stream: 1399811149 is Solana',
  COMMENT COLUMN vault 'account of the vault, lower-case hex of 32 bytes',
  COMMENT COLUMN holder 'owner of the token accounts',
  COMMENT COLUMN shares_raw 'shares, base units',
  COMMENT COLUMN shares 'shares, whole units; NULL: decimals were never read',
  COMMENT COLUMN assets 'what they are worth at the newest sample, whole units of the asset; NULL: no price of a share is known',
  COMMENT COLUMN asset_symbol 'symbol of the asset; empty: not known',
  COMMENT COLUMN changed_at 'time of the newest change, UTC';

CREATE VIEW IF NOT EXISTS svm_flows AS
SELECT f.chain_id AS chain_id, f.timestamp AS timestamp, f.block_number AS block_number, f.vault AS vault, v.protocol AS protocol, f.account AS account,
  f.kind AS kind, f.assets AS assets_raw, toFloat64(f.assets) / pow(10., v.asset_decimals) AS assets, v.asset_symbol AS asset_symbol,
  f.shares AS shares_raw, toFloat64(f.shares) / pow(10., v.share_decimals) AS shares, f.tx_hash AS tx_hash, f.position AS position
FROM svm_flow AS f FINAL
INNER JOIN svm_vaults AS v ON v.chain_id = f.chain_id AND v.vault = f.vault
WHERE (f.chain_id, f.position) NOT IN (SELECT chain_id, position FROM retracted_row)
COMMENT 'Grain: one row per deposit or withdrawal of a vault of a chain of Solana''s kind, with names and whole units; `(chain_id, position)`.';
ALTER TABLE svm_flows
  COMMENT COLUMN chain_id 'chain, by the id of its stream: 1399811149 is Solana',
  COMMENT COLUMN timestamp 'time of the slot, UTC',
  COMMENT COLUMN block_number 'slot',
  COMMENT COLUMN vault 'account of the vault, lower-case hex of 32 bytes',
  COMMENT COLUMN protocol 'slug of the protocol',
  COMMENT COLUMN account 'owner of the token account whose shares came or went',
  COMMENT COLUMN kind 'deposit, withdrawal',
  COMMENT COLUMN assets_raw 'asset base units; NULL: no instruction says how many',
  COMMENT COLUMN assets 'whole units of the asset; NULL: not known',
  COMMENT COLUMN asset_symbol 'symbol of the asset; empty: not known',
  COMMENT COLUMN shares_raw 'share base units',
  COMMENT COLUMN shares 'whole shares; NULL: decimals were never read',
  COMMENT COLUMN tx_hash 'signature of the transaction, lower-case hex of 64 bytes',
  COMMENT COLUMN position 'place of the event that the row follows from, in the chain''s stream of events';

CREATE VIEW IF NOT EXISTS svm_share_prices AS
SELECT chain_id, vault, toStartOfHour(timestamp) AS hour, argMax(price, position) AS share_price, argMax(source, position) AS told_by, max(timestamp) AS told_at
FROM (
  SELECT chain_id, vault, timestamp, position, assumeNotNull(share_price) AS price, 'sample' AS source
  FROM svm_vault_sample
  WHERE share_price IS NOT NULL
  UNION ALL
  SELECT chain_id, vault, timestamp, position, assumeNotNull(toFloat64(price_assets) / toFloat64(price_shares) * pow(10., shift)) AS price, 'log' AS source
  FROM svm_price
  ANY LEFT JOIN (
    SELECT chain_id, vault, toNullable(toInt32(share_decimals) - toInt32(asset_decimals)) AS shift
    FROM svm_vaults WHERE share_decimals IS NOT NULL AND asset_decimals IS NOT NULL
  ) AS v USING (chain_id, vault)
  WHERE price_shares > 0 AND shift IS NOT NULL
)
WHERE (chain_id, position) NOT IN (SELECT chain_id, position FROM retracted_row)
GROUP BY chain_id, vault, hour
COMMENT 'Grain: one row per vault of a chain of Solana''s kind and hour in which a price of a share is known, the last of the hour; `(chain_id, vault, hour)`.';
ALTER TABLE svm_share_prices
  COMMENT COLUMN chain_id 'chain, by the id of its stream: 1399811149 is Solana',
  COMMENT COLUMN vault 'account of the vault, lower-case hex of 32 bytes',
  COMMENT COLUMN hour 'start of the hour, UTC',
  COMMENT COLUMN share_price 'assets per whole share',
  COMMENT COLUMN told_by 'sample: read from a node when it was the newest; log: written down by the program itself, which is told of the past, too',
  COMMENT COLUMN told_at 'time of the newest price of the hour, UTC';
