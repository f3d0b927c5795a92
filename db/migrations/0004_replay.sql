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
