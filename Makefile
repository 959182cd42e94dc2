# Two commands matter: `make run` (the demo world, serving) and `make test` (lint, types, and the tests that every change must pass).
PYTHON ?= python3
BIN := .venv/bin
# Keep bytecode even if the machine's environment forbids it: tests and battery start thousands of processes, and compiling is half of a start.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: run install setup test tests bulk long lint house types chromium promtool oidc-provider sample-tools screenshots tour fuzz battery battery-tools battery-long mutation bench bench-quick generators schema docs clients diagrams texts site package lock clean

run: .venv/runtime ## the demo world on http://127.0.0.1:5400
	$(BIN)/gamekeeper demo

install: .venv/runtime ## Gamekeeper in .venv, as .venv/bin/gamekeeper, without what only its tests need

setup: .venv/long chromium promtool oidc-provider sample-tools ## the virtual environment for development, and a browser where it can be installed

test: .venv/dev chromium lint ## lint, types, and the tests that every change must pass; `make long` has the others
	@$(MAKE) --no-print-directory -j2 types tests

tests: .venv/dev
	@$(BIN)/pytest --collect-only -q > .venv/collected || { cat .venv/collected; exit 1; } # compiles the tests once, instead of in each process
	$(BIN)/pytest -n 4 --dist worksteal

bulk: .venv/dev ## a bulk job of 10,000 players whose server is killed five times, on both engines
	BULK_PLAYERS=10000 $(BIN)/pytest -q -n 2 tests/audit/test_bulk_crashes.py

long: .venv/long chromium promtool oidc-provider sample-tools ## the tests that `make test` leaves out, and its long forms, on both engines; ONLY=crash: some of them
	LONG_TESTS=1 $(BIN)/pytest -n 2 --dist worksteal -m "long_form or long_only" $(if $(ONLY),-k "$(ONLY)")

lint: .venv/dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/lint-imports --no-logo

house: .venv/bin/python ## count files and lines of the source; fails on a circle of imports
	$(BIN)/python scripts/house.py

types: .venv/dev
	$(BIN)/basedpyright

chromium: ## install Debian's Chromium without windows for the console's tests, as root, if there is none
	@scripts/install_chromium.sh

promtool: .venv/bin/python ## fetch promtool from Debian's package for the tests of the alert rules, if there is none
	@scripts/fetch_program.sh prometheus promtool

oidc-provider: .venv/bin/python ## install npm's oidc-provider for the tests of sign-ins with OpenID Connect, where there is Node
	@scripts/install_node_packages.sh tests/oidc_provider .venv/oidc-provider || echo "Sign-ins with a real OpenID Connect provider are not tried." >&2

sample-tools: .venv/bin/python ## install tsx, TypeScript and PHP, which run the samples of the documents, where that is possible
	@scripts/install_sample_tools.sh

screenshots: .venv/dev chromium ## screenshots of the console's pages, into docs/images/
	GAMEKEEPER_SCREENSHOTS=docs/images $(BIN)/pytest -m '' tests/browser/test_looks.py -k pictures

PLAYERS ?= 2000
tour: .venv/dev chromium ## tour of all console pages in Chromium with PLAYERS=2000 on ENGINE=sqlite, with the time of each page
	GAMEKEEPER_TOUR_PLAYERS=$(PLAYERS) LONG_TESTS=1 $(BIN)/pytest -q -s -m '' tests/browser/test_tour.py -k 'tour_of_all_pages and $(or $(ENGINE),sqlite)'

fuzz: .venv/long ## fuzz the API with schemathesis against the tolerant OpenAPI document, over 1,000 cases per engine
	LONG_TESTS=1 FUZZ_EXAMPLES=20 FUZZ_PHASES=examples,coverage,fuzzing,stateful $(BIN)/pytest -s -m long_only tests/contract/test_contract_fuzz.py

BATTERY = PYTHONPATH=scripts $(BIN)/python -m battery --only "$(ONLY)" $(if $(ENGINE),--engine $(ENGINE)) $(if $(SEED),--seed $(SEED)) $(if $(FAULT),--fault $(FAULT)) $(if $(CLOCK),--clock $(CLOCK)) $(if $(ALL),--all)
battery: .venv/long .venv/semgrep/ready ## tests with crashes, lost machines, full disks, overload and guessing, each also with seeded faults; ONLY=a,f: some tests; ALL=1: a test that cannot run fails; CLOCK=print: timings are printed but do not decide, for a busy machine
	$(BATTERY) $(if $(LONG),--long $(LONG))

battery-tools: ## install the battery's Debian packages, as root; without them some tests cannot run
	scripts/install_battery.sh

LONG_SECONDS ?= 600
battery-long: .venv/long .venv/semgrep/ready ## the long forms of the battery's tests, LONG_SECONDS=600 each
	$(BATTERY) --long $(LONG_SECONDS)

mutation: .venv/long ## mutation tests of inventory, changes, approvals, tokens and passwords, with mutmut; takes long
	$(BIN)/python -m battery.mutation

bench: .venv/dev ## benchmarks beside peers, on both engines, with up to five million players; takes long, mostly the first time
	PYTHONPATH=scripts $(BIN)/python -m benchmarks

bench-quick: .venv/dev ## the main ratios with 10,000 players, in under three minutes; BEFORE=checkout: only look-ups, of that version and this one
	PYTHONPATH=scripts $(BIN)/python -m benchmarks --quick $(if $(BEFORE),--before $(BEFORE) --rounds 8)

generators: .venv/dev .venv/generators/ready ## clients of five generators from /api/openapi.json, compiled and run against a server
	$(BIN)/pytest tests/generators

schema: .venv/dev ## print the database schema that the migrations build on ENGINE=sqlite
	@$(BIN)/python scripts/print_schema.py $(or $(ENGINE),sqlite)

docs: .venv/dev ## generate docs/settings.md, cli.md, operations.md, permissions.md and changes.md
	$(BIN)/python scripts/generate_docs.py

clients: .venv/dev ## generate operations, shapes and errors of both clients from the declarations of the API
	$(BIN)/python scripts/generate_clients.py

diagrams: .venv/dev .venv/diagrams/ready chromium ## render docs/diagrams/*.mmd as SVG files, after a change of one
	$(BIN)/python scripts/render_diagrams.py

texts: .venv/dev ## extract the console's texts into the catalogue, and update the translations; names those that are missing
	$(BIN)/python scripts/extract_texts.py

site: .venv/long ## build the documents as a website in site/; fails on a dead link
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

package: .venv/long ## build a wheel and an sdist of the server and of the Python client, and npm's package of the TypeScript client, in dist/
	$(BIN)/python -m build --no-isolation --outdir dist
	$(BIN)/python -m build --no-isolation --outdir dist clients/python
	if scripts/install_node_packages.sh clients/typescript .venv/typescript-client; then \
	  scripts/pack_typescript_client.sh dist; \
	else \
	  echo "The package of the TypeScript client is not built. The Python packages are in dist/." >&2; \
	fi

LOCK := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate
lock: .venv/dev ## renew the lock files with the newest versions that fit pyproject.toml
	$(BIN)/pip install --quiet uv
	$(LOCK) --upgrade pyproject.toml -o requirements.lock
	$(LOCK) --upgrade --group dev pyproject.toml -o requirements-dev.lock
	$(LOCK) --group long -c requirements-dev.lock pyproject.toml -o requirements-long.lock
	echo semgrep | $(LOCK) --upgrade - -o requirements-semgrep.lock
	printf '%s\n' openapi-python-client openapi-generator-cli urllib3 python-dateutil | $(LOCK) --upgrade - -o requirements-generators.lock

clean:
	rm -rf .venv demo-data dist site mutants

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Gamekeeper needs Python 3.11 or newer; choose one with: make PYTHON=python3.12 …"; exit 1; }
	$(PYTHON) -m venv .venv

.venv/runtime: .venv/bin/python requirements.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps -e .
	@touch $@

.venv/dev: .venv/bin/python requirements-dev.lock pyproject.toml clients/python/pyproject.toml
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e . -e clients/python
	@touch $@ .venv/runtime

# what only `make long`, the battery and the site need
.venv/long: .venv/dev requirements-long.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements-long.lock
	@touch $@

# separate environment, because semgrep needs an older click
.venv/semgrep/ready: .venv/bin/python requirements-semgrep.lock
	$(BIN)/python -m venv .venv/semgrep
	.venv/semgrep/bin/pip install --quiet --disable-pip-version-check --require-hashes -r requirements-semgrep.lock
	@touch $@

# separate environment with the generated Python client's dependencies, and Node's packages beside it
.venv/generators/ready: .venv/bin/python requirements-generators.lock tests/generators/package-lock.json
	scripts/install_generators.sh

.venv/diagrams/ready: .venv/bin/python scripts/diagrams/package-lock.json
	scripts/install_node_packages.sh scripts/diagrams .venv/diagrams
