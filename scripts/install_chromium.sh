#!/usr/bin/env bash
# Install Chromium for the tests of the console. If that fails, the script succeeds and the tests report the missing browser.
set -euo pipefail

for name in "${GAMEKEEPER_CHROMIUM:-chromium}" chromium chromium-browser google-chrome; do
  command -v "$name" >/dev/null && exit 0
done
if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
  echo "There is no Chromium: the console will not be tried in a browser. As root, on Debian: apt-get install chromium" >&2
  exit 0
fi
export DEBIAN_FRONTEND=noninteractive
{ apt-get update -qq && apt-get install -qq --no-install-recommends chromium fonts-liberation; } >/dev/null \
  || echo "Chromium could not be installed: the console will not be tried in a browser." >&2
