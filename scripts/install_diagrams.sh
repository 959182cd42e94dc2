#!/usr/bin/env bash
# Install Mermaid, which draws the diagrams of `make diagrams`, into .venv/diagrams, from its lock file.
set -euo pipefail
cd "$(dirname "$0")/.."
source=scripts/diagrams folder=.venv/diagrams

if ! command -v npm >/dev/null; then
  echo "The diagrams cannot be rendered: that needs npm. On Debian: apt-get install nodejs npm" >&2
  exit 1
fi
rm -rf "$folder"
mkdir -p "$folder"
cp "$source/package.json" "$source/package-lock.json" "$folder"
npm ci --prefix "$folder" --prefer-offline --ignore-scripts --no-audit --no-fund --loglevel=error >/dev/null
touch "$folder/ready"
