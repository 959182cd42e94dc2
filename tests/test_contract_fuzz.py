"""schemathesis finds no answer that differs from the tolerant OpenAPI document.

Here each operation is fuzzed on one engine: that both engines give the same answers is tested in test_same_answers.py.
`make long` fuzzes all operations on both engines, also with the examples of the document, and `make fuzz` much longer.
"""

import os
import sys
import tomllib
from pathlib import Path

import pytest

import contract_fuzz
import long_forms
from conftest import ENGINES
from gamekeeper.http.routes import ROUTES

EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", long_forms.choose("1", "2")))  # fuzzed requests per operation
OPERATIONS = sorted(route.name for route in ROUTES)
PHASES = os.environ.get("FUZZ_PHASES", long_forms.choose("fuzzing", "examples,fuzzing"))


@pytest.mark.long_form
def test_fuzzed_answers_fit_the_document(engine: str, demo_database: str) -> None:
    all_operations = long_forms.LONG or "FUZZ_EXAMPLES" in os.environ
    chosen = () if all_operations else OPERATIONS[ENGINES.index(engine) :: len(ENGINES)]
    result = contract_fuzz.fuzz(demo_database, EXAMPLES, PHASES, operations=chosen)
    sys.stdout.write(result.text)  # schemathesis's output, which `make fuzz` shows
    assert not result.failed, result.text
    assert result.cases >= 100


def test_exceptions_name_existing_operations() -> None:
    known = tomllib.loads((Path(__file__).parents[1] / "schemathesis.toml").read_text(encoding="utf-8"))
    named = {each for rule in known["operations"] for each in rule.get("include-operation-id", ())}
    assert named
    assert named <= {route.name for route in ROUTES}
