-- The read models as the worker's code declares them: of which face (family) each is, and which tables it fills.
CREATE TABLE projection (
  name text PRIMARY KEY,
  face text NOT NULL,
  streams text NOT NULL CHECK (streams IN ('chains', 'registry')),
  tables text[] NOT NULL
);

-- Whether a projection is among those that say how far its face is served on the stream. A face begins when all of its
-- projections have; one that is added later joins when it has caught up with the others for the first time.
ALTER TABLE checkpoint ADD COLUMN has_joined boolean NOT NULL DEFAULT false;

CREATE FUNCTION join_faces(of_stream int) RETURNS void LANGUAGE sql AS $$
  WITH member AS (
    SELECT p.name, p.face, coalesce(c.position, 0) AS position, coalesce(c.has_joined, false) AS has_joined
    FROM projection p LEFT JOIN checkpoint c ON c.projection = p.name AND c.stream = of_stream
    WHERE (p.streams = 'registry') = (of_stream = 0)
  ), face AS (
    SELECT face, min(position) FILTER (WHERE has_joined) AS served_to, bool_and(position > 0) AS has_begun
    FROM member GROUP BY face
  )
  UPDATE checkpoint c SET has_joined = true FROM member m JOIN face f USING (face)
  WHERE c.stream = of_stream AND c.projection = m.name AND NOT c.has_joined
    AND CASE WHEN f.served_to IS NULL THEN f.has_begun ELSE m.position >= f.served_to END
$$;
