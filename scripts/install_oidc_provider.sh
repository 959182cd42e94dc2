#!/usr/bin/env bash
# Install the OpenID Connect provider of the tests into .venv/oidc-provider, from its lock file.
# Where that fails, a message says so, and the tests that need it are skipped.
set -euo pipefail
cd "$(dirname "$0")/.."
source=tests/oidc_provider folder=.venv/oidc-provider

if [ "$folder/ready" -nt "$source/package-lock.json" ]; then exit 0; fi
if ! command -v node >/dev/null || ! command -v npm >/dev/null; then
  echo "There is no Node with npm: sign-ins with a real OpenID Connect provider are not tried. On Debian: apt-get install nodejs npm" >&2
  exit 0
fi
rm -rf "$folder"
mkdir -p "$folder"
cp "$source/package.json" "$source/package-lock.json" "$folder"
if npm ci --prefix "$folder" --prefer-offline --ignore-scripts --no-audit --no-fund --loglevel=error >/dev/null; then
  touch "$folder/ready"
else
  echo "oidc-provider could not be installed: sign-ins with a real OpenID Connect provider are not tried." >&2
fi
