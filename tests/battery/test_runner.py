"""The battery's runner, with tests that cost nothing: what each outcome is called, and what exit code it has."""

from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from click.testing import CliRunner, Result

from battery import __main__ as runner
from battery import overload, storm
from battery.__main__ import CAUGHT, FAILED, MISSED, NOT_DECISIVE, NOT_RUN, PASSED, UNDECIDED
from battery.cases import NEITHER, POSTGRES, SQLITE, Case, Figure, NotRun, Run, Timed
from battery.givers import BUSY, Answer
from battery.network import HEALED_BAR, Spell, healed
from server import Server

FAULT = "seeded"


def measured(run: Run) -> list[Figure]:
    return [Figure("with the fault", str(run.fault), "none", run.fault is None)]


def blind(_: Run) -> list[Figure]:
    return [Figure("whatever happens", "well", "well", met=True)]


def bad(_: Run) -> list[Figure]:
    return [Figure("whatever happens", "badly", "well", met=False)]


def slow(_: Run) -> list[Figure]:
    return [Figure("what was counted", "well", "well", met=True), Timed("how fast", "9 s", "≤ 1 s", met=False)]


def wrong_and_slow(_: Run) -> list[Figure]:
    return [Figure("what was counted", "badly", "well", met=False), Timed("how fast", "9 s", "≤ 1 s", met=False)]


def empty(_: Run) -> list[Figure]:
    return []


def broken(_: Run) -> list[Figure]:
    raise RuntimeError("of the test itself")


def missing(_: Run) -> list[Figure]:
    raise NotRun("no such program here")


def case(run: Callable[[Run], list[Figure]], *, optional: bool = False) -> Case:
    return Case("x", "made up", run, (FAULT,), (SQLITE,), optional=optional)


@pytest.fixture
def battery(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    def run(cases: list[Case], *options: str) -> Result:
        monkeypatch.setattr(runner, "cases", lambda: cases)
        return CliRunner().invoke(runner.main, [*options, "--seed", "1"])

    return run


@pytest.mark.parametrize(
    ("run", "options", "verdict", "code"),
    [
        (measured, ("--fault", "none"), PASSED, 0),
        (measured, ("--fault", FAULT), CAUGHT, 0),
        (bad, ("--fault", "none"), FAILED, 1),
        (blind, ("--fault", FAULT), MISSED, 1),
        (empty, ("--fault", "none"), FAILED, 1),
        (empty, ("--fault", FAULT), FAILED, 1),
        (broken, ("--fault", "none"), FAILED, 1),
        (broken, ("--fault", FAULT), FAILED, 1),
        (slow, ("--fault", "none"), FAILED, 1),
        (slow, ("--fault", FAULT), MISSED, 1),
        (missing, (), NOT_RUN, 0),
        (missing, ("--all",), NOT_RUN, 1),
    ],
)
def test_an_outcome_and_its_exit_code(
    battery: Callable[..., Result],
    run: Callable[[Run], list[Figure]],
    options: tuple[str, ...],
    verdict: str,
    code: int,
) -> None:
    done = battery([case(run)], *options)
    assert done.output.startswith(f"{verdict}: x made up, {SQLITE}")
    assert done.exit_code == code


@pytest.mark.parametrize(("timed_faults", "verdict"), [((), MISSED), (("another",), MISSED), ((FAULT,), CAUGHT)])
def test_the_clock_catches_only_what_nothing_else_shows(
    battery: Callable[..., Result], timed_faults: tuple[str, ...], verdict: str
) -> None:
    """A busy machine spoils it with any fault, and with none."""
    done = battery([Case("x", "made up", slow, (FAULT,), (SQLITE,), timed_faults=timed_faults)], "--fault", FAULT)
    assert done.output.startswith(f"{verdict}: x made up")


def test_what_only_the_clock_spoils_is_taken_again(battery: Callable[..., Result]) -> None:
    assert f"try {runner.TRIES}, for the clock" in battery([case(slow)], "--fault", "none").output
    assert "try" not in battery([case(bad)], "--fault", "none").output


@pytest.mark.parametrize(
    ("run", "options", "verdict", "code"),
    [
        (slow, ("--clock", "decide"), FAILED, 1),
        (slow, ("--clock", "print"), PASSED, 0),
        (wrong_and_slow, ("--clock", "print"), FAILED, 1),
    ],
)
def test_figures_by_the_clock_are_printed_and_decide_only_when_told_so(
    battery: Callable[..., Result],
    run: Callable[[Run], list[Figure]],
    options: tuple[str, ...],
    verdict: str,
    code: int,
) -> None:
    done = battery([case(run)], "--fault", "none", *options)
    assert done.output.startswith(f"{verdict}: x made up")
    assert "NOT how fast: 9 s (wanted: ≤ 1 s" in done.output
    assert (NOT_DECISIVE in done.output) == ("print" in options)
    assert ("try" in done.output) == ("decide" in options)
    assert done.exit_code == code


@pytest.mark.parametrize(
    ("run", "timed_faults", "verdict", "code"),
    [(blind, (FAULT,), UNDECIDED, 0), (blind, (), MISSED, 1), (slow, (FAULT,), CAUGHT, 0), (measured, (), CAUGHT, 0)],
)
def test_a_fault_that_only_the_clock_shows_decides_nothing_where_the_clock_does_not(
    battery: Callable[..., Result],
    run: Callable[[Run], list[Figure]],
    timed_faults: tuple[str, ...],
    verdict: str,
    code: int,
) -> None:
    made_up = Case("x", "made up", run, (FAULT,), (SQLITE,), timed_faults=timed_faults)
    done = battery([made_up], "--fault", FAULT, "--clock", "print")
    assert done.output.startswith(f"{verdict}: x made up")
    assert done.exit_code == code


def test_faults_that_only_the_clock_shows_are_faults() -> None:
    for each in runner.cases():
        assert {*each.timed_faults} <= {*each.faults}


def test_one_that_fails_does_not_stop_the_others(battery: Callable[..., Result]) -> None:
    done = battery([case(broken), case(measured)])
    assert f"{PASSED} 1, {CAUGHT} 1, {FAILED} 2" in done.output
    assert done.exit_code == 1


def test_what_is_optional_may_be_left_out(battery: Callable[..., Result]) -> None:
    assert battery([case(missing, optional=True)], "--all").exit_code == 0


@pytest.mark.parametrize("options", [("--only", "z"), ("--fault", "no-such-fault"), ("--engine", POSTGRES)])
def test_nothing_run_is_no_success(battery: Callable[..., Result], options: tuple[str, ...]) -> None:
    done = battery([case(measured)], *options)
    assert done.exit_code == 2
    assert "No test is like that" in done.output


def test_an_engine_that_there_is_not(battery: Callable[..., Result]) -> None:
    assert battery([case(measured)], "--engine", "oracle").exit_code == 2


@pytest.mark.parametrize(
    ("engines", "engine", "expected"),
    [
        ((SQLITE, POSTGRES), None, [(SQLITE, None), (SQLITE, FAULT), (POSTGRES, None)]),
        ((SQLITE, POSTGRES), POSTGRES, [(POSTGRES, None)]),
        ((POSTGRES,), SQLITE, []),
        ((SQLITE,), SQLITE, [(SQLITE, None), (SQLITE, FAULT)]),
        (NEITHER, SQLITE, [("neither", None), ("neither", FAULT)]),
    ],
)
def test_what_is_run(engines: tuple[str, ...], engine: str | None, expected: list[tuple[str, str | None]]) -> None:
    made_up = Case("x", "made up", measured, (FAULT,), engines, fault_engines=(SQLITE,))
    assert list(runner.runs(made_up, engine, None)) == expected


# --- what the tests are made of --------------------------------------------------------------------------------------


def test_refusals_that_last_are_no_healing() -> None:
    """From the end of a fault to the beginning of the next, every second one is refused."""
    lasting = [Answer(10 + at / 10, 10 + at / 10 + 0.01, BUSY if at % 2 else 200) for at in range(25)]
    spell = Spell("reset", healed=10.0, until=12.5)
    assert healed(lasting, spell) > HEALED_BAR
    assert healed(lasting[:5], spell) < HEALED_BAR


def test_what_the_next_fault_does_is_not_held_against_this_one() -> None:
    spell = Spell("reset", healed=10.0, until=12.5)
    assert healed([Answer(10.1, 10.2, 200), Answer(12.4, 13.0, BUSY)], spell) < HEALED_BAR


def test_a_peak_that_was_measured_too_low_spoils_the_measurement() -> None:
    """Whoever does half as much again as it ever could was kept from it by somebody else at first."""
    steady = [storm.Answer(at / 10, 0.05, storm.CHECKED, retry_after=False) for at in range(41)]
    away = storm.Answer(0.0, 0.01, storm.BUSY, retry_after=True)

    def missed(peak: float) -> list[Figure]:
        found = overload.Weathered(peak, [*steady, away], steady, seconds=4, slowest_live=0.1)
        return [each for each in overload.figures("direct", found) if not each.met]

    assert missed(peak=10) == []
    assert [type(each) for each in missed(peak=6)] == [Timed]


def test_a_server_that_does_not_get_ready_is_not_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("server.READY_SECONDS", 1)
    server = Sleeping(f"sqlite:///{tmp_path / 'never.db'}")
    with pytest.raises(RuntimeError, match="not ready"):
        server.start()
    assert "sleep" not in {each.name() for each in psutil.Process().children()}


class Sleeping(Server):
    def _command(self) -> list[str]:
        return ["sleep", "60"]
