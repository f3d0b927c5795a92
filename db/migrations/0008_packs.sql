-- Hourly samples are half of all events and say little that is new. Those of one block are one row: of type 'Packed', at the position of
-- the last of them, with the data {type, count, rows, key?}. A row says of one event after the other
--   ["0x…", {…}]  its contract and its data;
--   {…}           the contract of the next row of the pack at position `key` of the stream, and its data with these fields instead;
--   null          that row's contract and data as they are;
--   false         no event: the next row of `key` is passed over.
-- A pack that others name as their `key` has rows of the first kind alone. It stays where it is for ever, as every row does, whether or not its
-- block is taken back. Whoever reads events one by one asks stored_events, whoever counts rows counts packs.
CREATE INDEX event_log_packs ON event_log (stream, position) WHERE type = 'Packed';

CREATE FUNCTION unpacked(of_stream int, pack jsonb) RETURNS TABLE (behind bigint, type text, contract bytea, data jsonb) LANGUAGE sql STABLE AS $$
  SELECT count(*) OVER () - row_number() OVER (ORDER BY own.ordinality), own.type,
    decode(substr(CASE jsonb_typeof(own.value) WHEN 'array' THEN own.value->>0 ELSE base.value->>0 END, 3), 'hex'),
    CASE jsonb_typeof(own.value) WHEN 'array' THEN own.value->1 WHEN 'object' THEN (base.value->1) || own.value ELSE base.value->1 END
  FROM (
    SELECT told.type, value, ordinality, sum(CASE jsonb_typeof(value) WHEN 'array' THEN 0 ELSE 1 END) OVER (ORDER BY ordinality) AS of_key
    -- OFFSET 0: once for the pack, not for each row of it.
    FROM (SELECT pack->>'type' AS type, pack->'rows' AS rows OFFSET 0) told, jsonb_array_elements(told.rows) WITH ORDINALITY
  ) own LEFT JOIN (
    SELECT value, ordinality FROM event_log k, jsonb_array_elements(k.data->'rows') WITH ORDINALITY
    WHERE k.stream = of_stream AND k.position = (pack->>'key')::bigint
  ) base ON base.ordinality = own.of_key AND jsonb_typeof(own.value) <> 'array'
  WHERE own.value <> 'false'
$$;

-- Events of a stream one by one, with after < position <= upto, in order by (row_position, position): row_position is where the row of
-- event_log stands, which is the order of its key, so that who wants the first few reads no more. A pack has 1,000 events at most.
CREATE FUNCTION stored_events(of_stream int, after bigint, upto bigint) RETURNS TABLE (
  row_position bigint, stream int, "position" bigint, type text, protocol text, block_number bigint, block_hash bytea, block_time bigint,
  tx_hash bytea, log_index bigint, contract bytea, data jsonb, recorded_at timestamptz
) LANGUAGE sql STABLE AS $$
  (SELECT e.position, e.stream, e.position, e.type, e.protocol, e.block_number, e.block_hash, e.block_time,
     e.tx_hash, e.log_index, e.contract, e.data, e.recorded_at
   FROM event_log e WHERE e.stream = of_stream AND e.position > after AND e.position <= upto AND e.type <> 'Packed' ORDER BY e.position)
  UNION ALL
  (SELECT e.position, e.stream, e.position - own.behind, own.type, e.protocol, e.block_number, e.block_hash, e.block_time,
     e.tx_hash, e.log_index, own.contract, own.data, e.recorded_at
   FROM event_log e CROSS JOIN LATERAL unpacked(of_stream, e.data) own
   WHERE e.stream = of_stream AND e.type = 'Packed' AND e.position > after AND e.position < upto + 1000
     AND e.position - own.behind > after AND e.position - own.behind <= upto ORDER BY e.position)
$$;

COMMENT ON VIEW event IS 'Events as they are stored, one row each; samples of many vaults at one block are one row of type Packed at the position of the last of them, which the function stored_events takes apart.';
