-- A stream has a kind: evm (a network of the API, by its chain id), svm (a chain of Solana's kind) or registry. A read model is
-- made of the streams of one kind, so that what is stored of one is in no answer of another.
ALTER TABLE stream DROP CONSTRAINT stream_kind_check;
UPDATE stream SET kind = 'evm' WHERE kind = 'chain';
ALTER TABLE stream ADD CONSTRAINT stream_kind_check CHECK (kind IN ('evm', 'svm', 'registry'));
COMMENT ON COLUMN stream.kind IS 'evm, svm (accounts are 32 bytes) or registry (curated facts)';

ALTER TABLE projection DROP CONSTRAINT projection_streams_check;
UPDATE projection SET streams = 'evm' WHERE streams = 'chains';
ALTER TABLE projection ADD CONSTRAINT projection_streams_check CHECK (streams IN ('evm', 'svm', 'registry'));
COMMENT ON COLUMN projection.streams IS 'kind of the streams that it is made of';

CREATE OR REPLACE FUNCTION join_faces(of_stream int) RETURNS void LANGUAGE sql AS $$
  WITH member AS (
    SELECT p.name, p.face, coalesce(c.position, 0) AS position, coalesce(c.has_joined, false) AS has_joined
    FROM projection p JOIN stream s ON s.id = of_stream AND s.kind = p.streams
    LEFT JOIN checkpoint c ON c.projection = p.name AND c.stream = of_stream
  ), face AS (
    SELECT face, min(position) FILTER (WHERE has_joined) AS served_to, bool_and(position > 0) AS has_begun
    FROM member GROUP BY face
  )
  UPDATE checkpoint c SET has_joined = true FROM member m JOIN face f USING (face)
  WHERE c.stream = of_stream AND c.projection = m.name AND NOT c.has_joined
    AND CASE WHEN f.served_to IS NULL THEN f.has_begun ELSE m.position >= f.served_to END
$$;
