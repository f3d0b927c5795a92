-- A chain that is not indexed any more: what is stored stays and is served, and nobody is told that it grows old.
ALTER TABLE stream ADD retired_at timestamptz;
