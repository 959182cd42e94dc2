# Two commands matter: `make run` (the demo world, serving) and `make test` (everything, on both engines; the browser on SQLite).
PYTHON ?= python3
BIN := .venv/bin
# half of a start-up is compiling, and tests and battery start some thousand processes: a machine's habit not to keep bytecode stays outside
unexport PYTHONDONTWRITEBYTECODE

.PHONY: run setup test browser-postgresql lint types chromium promtool screenshots tour fuzz battery battery-tools battery-long patroni mutation bench bench-quick generators docs texts site package lock clean

run: .venv/runtime ## the demo world on http://127.0.0.1:5400
	$(BIN)/gamekeeper demo

setup: .venv/dev chromium promtool ## the virtual environment with everything for development, and a browser where that can be

test: .venv/dev chromium promtool lint types ## everything: linted, type-checked, tested on SQLite and PostgreSQL; in the browser on SQLite
	$(BIN)/pytest -n 3 --dist worksteal

browser-postgresql: .venv/dev chromium ## the tests in the browser that change data, on PostgreSQL; `make test` has them on SQLite
	GAMEKEEPER_BROWSER_ENGINE=postgres $(BIN)/pytest -n 2 --dist worksteal tests/browser -k postgres

lint: .venv/dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/lint-imports --no-logo

types: .venv/dev
	$(BIN)/basedpyright

chromium: ## Debian's, for the tests of the console, as root; nothing where there is one
	@scripts/install_chromium.sh

promtool: .venv/bin/python ## Prometheus' promtool out of Debian's package, for the tests of the alert rules; nothing where there is one
	@scripts/fetch_program.sh prometheus promtool

screenshots: .venv/dev chromium ## the console's pages, into docs/images/
	GAMEKEEPER_SCREENSHOTS=docs/images $(BIN)/pytest tests/browser/test_looks.py -k pictures

PLAYERS ?= 2000
tour: .venv/dev chromium ## the whole tour of the console in Chromium, in a demo world of PLAYERS=2000 on ENGINE=sqlite, and how long each page took
	GAMEKEEPER_TOUR_PLAYERS=$(PLAYERS) GAMEKEEPER_BROWSER_ENGINE=$(or $(ENGINE),sqlite) $(BIN)/pytest -q -s tests/browser/test_tour.py -k the_whole_of_it

fuzz: .venv/dev ## schemathesis with all checks over the tolerant OpenAPI document, more than 1,000 cases on each engine
	FUZZ_EXAMPLES=20 FUZZ_PHASES=examples,coverage,fuzzing,stateful $(BIN)/pytest -s tests/test_contract_fuzz.py

BATTERY = PYTHONPATH=scripts $(BIN)/python -m battery --only "$(ONLY)" $(if $(ENGINE),--engine $(ENGINE)) $(if $(SEED),--seed $(SEED)) $(if $(FAULT),--fault $(FAULT)) $(if $(CLOCK),--clock $(CLOCK)) $(if $(ALL),--all)
battery: .venv/dev .venv/semgrep/ready $(if $(LONG),patroni) ## crashes, lost machines, full disks, overload, guessing, and each test with its faults; some of it: ONLY=a,f; ALL=1: what cannot be run has failed; CLOCK=print: figures by the clock do not decide, for a machine with other work
	$(BATTERY) $(if $(LONG),--long $(LONG))

battery-tools: patroni ## what the battery needs of Debian, as root, and Patroni; without it some of its tests are not run
	scripts/install_battery.sh

patroni: .venv/patroni/ready ## Patroni, and etcd out of Debian's package, for the long form of the failover test

LONG_SECONDS ?= 600
battery-long: .venv/dev .venv/semgrep/ready patroni ## the long forms of the battery, each for LONG_SECONDS=600
	$(BATTERY) --long $(LONG_SECONDS)

mutation: .venv/dev ## one thing changed at a time in inventory, changes, tokens and passwords: do the tests notice? takes long
	$(BIN)/python scripts/mutate.py

bench: .venv/dev ## beside the peers, on both engines, up to five million players; takes long, mostly the first time
	$(BIN)/python -m benchmarks

bench-quick: .venv/dev ## its main ratios with 10,000 players, in under three minutes; BEFORE=checkout: just lookups of that version and of this one
	$(BIN)/python -m benchmarks --quick $(if $(BEFORE),--before $(BEFORE) --rounds 8)

generators: .venv/dev .venv/generators/ready ## clients of five generators out of /api/openapi.json, compiled and tried on a server
	$(BIN)/pytest tests/generators

docs: .venv/dev ## docs/settings.md, docs/cli.md and docs/operations.md, generated
	$(BIN)/python scripts/generate_docs.py

texts: .venv/dev ## the texts of the console, collected from its Python files, templates and scripts
	$(BIN)/python scripts/extract_texts.py

site: .venv/dev ## the documents as a website, in site/; fails on a dead link
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

package: .venv/dev ## a wheel and an sdist of the server and of the Python client, in dist/
	$(BIN)/python -m build --no-isolation --outdir dist
	$(BIN)/python -m build --no-isolation --outdir dist clients/python

LOCK := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate
lock: .venv/dev ## the newest versions that fit pyproject.toml, into the lock files
	$(BIN)/pip install --quiet uv
	$(LOCK) --upgrade pyproject.toml -o requirements.lock
	$(LOCK) --upgrade --group dev pyproject.toml -o requirements-dev.lock
	echo semgrep | $(LOCK) --upgrade - -o requirements-semgrep.lock
	echo "patroni[etcd3,psycopg2-binary]" | $(LOCK) --upgrade - -o requirements-patroni.lock
	printf '%s\n' openapi-python-client openapi-generator-cli urllib3 python-dateutil | $(LOCK) --upgrade - -o requirements-generators.lock

clean:
	rm -rf .venv demo-data dist site

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Gamekeeper needs Python 3.11 or newer; say which with: make PYTHON=python3.12 …"; exit 1; }
	$(PYTHON) -m venv .venv

.venv/runtime: .venv/bin/python requirements.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps -e .
	@touch $@

.venv/dev: .venv/bin/python requirements-dev.lock pyproject.toml clients/python/pyproject.toml
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e . -e clients/python
	@touch $@ .venv/runtime

# an environment of its own: semgrep wants an older click than we do
.venv/semgrep/ready: .venv/bin/python requirements-semgrep.lock
	$(BIN)/python -m venv .venv/semgrep
	.venv/semgrep/bin/pip install --quiet --disable-pip-version-check --require-hashes -r requirements-semgrep.lock
	@touch $@

# the version that docs/deploy.md names; Debian 12's does not work with PostgreSQL 18
.venv/patroni/ready: .venv/bin/python requirements-patroni.lock
	scripts/install_patroni.sh

# an environment of its own, with what the generated Python needs; Node's packages are beside it
.venv/generators/ready: .venv/bin/python requirements-generators.lock tests/generators/package-lock.json
	scripts/install_generators.sh
