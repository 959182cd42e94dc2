"""Results of a benchmark run, and the file that stores them between runs."""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

import msgspec


@dataclass(frozen=True)
class Sample:
    """The measurement of one benchmark candidate in one round."""

    scenario: str
    candidate: str
    round: int
    cpu_us: float
    per_second: float
    p50_ms: float
    p99_ms: float
    players: int = 0


@dataclass(frozen=True)
class Verdict:
    bar: str
    what: str
    measured: float
    limit: float
    goal: float
    at_least: bool
    unit: str = "×"  # noqa: RUF001 - the sign for times is meant

    @property
    def met(self) -> bool:
        return self.measured >= self.limit if self.at_least else self.measured <= self.limit


@dataclass
class Results:
    machine: dict[str, str] = field(default_factory=dict[str, str])
    samples: list[Sample] = field(default_factory=list[Sample])
    verdicts: list[Verdict] = field(default_factory=list[Verdict])
    # notes for docs/performance.md; each begins with its benchmark part: "T9: …"
    notes: list[str] = field(default_factory=list[str])

    def without(self, parts: Collection[str]) -> "Results":
        """Return the results without those of the given parts, which will be measured again."""
        return Results(
            self.machine,
            [each for each in self.samples if each.scenario not in parts],
            [each for each in self.verdicts if each.bar not in parts],
            [each for each in self.notes if re.split(r":", each)[0] not in parts],
        )

    def add(self, other: "Results") -> None:
        self.samples += other.samples
        self.verdicts += other.verdicts
        self.notes += other.notes


def load(path: Path) -> Results:
    return msgspec.json.decode(path.read_bytes(), type=Results) if path.exists() else Results()


def save(path: Path, results: Results) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(msgspec.json.format(msgspec.json.encode(results), indent=1))


def compare(samples: Iterable[Sample], above: str, below: str, figure: str = "cpu_us") -> float:
    """Return the median of the ratios of two candidates within each round, so that a slow round does not matter."""
    of: dict[str, dict[int, float]] = {above: {}, below: {}}
    for each in samples:
        if each.candidate in of:
            of[each.candidate][each.round] = getattr(each, figure)
    return median(of[above][each] / of[below][each] for each in sorted(of[above].keys() & of[below].keys()))
