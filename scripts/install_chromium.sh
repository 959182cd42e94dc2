#!/usr/bin/env bash
# Install a browser for the tests of the console. If that fails, the script succeeds and the tests report the missing browser.
# Debian's Chromium without windows needs a third of the CPU time of the whole one, which is used where there is no other.
set -euo pipefail

command -v "${GAMEKEEPER_CHROMIUM:-chromium-headless-shell}" >/dev/null && exit 0
found=
for name in chromium chromium-browser google-chrome; do
  if command -v "$name" >/dev/null; then found=$name; fi
done
if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
  [ -n "$found" ] || echo "There is no Chromium: the console will not be tried in a browser. As root, on Debian: apt-get install chromium-headless-shell" >&2
  exit 0
fi
export DEBIAN_FRONTEND=noninteractive
install() { apt-get install -qq --no-install-recommends -o Acquire::Retries=0 -o Acquire::http::Timeout=20 "$@" >/dev/null; }
if [ -n "$found" ]; then # only a faster browser is missing: do not wait for the package lists
  install chromium-headless-shell 2>/dev/null || echo "The tests of the console use $found: chromium-headless-shell, which is faster, could not be installed." >&2
  exit 0
fi
{ apt-get update -qq >/dev/null && { install chromium-headless-shell fonts-liberation 2>/dev/null || install chromium fonts-liberation; }; } \
  || echo "Chromium could not be installed: the console will not be tried in a browser." >&2
