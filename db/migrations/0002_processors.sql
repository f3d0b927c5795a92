-- What each processor watches because its code or its configuration says so, not because an event did: contracts of a
-- kind, and ('' as contract) kinds whose logs count anywhere. cursor: how far the history of one that came later is
-- stored; null: all of it is, and its logs come with the blocks.
CREATE TABLE watched_source (
  stream int NOT NULL REFERENCES stream (id),
  kind text NOT NULL,
  contract text NOT NULL,
  from_block bigint NOT NULL,
  cursor bigint,
  added_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- Not watched any more; cursor says how far it was.
  removed_at timestamptz,
  -- A contract that the history of a new source has taught: it goes on with it, from `from_block` on, and where it is complete they
  -- come with the blocks, too. Then the row goes: stored events say that it is watched.
  learned boolean NOT NULL DEFAULT false,
  PRIMARY KEY (stream, kind, contract)
);

-- Logs of contracts from long before they were discovered, as far as they are not stored: those above `cursor`, up to `to_block`. A contract
-- may lack several ranges: what it logged before it was discovered, and what was left out on some days.
CREATE TABLE older_logs (
  stream int NOT NULL REFERENCES stream (id),
  kind text NOT NULL,
  contract text NOT NULL,
  cursor bigint NOT NULL,
  to_block bigint NOT NULL,
  added_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- Unix seconds of the chain's time before which no more of it is fetched: it has had its share of the day.
  not_before bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (stream, kind, contract, to_block)
);

-- What a processor must know at start without reading its whole history: the events that teach it something, noted in the
-- transaction that stores them. contracts: those that are watched because of the event.
CREATE TABLE teaching_event (
  stream int NOT NULL REFERENCES stream (id),
  position bigint NOT NULL,
  contracts text[] NOT NULL,
  is_retracted boolean NOT NULL DEFAULT false,
  PRIMARY KEY (stream, position)
);

-- Which protocol learns from which type, as far as the stream's events are noted for it.
CREATE TABLE teaching_type (
  stream int NOT NULL REFERENCES stream (id),
  protocol text NOT NULL,
  type text NOT NULL,
  PRIMARY KEY (stream, protocol, type)
);

-- Contracts that may be vaults and are not looked at yet: more came up in an hour than are looked at in one. The events of
-- the blocks before they are looked at are fetched when they are. looked_at: the block at which they were, kept until it is final.
CREATE TABLE waiting_contract (
  stream int NOT NULL REFERENCES stream (id),
  contract text NOT NULL,
  protocol text NOT NULL,
  -- By a factory that is known.
  is_made boolean NOT NULL,
  -- Of the event that brought it up.
  block bigint NOT NULL,
  log_index bigint NOT NULL,
  looked_at bigint,
  PRIMARY KEY (stream, contract, protocol)
);

-- Logs of contracts that anybody may have made, by day of the chain (since 1970). left_out_from: the block from which on that
-- day they are left out, since there were too many; left_out_to: the last such block, where a later day has begun.
CREATE TABLE log_budget (
  stream int NOT NULL REFERENCES stream (id),
  contract text NOT NULL,
  day bigint NOT NULL,
  logs bigint NOT NULL,
  left_out_from bigint,
  left_out_to bigint,
  PRIMARY KEY (stream, contract, day)
);

-- How often vaults are sampled hourly that nobody listed, by their standing (made, found): those without a seat once in so many
-- hours. For the operator's eyes: what was sampled is in the events.
CREATE TABLE sampling_round (
  stream int NOT NULL REFERENCES stream (id),
  standing text NOT NULL,
  -- Vaults that are sampled in such turns or have a seat.
  vaults bigint NOT NULL,
  hours bigint NOT NULL,
  PRIMARY KEY (stream, standing)
);

-- Ranges of final blocks whose events were compared with the chain's own logs; of a range compared again, the last time.
CREATE TABLE completeness (
  stream int NOT NULL REFERENCES stream (id),
  from_block bigint NOT NULL,
  to_block bigint NOT NULL,
  chain_events bigint NOT NULL,
  chain_checksum text NOT NULL,
  store_events bigint NOT NULL,
  store_checksum text NOT NULL,
  is_equal boolean NOT NULL,
  -- The first few, in words.
  differences jsonb NOT NULL,
  checked_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- Contracts that were left out because they are not finished: their logs are still being fetched, or they wait to be looked at.
  left_out text[] NOT NULL DEFAULT '{}',
  PRIMARY KEY (stream, from_block, to_block)
);
