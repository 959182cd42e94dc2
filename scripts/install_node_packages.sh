#!/usr/bin/env bash
# Install npm's packages of a folder into another folder, from its lock file: install_node_packages.sh tests/samples .venv/samples
# No package runs a script of its own: none needs to, and @scarf/scarf would send usage data.
# Does nothing if they are installed. Without Node, or if npm fails, it says so and exits with the status 1.
set -euo pipefail
cd "$(dirname "$0")/.."
source=$1 folder=$2

if [ "$folder/ready" -nt "$source/package-lock.json" ]; then exit 0; fi
if ! command -v node >/dev/null || ! command -v npm >/dev/null; then
  echo "There is no Node with npm, so the packages of $source cannot be installed. On Debian: apt-get install nodejs npm" >&2
  exit 1
fi
rm -rf "$folder/node_modules" "$folder/ready"
mkdir -p "$folder"
cp "$source/package.json" "$source/package-lock.json" "$folder"
if ! npm ci --prefix "$folder" --prefer-offline --ignore-scripts --no-audit --no-fund --loglevel=error >/dev/null; then
  echo "npm could not install the packages of $source." >&2
  exit 1
fi
touch "$folder/ready"
