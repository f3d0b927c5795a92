-- The read models as the worker's code declares them: of which face (family) each is, and which tables it fills.
CREATE TABLE projection (
  name text PRIMARY KEY,
  face text NOT NULL,
  streams text NOT NULL CHECK (streams IN ('evm', 'svm', 'registry')),
  tables text[] NOT NULL
);
COMMENT ON COLUMN projection.streams IS 'kind of the streams that it is made of';

-- Where each projection stands on each stream. applying_to: a batch under way, to be repeated with the same bounds.
-- version: of the code that made the rows; a newer one has to replay before it may go on.
CREATE TABLE checkpoint (
  projection text NOT NULL,
  stream int NOT NULL REFERENCES stream (id),
  version int NOT NULL DEFAULT 1,
  position bigint NOT NULL DEFAULT 0,
  applying_to bigint,
  block_number bigint NOT NULL DEFAULT -1,
  block_time bigint NOT NULL DEFAULT 0,
  -- How often its rows were made anew: who remembers any of them reads them again.
  replays int NOT NULL DEFAULT 0,
  updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- Whether the projection is among those that say how far its face is served on the stream. A face begins when all of its
  -- projections have; one that is added later joins when it has caught up with the others for the first time.
  has_joined boolean NOT NULL DEFAULT false,
  compacted bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (projection, stream)
);
COMMENT ON COLUMN checkpoint.compacted IS 'rows that retractions up to this position took back are gone from the tables';

CREATE FUNCTION join_faces(of_stream int) RETURNS void LANGUAGE sql AS $$
  WITH member AS (
    SELECT p.name, p.face, coalesce(c.position, 0) AS position, coalesce(c.has_joined, false) AS has_joined
    FROM projection p JOIN stream s ON s.id = of_stream AND s.kind = p.streams
    LEFT JOIN checkpoint c ON c.projection = p.name AND c.stream = of_stream
  ), face AS (
    SELECT face, min(position) FILTER (WHERE has_joined) AS served_to, bool_and(position > 0) AS has_begun
    FROM member GROUP BY face
  )
  UPDATE checkpoint c SET has_joined = true FROM member m JOIN face f USING (face)
  WHERE c.stream = of_stream AND c.projection = m.name AND NOT c.has_joined
    AND CASE WHEN f.served_to IS NULL THEN f.has_begun ELSE m.position >= f.served_to END
$$;

-- Shadow tables being built by a replay: how far each is, so that an interrupted replay goes on.
CREATE TABLE replay (
  database text NOT NULL,
  projection text NOT NULL,
  stream int NOT NULL REFERENCES stream (id),
  version int NOT NULL,
  from_position bigint NOT NULL,
  position bigint NOT NULL,
  applying_to bigint,
  started_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (database, projection, stream)
);

-- What the last `vaultlog verify` found, by table and stream: for metrics and the operator's page.
CREATE TABLE verification (
  table_name text NOT NULL,
  stream text NOT NULL,
  is_equal boolean NOT NULL,
  checked_at timestamptz NOT NULL,
  PRIMARY KEY (table_name, stream)
);

-- Which ClickHouse database holds this store's read models, so that an empty, replaced or older one is told from it.
CREATE TABLE read_models (
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  -- Also stands in ClickHouse's table `identity`, from before the first row is made.
  store uuid NOT NULL DEFAULT gen_random_uuid(),
  -- Tables that had rows when somebody looked: empty they are lost.
  filled text[] NOT NULL DEFAULT '{}',
  -- While they are made anew: [{projection, stream, to}], what has to be reached before they are served again.
  rebuild jsonb,
  -- What is wrong with them, in words; null: nothing is.
  fault text,
  checked_at timestamptz,
  may_be_empty text[] NOT NULL DEFAULT '{}'
);
COMMENT ON COLUMN read_models.may_be_empty IS 'tables whose rows were all taken back once: without rows they are not taken for lost';
INSERT INTO read_models DEFAULT VALUES;
