ALTER TABLE checkpoint ADD COLUMN compacted bigint NOT NULL DEFAULT 0;
COMMENT ON COLUMN checkpoint.compacted IS 'rows that retractions up to this position took back are gone from the tables';

ALTER TABLE read_models ADD COLUMN may_be_empty text[] NOT NULL DEFAULT '{}';
COMMENT ON COLUMN read_models.may_be_empty IS 'tables whose rows were all taken back once: without rows they are not taken for lost';
