#!/usr/bin/env bash
# Install the programs that the battery needs: HAProxy, libfaketime, FUSE and PgBouncer. Run it as root on Debian or Ubuntu.
set -euo pipefail

missing=()
for package in haproxy faketime fuse3 pgbouncer; do
  dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed || missing+=("$package")
done
if [ ${#missing[@]} -gt 0 ]; then
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq
  apt-get install -qq --no-install-recommends "${missing[@]}" >/dev/null
fi
if [ ! -c /dev/fuse ]; then
  echo "There is no /dev/fuse here, so the power cuts of test a cannot be run." >&2
  exit 1
fi
