"""Report the results: a table for the terminal, and docs/performance.md."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import median
from string import Template

from benchmarks.results import Results, Sample, Verdict

FOLDER = Path(__file__).parent
BARS = tuple(f"T{number}" for number in range(13) if number != 3)  # noqa: PLR2004 - T3 follows from T0
SHORT = "SHORT"
HEAD = ("", "what", "measured", "bar", "goal", "")
FIGURES = ("", "candidate", "players", "CPU µs per request", "requests per second", "p50 ms", "p99 ms")


def table(results: Results) -> str:
    """Format the bars and the measured results as a table, and name bars that are missed or not measured."""
    rows = [HEAD, *(_row(each) for each in _sort(results.verdicts))]
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
    return "\n".join([*lines, "", *_summary(results.verdicts)])


def write(results: Results, folder: Path) -> None:
    """Write docs/performance.md from the results, the template, explained.md and growth.md."""
    template = Template((FOLDER / "performance.md.template").read_text(encoding="utf-8"))
    text = template.substitute(
        machine=_markdown([("", ""), *results.machine.items()]),
        bars=_markdown([HEAD, *(_row(each) for each in _sort(results.verdicts))]),
        summary="\n".join(f"* {each}" for each in _summary(results.verdicts)),
        rounds=len({each.round for each in results.samples}),
        figures=_markdown(_figures(results.samples)),
        notes="\n".join(f"* {each}" for each in results.notes),
        growth=(FOLDER / "growth.md").read_text(encoding="utf-8").strip(),
        explained=(FOLDER / "explained.md").read_text(encoding="utf-8").strip(),
    )
    (folder / "performance.md").write_text(text, encoding="utf-8")


def state(verdict: Verdict) -> str:
    if not verdict.met:
        return SHORT
    beyond = verdict.measured >= verdict.goal if verdict.at_least else verdict.measured <= verdict.goal
    return "goal" if beyond else "met"


def _row(verdict: Verdict) -> tuple[str, ...]:
    sign = "≥" if verdict.at_least else "≤"
    unit = f" {verdict.unit}" if verdict.unit.isalpha() else verdict.unit
    figures = (f"{sign} {verdict.limit:.3g}{unit}", f"{sign} {verdict.goal:.3g}{unit}")
    return verdict.bar, verdict.what, f"{_number(verdict.measured)}{unit}", *figures, state(verdict)


def _summary(verdicts: Sequence[Verdict]) -> list[str]:
    short = [f"Falls short: {each.bar}, {each.what}" for each in _sort(verdicts) if not each.met]
    missing = [bar for bar in BARS if bar not in {each.bar for each in verdicts}]
    unmeasured = [f"Not measured: {', '.join(missing)}"] if missing else []
    return [*short, *unmeasured] or ["Every bar is met."]


def _sort(verdicts: Iterable[Verdict]) -> list[Verdict]:
    """Sort by bar: T0, T0-pages, T1 …"""
    numbers = {bar: number for number, bar in enumerate(BARS)}
    return sorted(verdicts, key=lambda each: numbers.get(each.bar.partition("-")[0], len(BARS)))


def _figures(samples: Sequence[Sample]) -> list[tuple[str, ...]]:
    """Return the figures as medians over the rounds, in the order of measurement."""
    groups: dict[tuple[str, str, int], list[Sample]] = {}
    for each in samples:
        groups.setdefault((each.scenario, each.candidate, each.players), []).append(each)
    rows: list[tuple[str, ...]] = [FIGURES]
    for (scenario, candidate, players), group in groups.items():
        columns = zip(*((each.cpu_us, each.per_second, each.p50_ms, each.p99_ms) for each in group), strict=True)
        rows.append((scenario, candidate, f"{players:,}", *(_number(median(column)) for column in columns)))
    return rows


def _markdown(rows: Sequence[Sequence[str]]) -> str:
    head, *body = (f"| {' | '.join(row)} |" for row in rows)
    return "\n".join([head, "|" + "---|" * len(rows[0]), *body])


def _number(value: float) -> str:
    """Format a number with at least three digits, so that a bar missed by little does not look met."""
    digits = 3 if value < 1 else 2 if value < 10 else 1 if value < 100 else 0  # noqa: PLR2004 - powers of ten
    return f"{value:,.{digits}f}"
