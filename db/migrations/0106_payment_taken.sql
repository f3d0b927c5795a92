-- Payments for single requests (x402): each is good for one answer, whichever process it is sent to. `answer` waits for a
-- caller who went away after it had paid.
CREATE TABLE payment_taken (
  id text PRIMARY KEY,
  expires_at timestamptz NOT NULL,
  request text,
  answer text,
  headers jsonb
);
CREATE INDEX payment_taken_expires_at ON payment_taken (expires_at);
