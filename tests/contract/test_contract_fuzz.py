"""schemathesis finds no answer that differs from the tolerant OpenAPI document.

`make fuzz` runs it longer. `make test` has hostile requests in tests/contract/test_hostile.py and test_tolerance.py.
"""

import os
import sys

import pytest

import contract_fuzz

pytestmark = pytest.mark.long_only

EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "2"))  # fuzzed requests per operation
PHASES = os.environ.get("FUZZ_PHASES", "examples,fuzzing")


def test_fuzzed_answers_fit_the_document(demo_database: str) -> None:
    result = contract_fuzz.fuzz(demo_database, EXAMPLES, PHASES)
    sys.stdout.write(result.text)  # schemathesis's output, which `make fuzz` shows
    assert not result.failed, result.text
    assert result.cases >= 100
