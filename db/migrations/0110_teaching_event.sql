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

DROP INDEX IF EXISTS event_log_subjects;
CREATE INDEX event_log_retractions ON event_log (stream, position) WHERE type = 'BlockRetracted';

DO $$ BEGIN
  IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'vaultlog_writer') THEN
    GRANT SELECT, INSERT, UPDATE ON teaching_event TO vaultlog_writer;
  END IF;
EXCEPTION WHEN insufficient_privilege THEN
  RAISE NOTICE 'no right to grant to vaultlog_writer: appends rely on the triggers alone';
END $$;
