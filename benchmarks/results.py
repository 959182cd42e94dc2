"""What a run finds, and the file it is kept in between runs."""

import re
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

import msgspec

LAYERS = "layers"  # the part of a run that asks where a request's microseconds go


@dataclass(frozen=True)
class Sample:
    """One candidate in one round."""

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
    notes: list[str] = field(default_factory=list[str])  # each starts with what it belongs to: "T9: …"
    layers: list[tuple[str, float]] = field(default_factory=list[tuple[str, float]])

    def without(self, parts: Collection[str]) -> "Results":
        """What is left when these parts are to be measured anew."""
        return Results(
            self.machine,
            [each for each in self.samples if _part(each.scenario) not in parts],
            [each for each in self.verdicts if each.bar not in parts],
            [each for each in self.notes if _part(each) not in parts],
            [] if LAYERS in parts else self.layers,
        )

    def add(self, other: "Results") -> None:
        self.samples += other.samples
        self.verdicts += other.verdicts
        self.notes += other.notes
        self.layers += other.layers


def _part(text: str) -> str:
    """Of a run: the first word, in "T9", "pages first" and "T9: the threads are nice"."""
    return re.split("[ :]", text, maxsplit=1)[0]


def load(path: Path) -> Results:
    return msgspec.json.decode(path.read_bytes(), type=Results) if path.exists() else Results()


def save(path: Path, results: Results) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(msgspec.json.format(msgspec.json.encode(results), indent=1))


def ratio(above: dict[int, float], below: dict[int, float]) -> float:
    """The median over the rounds of the ratio inside a round: what slows a whole round falls out of it."""
    return median(above[each] / below[each] for each in sorted(above.keys() & below.keys()))
