"""The pair of PostgreSQL servers that the battery kills and promotes, and what it says when something fails."""

import signal
from collections.abc import Generator
from pathlib import Path

import psutil
import pytest

import pair as pairs
from battery import patroni
from pair import Pair, tail

ROOT = Path(__file__).parents[2]


@pytest.fixture
def pair() -> Generator[Pair]:
    servers = Pair()
    try:
        servers.start()
        yield servers
    finally:
        servers.close()


def test_standby_is_copied_only_after_the_promotion(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    """A copy that begins earlier fails: the standby was promoted during online backup."""
    startup = startup_process(pair)
    startup.suspend()
    pair.fail_over()
    monkeypatch.setattr(pairs, "START_SECONDS", 1)
    with pytest.raises(RuntimeError, match="still in recovery") as raised:
        pair.rebuild()
    assert "The last lines of two.log:" in str(raised.value)
    monkeypatch.undo()
    startup.send_signal(signal.SIGCONT)
    pair.rebuild()


def test_error_message_has_the_end_of_the_log(tmp_path: Path) -> None:
    """The folder with the log is deleted when the test is over."""
    log = tmp_path / "one.log"
    assert tail(log) == "The last lines of one.log:"
    log.write_text("".join(f"line {number}\n" for number in range(1, 41)))
    assert tail(log).splitlines() == ["The last lines of one.log:", *(f"line {number}" for number in range(11, 41))]


@pytest.mark.parametrize(
    ("machine", "expected"), [("aarch64", {"ETCD_UNSUPPORTED_ARCH": "arm64"}), ("x86_64", dict[str, str]())]
)
def test_etcd_is_told_that_it_runs_on_arm(
    machine: str, expected: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("platform.machine", lambda: machine)
    assert patroni.etcd_environment() == expected


def test_guide_and_lock_file_name_the_same_patroni() -> None:
    locked = next(
        line.split()[0]
        for line in (ROOT / "requirements-patroni.lock").read_text().splitlines()
        if line.startswith("patroni==")
    )
    guide = (ROOT / "docs" / "deploy.md").read_text()
    assert f"patroni[etcd3]=={locked.removeprefix('patroni==')}" in guide


def startup_process(pair: Pair) -> psutil.Process:
    """The process of the standby that replays, and that ends recovery."""
    for each in psutil.process_iter(["cmdline"]):
        parent = each.parent()
        said = " ".join(each.info["cmdline"] or [])
        if "startup" in said and parent and str(pair.standby.folder) in " ".join(parent.cmdline()):
            return each
    raise AssertionError("the standby has no startup process")
