-- Of which event store these read models are: the uuid of `read_models` in Postgres. A database without it is new.
CREATE TABLE IF NOT EXISTS identity (
  store String COMMENT 'uuid of the event store (`read_models` in Postgres)'
) ENGINE = ReplacingMergeTree
ORDER BY (store)
COMMENT 'Grain: one row: of which event store the read models are. A database without it is new.';
