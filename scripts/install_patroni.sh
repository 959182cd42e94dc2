#!/usr/bin/env bash
# Install Patroni from its lock file into .venv/patroni, and etcd from Debian's package, for the long form of the failover
# test. If that fails, it prints a message, and the test is not run.
set -euo pipefail
cd "$(dirname "$0")/.."

python=.venv/bin/python
# as root, Patroni and PostgreSQL run as another user, who cannot read a Python below /root
if [ "$(id -u)" = 0 ] && /usr/bin/python3 -c 'import sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
  python=/usr/bin/python3
fi
rm -rf .venv/patroni
if "$python" -m venv --without-pip .venv/patroni && .venv/bin/pip --python .venv/patroni/bin/python install --quiet \
  --disable-pip-version-check --require-hashes -r requirements-patroni.lock; then
  touch .venv/patroni/ready
else
  echo "Patroni could not be installed: the failover test by Patroni is not run." >&2
fi
scripts/fetch_program.sh etcd-server etcd
