#!/usr/bin/env bash
# Install the client generators of `make generators` into .venv/generators from the lock files: two Python packages, three of npm.
# As root it also installs Debian's Java and Node if they are missing. Otherwise it names what is missing and fails.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=.venv/generators

missing=()
command -v java >/dev/null || missing+=(default-jre-headless)
command -v node >/dev/null || missing+=(nodejs)
command -v npm >/dev/null || missing+=(npm)
if [ ${#missing[@]} -gt 0 ]; then
  if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
    echo "The generators cannot be tried: they need Java, Node and npm. As root, on Debian: apt-get install ${missing[*]}" >&2
    exit 1
  fi
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq
  apt-get install -qq --no-install-recommends "${missing[@]}" >/dev/null
fi
if ! node --eval 'const [major, minor] = process.versions.node.split(".").map(Number); process.exit(major > 20 || (major === 20 && minor >= 19) ? 0 : 1)'; then
  echo "The generators cannot be tried: they need Node 20.19 or newer, and this is $(node --version)." >&2
  exit 1
fi

rm -rf "$folder"
.venv/bin/python -m venv "$folder"
"$folder/bin/pip" install --quiet --disable-pip-version-check --require-hashes -r requirements-generators.lock
scripts/install_node_packages.sh tests/generators "$folder"
