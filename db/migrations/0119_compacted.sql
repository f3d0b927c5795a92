ALTER TABLE checkpoint ADD COLUMN compacted bigint NOT NULL DEFAULT 0;
COMMENT ON COLUMN checkpoint.compacted IS 'rows that retractions up to this position took back are gone from the tables';
