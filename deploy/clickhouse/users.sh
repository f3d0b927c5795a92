#!/bin/sh
# Entrypoint of the ClickHouse containers: writes the users, the data team's and those of our processes, under the names that .env gives user and database,
# which a configuration file cannot take from the environment, and goes on as the image does.
set -eu
user=${CLICKHOUSE_READONLY_USER:-analyst}
database=${CLICKHOUSE_DATABASE:-vaultlog}
for name in "$user" "$database"; do
  case $name in
    [!A-Za-z_]* | *[!A-Za-z0-9_]* | '' | default)
      echo "users.sh: '$name' cannot be used: CLICKHOUSE_READONLY_USER and CLICKHOUSE_DATABASE are letters, digits and _, and not default" >&2
      exit 1
      ;;
  esac
done
sed -e "s/\banalyst\b/$user/g" -e "s/\bvaultlog\(_internal\)\{0,1\}\.\*/$database\1.*/g" "${TEMPLATE:-/vaultlog/users.xml}" \
  > "${USERS_DIR:-/etc/clickhouse-server/users.d}/users.xml"
exec "${ENTRYPOINT:-/entrypoint.sh}" "$@"
