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

DO $$ BEGIN
  IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'vaultlog_writer') THEN
    GRANT SELECT, INSERT, UPDATE, DELETE ON sampling_round TO vaultlog_writer;
  END IF;
EXCEPTION WHEN insufficient_privilege THEN
  RAISE NOTICE 'no right to grant to vaultlog_writer: appends rely on the triggers alone';
END $$;
