from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks import report
from benchmarks.results import Results, Sample, Verdict

FASTER = Verdict("T4", "lookup vs. a peer", 1.3, 1.2, 1.6, at_least=True)
FLATTER = Verdict("T10", "last page vs. first", 1.9, 2.0, 1.3, at_least=False)
SMALLER = Verdict("T11", "memory of one worker", 70.0, 150, 80, at_least=False, unit="MiB")
PAGE = Sample("pages first", "ours", 0, 41.5, 20_000, 0.5, 2.25, 10_000)


def found(*verdicts: Verdict) -> Results:
    return Results(
        {"cpu": "one of many"}, [PAGE, replace(PAGE, round=1)], [*verdicts], ["T9: a remark"], [("all", 9.0)]
    )


def whole() -> Results:
    return found(*(replace(FASTER, bar=bar, what=f"question {bar}") for bar in report.BARS))


@pytest.mark.parametrize(
    ("verdict", "measured", "state"),
    [
        (FASTER, 1.19, "SHORT"),
        (FASTER, 1.2, "met"),
        (FASTER, 1.6, "goal"),
        (FLATTER, 2.01, "SHORT"),
        (FLATTER, 2.0, "met"),
        (FLATTER, 1.3, "goal"),
    ],
)
def test_a_bar_of_either_direction_is_missed_met_or_at_its_goal(verdict: Verdict, measured: float, state: str) -> None:
    _, row, *_ = report.table(found(replace(verdict, measured=measured))).splitlines()
    assert row.endswith(f"  {state}")


def test_the_table_is_in_the_order_of_the_bars_and_aligned() -> None:
    head, *rows = report.table(found(SMALLER, FLATTER, FASTER)).splitlines()[:4]
    assert [each.split()[0] for each in rows] == ["T4", "T10", "T11"]
    assert {each.index(sign) for each, sign in zip(rows, "≥≤≤", strict=True)} == {head.index("bar")}
    assert "70.0 MiB" in rows[2]


def test_the_table_ends_with_what_falls_short_and_what_was_not_measured() -> None:
    lines = report.table(found(replace(FASTER, measured=1.0), FLATTER)).splitlines()
    assert "Falls short: T4, lookup vs. a peer" in lines
    assert not any("Falls short: T10" in each for each in lines)
    assert lines[-1] == "Not measured: T1, T2, T3, T5, T6, T7, T8, T9, T11, T12"


def test_all_bars_met_is_said() -> None:
    assert report.table(whole()).splitlines()[-1] == "Every bar is met."


def test_a_bar_just_missed_does_not_look_met() -> None:
    assert " 0.449" in report.table(found(replace(FASTER, measured=0.449, limit=0.45)))


def test_the_document_has_every_verdict_and_figure_and_remark() -> None:
    text = report.document(whole())
    unit = FASTER.unit
    for bar in report.BARS:
        assert f"| {bar} | question {bar} | 1.30{unit} | ≥ 1.2{unit} | ≥ 1.6{unit} | met |" in text
    assert "| pages first | ours | 10,000 | 41.5 | 20,000 | 0.500 | 2.25 |" in text
    assert "each of 2 rounds" in text
    assert "* T9: a remark" in text
    assert "| cpu | one of many |" in text
    assert (report.FOLDER / "explained.md").read_text(encoding="utf-8").strip() in text


def test_the_document_and_the_plots_it_shows_are_written(tmp_path: Path) -> None:
    report.write(whole(), tmp_path)
    text = (tmp_path / "performance.md").read_text(encoding="utf-8")
    shown = [name for name in (report.PAGES, report.LAYERS) if f"]({name})" in text]
    assert sorted(["performance.md", *shown]) == sorted(each.name for each in tmp_path.iterdir())
    assert len(shown) == 2


def test_a_plot_without_figures_is_left_out(tmp_path: Path) -> None:
    report.write(Results(verdicts=[FASTER]), tmp_path)
    assert [each.name for each in tmp_path.iterdir()] == ["performance.md"]
    assert (tmp_path / "performance.md").read_text(encoding="utf-8").count("Not measured.") == 2
