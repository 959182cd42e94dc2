#!/usr/bin/env bash
# Type-check the TypeScript client, build it, and pack it for npm into a folder: pack_typescript_client.sh dist
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/install_node_packages.sh clients/typescript .venv/typescript-client
mkdir -p "$1"
target=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cp clients/typescript/package.json clients/typescript/README.md clients/typescript/LICENSE "$work"
.venv/typescript-client/node_modules/.bin/tsc --project clients/typescript --outDir "$work/dist"
cd "$work"
npm pack --silent --ignore-scripts --pack-destination "$target"
