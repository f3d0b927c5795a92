#!/bin/sh
# The processor of one network as a container that is always there: processor.sh <network>. Where neither RPC_<NETWORK>
# nor PORTAL_<NETWORK> nor GATEWAY_<NETWORK> is set it waits for the end instead: a process that ended would be started again and again.
name=$(printf %s "$1" | tr a-z- A-Z_)
if [ -n "$(printenv "RPC_$name" "PORTAL_$name" "GATEWAY_$name" | tr -d '[:space:]')" ]; then
  exec node --import tsx processors/main.ts "$1"
fi
trap 'kill $! 2>/dev/null; exit 0' TERM INT
echo "$1 is not enabled: neither RPC_$name nor PORTAL_$name nor GATEWAY_$name is set"
while :; do
  sleep 3600 &
  wait $!
done
