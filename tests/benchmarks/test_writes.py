import random
import re
import subprocess
import sys
from collections import Counter

import msgspec
import pytest

from benchmarks import writes
from benchmarks.machine import Stop
from benchmarks.worlds import SQLITE
from gamekeeper.http import wire
from gamekeeper.store import players
from gamekeeper.store.statements import FOLDER

PGBENCH = """\
number of clients: 16
number of transactions actually processed: 12345
latency average = 3.141 ms
initial connection time = 20.000 ms
tps = 4115.250000 (without initial connection time)
"""
SYNC = "import os, time; began = time.perf_counter(); os.{0}(1); print(time.perf_counter() - began)"


def test_hardly_a_change_of_exp_changes_nothing() -> None:
    lines = [line.split(" ", 2) for line in writes.exp_lines(10_000, random.Random(1))]
    bodies = [msgspec.json.decode(body, type=wire.PutPlayer) for _, _, body in lines[:100]]
    assert all(isinstance(each.Exp, int) for each in bodies)
    assert {method for method, _, _ in lines} == {"PUT"}
    assert min(Counter(path for _, path, _ in lines).values()) >= writes.PER_PLAYER


def test_a_gift_is_one_that_the_api_takes() -> None:
    method, path, body = next(iter(writes.give_lines(10, random.Random(1)))).split(" ", 2)
    assert (method, path.rpartition("/")[2]) == ("POST", "give")
    assert msgspec.json.decode(body, type=wire.GiveItem).bankoverflow


def test_the_trigger_that_is_taken_away_is_the_one_that_keeps_the_ranks() -> None:
    schema = (FOLDER / "schema.sql").read_text(encoding="utf-8")
    name = writes.NO_UPKEEP[SQLITE].split()[-1]
    assert schema.count(f"CREATE TRIGGER {name} AFTER UPDATE OF level, exp ON players") == 2


def test_the_writers_write_the_whole_row_and_change_nothing_but_exp() -> None:
    written = dict(re.findall(r"(\w+) = ([^,\n]+)", writes.update_as_we_do()))
    assert written.pop("id").startswith("(SELECT id FROM numbered")
    assert written.pop("exp") == ":exp"
    assert {*written} == {*players.Columns._fields} - {"id", "exp"}
    assert all(name == value for name, value in written.items())


def test_what_pgbench_says_is_read() -> None:
    assert writes.parse_pgbench(PGBENCH) == (12_345, 4115.25, 3.141)
    with pytest.raises(Stop, match="something else"):
        writes.parse_pgbench("pgbench: error")


@pytest.mark.parametrize("call", ["fsync", "fdatasync"])
def test_the_slow_disk_takes_its_time(call: str) -> None:
    library = writes.slow_disk()
    if library is None:
        pytest.skip("there is no compiler here")
    done = subprocess.run(
        [sys.executable, "-c", SYNC.format(call)],
        env={"LD_PRELOAD": str(library)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert float(done.stdout) >= 0.004
