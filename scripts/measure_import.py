"""Measure `gamekeeper import intersect` with players of 35 full slots, beside a plain copy of the same rows.

    .venv/bin/python scripts/measure_import.py --players 1000000 --folder /somewhere/roomy

The copy reads the source's rows and writes them with executemany to tables of the same shape, as durably as Gamekeeper.
Both run in turn, each in its own process, whose peak memory is printed.
"""

import argparse
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import apsw

import make_intersect

SOME = 50_000
COPIED = ("Users", "Players", "Player_Items", "Player_Bank", "Player_Spells", "Player_Variables", "Bags", "Bag_Items")


def copy(source: Path, target: Path) -> None:
    read = apsw.Connection(str(source), apsw.SQLITE_OPEN_READONLY)
    write = apsw.Connection(str(target))
    for name, value in {"page_size": 8192, "journal_mode": "WAL", "synchronous": "FULL"}.items():
        write.pragma(name, value)
    for table in COPIED:
        ((shape,),) = read.execute("SELECT sql FROM sqlite_master WHERE name = ?", (table,)).fetchall()
        write.execute(shape)
        rows = read.execute(f"SELECT * FROM {table}")  # noqa: S608 - names from here
        marks = ", ".join("?" * len(rows.get_description()))
        while some := list(islice(rows, SOME)):
            write.execute("BEGIN")
            write.executemany(f"INSERT INTO {table} VALUES ({marks})", some)  # noqa: S608 - names from here
            write.execute("COMMIT")
    write.close()
    read.close()


def import_(players: Path, game: Path, target: Path) -> None:
    from gamekeeper.cli.commands import gamekeeper  # noqa: PLC0415 - the copy does without it

    given = ["--players", str(players), "--game", str(game), "--database", f"sqlite:///{target}"]
    gamekeeper(["import", "intersect", *given, "--report", f"{target}.jsonl", "--json"], standalone_mode=False)


def run_timed(work: Callable[[], None]) -> None:
    """Run the measured work in a child process; print seconds and peak memory as its last line for the parent."""
    started = time.monotonic()
    work()
    seconds = time.monotonic() - started
    used = resource.getrusage(resource.RUSAGE_SELF)
    print(json.dumps({"seconds": seconds, "cpu": used.ru_utime + used.ru_stime, "mib": used.ru_maxrss / 1024}))


def child(what: str, folder: Path, target: Path) -> dict[str, float]:
    for old in target.parent.glob(target.name + "*"):
        old.unlink()
    command = [sys.executable, __file__, "--folder", str(folder), "--do", what, "--target", str(target)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def measure(folder: Path, players: int, rounds: int) -> None:
    if not (folder / "playerdata.db").exists():
        make_intersect.make(folder, "0.8", players, make_intersect.INVENTORY)
    size = (folder / "playerdata.db").stat().st_size
    print(f"{players:,} characters with {make_intersect.INVENTORY} slots, {size / 2**30:.2f} GiB")
    ratios: list[float] = []
    for number in range(rounds):
        took = {what: child(what, folder, folder / f"{what}.db") for what in ("copy", "import")}
        ratios.append(took["copy"]["seconds"] / took["import"]["seconds"])
        told = [
            f"{what} {each['seconds']:.1f} s (CPU {each['cpu']:.1f} s), {each['mib']:.0f} MiB"
            for what, each in took.items()
        ]
        print(f"round {number + 1}: {'; '.join(told)}; the import has {ratios[-1]:.2f} of the copy's speed")
    print(f"median {sorted(ratios)[len(ratios) // 2]:.2f}; at least 0.5 is wanted")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--players", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder", type=Path, required=True, help="where the databases are made; they are left there")
    parser.add_argument("--do", choices=("copy", "import"), help=argparse.SUPPRESS)
    parser.add_argument("--target", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    source, game = given.folder / "playerdata.db", given.folder / "gamedata.db"
    if given.do == "copy":
        run_timed(lambda: copy(source, given.target))
    elif given.do == "import":
        run_timed(lambda: import_(source, game, given.target))
    else:
        given.folder.mkdir(parents=True, exist_ok=True)
        measure(given.folder, given.players, given.rounds)


if __name__ == "__main__":
    main()
