#!/usr/bin/env bash
# Install what runs the TypeScript and PHP samples of the documents, and what builds the TypeScript client: npm's
# packages of tests/samples and clients/typescript, and Debian's PHP. Where that fails, a message says so, and the tests
# skip what needs it.
set -euo pipefail
cd "$(dirname "$0")/.."

find_php_version() { apt-cache depends php-cli 2>/dev/null | sed -n 's/.*Depends: php\([0-9.]*\)-cli$/\1/p'; }
has_php() { command -v php >/dev/null || .venv/bin/php --version >/dev/null 2>&1; }

install_php() {
  if has_php; then return; fi
  if ! command -v apt-get >/dev/null; then
    echo "There is no PHP: the PHP samples are not run." >&2
    return
  fi
  version=$(find_php_version)
  if [ -z "$version" ] && [ "$(id -u)" = 0 ]; then
    apt-get update -qq >/dev/null 2>&1 || true
    version=$(find_php_version)
  fi
  if [ -n "$version" ]; then # the package php-cli is empty: it requires the one with the version in its name
    scripts/fetch_program.sh "php$version-cli" "php$version"
    if [ -x ".venv/bin/php$version" ]; then ln -sf "php$version" .venv/bin/php; fi
  fi
  # The fetched program needs libraries that a small system does not have. As root, install them with the package.
  if ! has_php && [ "$(id -u)" = 0 ]; then
    DEBIAN_FRONTEND=noninteractive apt-get install -qq --no-install-recommends php-cli >/dev/null 2>&1 || true
  fi
  has_php || echo "PHP could not be installed: the PHP samples are not run. On Debian: apt-get install php-cli" >&2
}

scripts/install_node_packages.sh tests/samples .venv/samples || echo "The TypeScript samples are not run." >&2
scripts/install_node_packages.sh clients/typescript .venv/typescript-client ||
  echo "The TypeScript client is not tried." >&2
install_php
