-- Whoever waits for events of any stream is told when its transaction is committed, by whoever appended.
CREATE FUNCTION tell_stream_moved() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('vaultlog_stream', NEW.id::text);
  RETURN NULL;
END $$;

CREATE TRIGGER stream_moved AFTER UPDATE ON stream FOR EACH ROW
  WHEN (OLD.head <> NEW.head OR OLD.final_height <> NEW.final_height)
  EXECUTE FUNCTION tell_stream_moved();
