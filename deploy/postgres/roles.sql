-- Run once, by the superuser, on an empty server: who signs in to Vaultlog's database. Rights on tables are given by
-- `vaultlog migrate`, which the owner runs. Passwords are set by roles.sh.
CREATE ROLE vaultlog_writer NOLOGIN;
CREATE ROLE vaultlog LOGIN;
CREATE ROLE vaultlog_processor LOGIN;
CREATE ROLE vaultlog_worker LOGIN;
CREATE ROLE vaultlog_api LOGIN;
CREATE ROLE vaultlog_graphql LOGIN CONNECTION LIMIT 24;
ALTER ROLE vaultlog_graphql SET default_transaction_read_only = on;
ALTER ROLE vaultlog_graphql SET statement_timeout = '10s';
ALTER ROLE vaultlog_graphql SET temp_file_limit = '256MB';
GRANT vaultlog_writer TO vaultlog WITH ADMIN OPTION;
GRANT vaultlog_writer TO vaultlog_processor;
CREATE DATABASE vaultlog OWNER vaultlog TEMPLATE template0;
REVOKE CONNECT, TEMPORARY ON DATABASE vaultlog FROM PUBLIC;
GRANT CONNECT ON DATABASE vaultlog TO vaultlog_processor, vaultlog_worker, vaultlog_api, vaultlog_graphql;
