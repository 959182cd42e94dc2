"""Run the benchmark scenarios, save their results, and compare them with the bars."""

from collections.abc import Callable, Collection, Sequence
from contextlib import closing
from pathlib import Path

import click

from benchmarks import (
    console,
    counting,
    flats,
    lists,
    load,
    loading,
    lookups,
    machine,
    memory,
    report,
    results,
    worlds,
    writes,
)
from benchmarks.results import Results
from benchmarks.rounds import Bench
from benchmarks.worlds import Worlds

Scenario = Callable[[Bench, Collection[str]], Results]

# Scenarios: the parts that each one measures, and its function, which gets the selected parts
SCENARIOS: tuple[tuple[tuple[str, ...], Scenario], ...] = (
    (("T0", "T1", "T2", "T4"), lookups.run),
    (flats.PARTS, flats.run),
    ((lists.LAST_VS_FIRST, lists.BIG_VS_SMALL, lists.HOLDERS), lists.run),
    (("T7", "T8"), writes.run),
    ((counting.PART,), counting.run),
    (("T9",), lookups.beside_validates),
    (("T10",), loading.run),
    (("T11",), memory.run),
    ((console.PART,), console.run),
)
# name of the scenario that compares two versions of Gamekeeper; it runs only on request and is not documented
VERSIONS = "versions"
ALL = [part for parts, _ in SCENARIOS for part in parts]
QUICK = ["T0", "T1", "T2", "T4", "T9"]
DOCS = Path(__file__).parent.parent / "docs"
SECONDS = 1  # seconds: length of one measurement; more rounds are more precise than longer measurements
ROUNDS, QUICK_ROUNDS = 5, 3


@click.command()
@click.option("--quick", is_flag=True, help=f"Just {', '.join(QUICK)}, with {worlds.SMALL:,} players.")
@click.option("--only", metavar="PARTS", help=f"Some of {', '.join(ALL)}, with commas; the rest is kept as it was.")
@click.option("--players", default=worlds.BIG, show_default=True, help="Players of the big world.")
@click.option(
    "--before",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Checkout of another version, with its .venv: just lookups of both versions, in the same rounds.",
)
@click.option("--rounds", type=int, help=f"Rounds of each scenario: {ROUNDS}, or {QUICK_ROUNDS} with --quick.")
def main(quick: bool, only: str | None, players: int, before: Path | None, rounds: int | None) -> None:  # noqa: FBT001 - click hands every option over by name
    """Measure Gamekeeper beside its peers, and compare the results with the bars."""
    parts = _parts(only) if only else QUICK if quick else ALL
    scenarios = (((VERSIONS,), lookups.compare_versions),) if before else SCENARIOS
    parts = [VERSIONS] if before else parts
    sizes = (worlds.SMALL,) if quick else (worlds.SMALL, worlds.MIDDLE)
    rounds = rounds or (QUICK_ROUNDS if quick else ROUNDS)
    path = worlds.DATA / ("versions.json" if before else "quick.json" if quick else "results.json")
    try:
        load.require_wrk()
        with closing(Worlds()) as opened:
            bench = Bench(opened, sizes, players, rounds, SECONDS, before)
            for offered, run in scenarios:
                wanted = [part for part in offered if part in parts]
                if wanted:
                    _keep(path, wanted, run(bench, wanted), machine.describe() | opened.describe())
    except machine.Stop as problem:
        raise click.ClickException(str(problem)) from None
    found = results.load(path)
    click.echo("\n".join([report.table(found), *found.notes]))
    if not quick and not before:
        report.write(found, DOCS)


def _parts(only: str) -> list[str]:
    parts = only.split(",")
    unknown = [part for part in parts if part not in ALL]
    if unknown:
        raise click.UsageError(f"There is no {', '.join(unknown)}; there are {', '.join(ALL)}.")
    return parts


def _keep(path: Path, parts: Sequence[str], found: Results, described: dict[str, str]) -> None:
    """Save the results after each scenario, so that a later failure does not lose them."""
    kept = results.load(path).without(parts)
    kept.add(found)
    kept.machine |= described
    results.save(path, kept)


if __name__ == "__main__":
    main()
