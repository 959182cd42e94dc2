from pathlib import Path

import pytest

from benchmarks import load
from benchmarks.load import Load, Outcome
from benchmarks.machine import Stop

ANY_2XX = Load(Path("lookups"), Path("tokens"))
ONLY_400 = Load(Path("validates"), Path("tokens"), expected=400)


def outcome(requests: int = 100, bad: int = 0, other: int = 0, broken: int = 0) -> Outcome:
    return Outcome(requests, 2.0, 1.0, 9.0, bad, other, broken)


def test_all_answers_right_is_a_measurement() -> None:
    assert load.checked(outcome(), ANY_2XX).per_second == pytest.approx(50)
    assert load.checked(outcome(bad=100), ONLY_400).requests == 100


@pytest.mark.parametrize(
    ("found", "asked"),
    [
        (outcome(bad=1), ANY_2XX),
        (outcome(broken=1), ANY_2XX),
        (outcome(requests=0), ANY_2XX),
        (outcome(bad=100, other=1), ONLY_400),
    ],
)
def test_one_wrong_answer_makes_it_none(found: Outcome, asked: Load) -> None:
    with pytest.raises(Stop, match="Not a measurement"):
        load.checked(found, asked)
