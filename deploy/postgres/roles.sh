#!/bin/sh
# Run by the image of Postgres on an empty volume. psql quotes what passwords hold; it reads them from the environment.
set -eu
psql -v ON_ERROR_STOP=1 -U "$POSTGRES_USER" -d postgres -f /vaultlog/roles.sql
psql -v ON_ERROR_STOP=1 -U "$POSTGRES_USER" -d postgres <<'SQL'
\getenv owner DATABASE_OWNER_PASSWORD
\getenv processor DATABASE_PROCESSOR_PASSWORD
\getenv worker DATABASE_WORKER_PASSWORD
\getenv api DATABASE_API_PASSWORD
\getenv graphql DATABASE_GRAPHQL_PASSWORD
ALTER ROLE vaultlog PASSWORD :'owner';
ALTER ROLE vaultlog_processor PASSWORD :'processor';
ALTER ROLE vaultlog_worker PASSWORD :'worker';
ALTER ROLE vaultlog_api PASSWORD :'api';
ALTER ROLE vaultlog_graphql PASSWORD :'graphql';
SQL
