-- Up to which position a projection's rows on a stream may have changed: who has read them at or after it need not read them again.
ALTER TABLE checkpoint ADD COLUMN changed_to bigint NOT NULL DEFAULT 0;
COMMENT ON COLUMN checkpoint.changed_to IS 'position of the last batch that may have added rows or taken some back; those after it were passed over';
-- Of what was there before nobody knows.
UPDATE checkpoint SET changed_to = position;
