-- Requests of the running minute, in the shape that rate-limiter-flexible writes. Unlogged: after a crash of the
-- server a minute begins anew, and no request waits for the disk.
CREATE UNLOGGED TABLE rate_limit (
  key varchar(255) PRIMARY KEY,
  points integer NOT NULL DEFAULT 0,
  expire bigint
);

-- Books charges in the order given and says of each whether it fitted into the month of its key. One call books what
-- many requests cost: one lock and one row version per key. The places of a key must stand together and keys must
-- ascend, so that two callers never wait for each other.
CREATE FUNCTION charge_credits(p_month date, p_keys bigint[], p_credits bigint[], p_limits bigint[])
RETURNS TABLE (accepted boolean, used bigint)
LANGUAGE plpgsql AS $$
DECLARE
  place int := 1;
  places int := cardinality(p_keys);
  current_key bigint;
  spent bigint;
  taken int;
BEGIN
  -- Not waiting for the disk: a crash of the server may forget the charges of its last moments, in favour of the caller.
  PERFORM set_config('synchronous_commit', 'off', true);
  WHILE place <= places LOOP
    current_key := p_keys[place];
    SELECT u.credits INTO spent FROM api_usage u WHERE u.key_id = current_key AND u.month = p_month FOR UPDATE;
    IF NOT FOUND THEN
      INSERT INTO api_usage (key_id, month) VALUES (current_key, p_month) ON CONFLICT (key_id, month) DO NOTHING;
      SELECT u.credits INTO spent FROM api_usage u WHERE u.key_id = current_key AND u.month = p_month FOR UPDATE;
    END IF;
    taken := 0;
    WHILE place <= places AND p_keys[place] = current_key LOOP
      accepted := spent + p_credits[place] <= p_limits[place];
      IF accepted THEN
        spent := spent + p_credits[place];
        taken := taken + 1;
      END IF;
      used := spent;
      RETURN NEXT;
      place := place + 1;
    END LOOP;
    IF taken > 0 THEN
      UPDATE api_usage u SET credits = spent, requests = u.requests + taken
      WHERE u.key_id = current_key AND u.month = p_month;
    END IF;
  END LOOP;
END
$$;
