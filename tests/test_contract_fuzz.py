"""schemathesis finds no answer that /api/openapi.json does not describe: a short run; `make fuzz` is the long one."""

import os
import sys

import contract_fuzz
from conftest import Postgres, Sqlite

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
