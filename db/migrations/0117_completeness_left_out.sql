-- Contracts that a comparison left out because they are not finished: their logs are still being fetched, or they wait to be looked at.
ALTER TABLE completeness ADD COLUMN left_out text[] NOT NULL DEFAULT '{}';
