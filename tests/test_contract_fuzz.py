"""schemathesis finds no answer that differs from the tolerant OpenAPI document; `make fuzz` is the long run."""

import os
import sys
import tomllib
from pathlib import Path

import contract_fuzz
from conftest import Postgres, Sqlite
from gamekeeper.http.routes import ROUTES

EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "2"))  # fuzzed requests per operation
PHASES = os.environ.get("FUZZ_PHASES", "examples,fuzzing")


def test_fuzzed_answers_fit_the_document(databases: Sqlite | Postgres) -> None:
    database = databases.empty()
    try:
        result = contract_fuzz.fuzz(database, EXAMPLES, PHASES)
    finally:
        databases.drop(database)
    sys.stdout.write(result.text)  # schemathesis's output, which `make fuzz` shows
    assert not result.failed, result.text
    assert result.cases >= 100


def test_exceptions_name_existing_operations() -> None:
    known = tomllib.loads((Path(__file__).parents[1] / "schemathesis.toml").read_text(encoding="utf-8"))
    named = {each for rule in known["operations"] for each in rule.get("include-operation-id", ())}
    assert named
    assert named <= {route.name for route in ROUTES}
