"""schemathesis finds no answer that is not as the tolerant document says: a short run; `make fuzz` is the long one."""

import os
import sys
import tomllib
from pathlib import Path

import contract_fuzz
from conftest import Postgres, Sqlite
from gamekeeper.http.routes import ROUTES

EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "2"))  # per operation
PHASES = os.environ.get("FUZZ_PHASES", "examples,fuzzing")


def test_no_answer_is_other_than_described(databases: Sqlite | Postgres) -> None:
    database = databases.empty()
    try:
        result = contract_fuzz.fuzz(database, EXAMPLES, PHASES)
    finally:
        databases.drop(database)
    sys.stdout.write(result.text)  # what `make fuzz` shows
    assert not result.failed, result.text
    assert result.cases >= 100


def test_exceptions_are_of_operations_that_exist() -> None:
    known = tomllib.loads((Path(__file__).parents[1] / "schemathesis.toml").read_text(encoding="utf-8"))
    named = {each for rule in known["operations"] for each in rule.get("include-operation-id", ())}
    assert named
    assert named <= {route.name for route in ROUTES}
