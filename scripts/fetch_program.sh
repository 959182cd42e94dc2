#!/usr/bin/env bash
# fetch_program.sh PACKAGE PROGRAM: put one program of a Debian package into .venv/bin.
# The package itself is not installed: its service would start on this machine. Where the program cannot be had,
# a message says so, and the tests that need it are skipped.
set -euo pipefail
package=$1 program=$2 target="$(cd "$(dirname "$0")/.." && pwd)/.venv/bin"

if command -v "$program" >/dev/null || [ -x "$target/$program" ]; then exit 0; fi
if ! command -v apt-get >/dev/null || ! command -v dpkg-deb >/dev/null; then
  echo "There is no $program: the tests that need it are skipped. Debian has it in the package $package." >&2
  exit 0
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
if { apt-get download -qq "$package" || { [ "$(id -u)" = 0 ] && apt-get update -qq && apt-get download -qq "$package"; }; } >/dev/null 2>&1 \
  && dpkg-deb -x "$package"_*.deb . && install "usr/bin/$program" "$target/$program"; then
  exit 0
fi
echo "$program could not be fetched: the tests that need it are skipped. Debian has it in the package $package." >&2
