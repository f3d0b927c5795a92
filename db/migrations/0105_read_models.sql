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
  checked_at timestamptz
);
INSERT INTO read_models DEFAULT VALUES;
