from pathlib import Path

import pytest

from benchmarks import results
from benchmarks.results import LAYERS, Results, Sample, Verdict


def sample(scenario: str, candidate: str = "hello", number: int = 0, cpu_us: float = 20.0) -> Sample:
    return Sample(scenario, candidate, number, cpu_us, 20_000.0, 1.5, 9.25, 10_000)


def verdict(bar: str, measured: float = 0.5, *, at_least: bool = True) -> Verdict:
    return Verdict(bar, "lookup vs. hello", measured, 0.45, 0.6, at_least)


def two_parts() -> Results:
    return Results(
        {"cpu": "one", "cores": "2"},
        [sample("T1"), sample("T9")],
        [verdict("T1"), verdict("T9")],
        ["T1: of hello", "T9: of nice threads"],
        [("hello", 20.0)],
    )


def test_what_was_saved_is_loaded_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "data" / "results.json"
    results.save(path, two_parts())
    assert results.load(path) == two_parts()


def test_nothing_saved_yet_is_nothing_found(tmp_path: Path) -> None:
    assert results.load(tmp_path / "results.json") == Results()


def test_a_part_measured_anew_replaces_just_its_own() -> None:
    kept = two_parts().without(["T9"])
    kept.add(Results(samples=[sample("T9", number=7)], verdicts=[verdict("T9", 0.9)], notes=["T9: again"]))
    assert kept.samples == [sample("T1"), sample("T9", number=7)]
    assert kept.verdicts == [verdict("T1"), verdict("T9", 0.9)]
    assert kept.notes == ["T1: of hello", "T9: again"]
    assert kept.layers == [("hello", 20.0)]
    assert kept.machine == {"cpu": "one", "cores": "2"}


def test_layers_measured_anew_replace_the_old_ones() -> None:
    assert two_parts().without([LAYERS]).layers == []
    assert two_parts().without([LAYERS]).samples == two_parts().samples


def test_a_scenario_belongs_to_the_part_that_is_its_first_word() -> None:
    found = Results(samples=[sample("pages first"), sample("pages last"), sample("T1")])
    assert found.without(["pages"]).samples == [sample("T1")]
    assert found.without(["page", "T10"]).samples == found.samples


def test_a_bar_is_met_from_its_own_side() -> None:
    assert verdict("T1", 0.45).met
    assert not verdict("T1", 0.44).met
    assert verdict("T5", 0.45, at_least=False).met
    assert not verdict("T5", 0.46, at_least=False).met


def test_the_ratio_is_the_median_of_the_rounds_own() -> None:
    # the second round was slow for both, the third for one alone: of the medians the ratio would be 25 / 40
    hello, ours = {0: 20.0, 1: 60.0, 2: 25.0}, {0: 40.0, 1: 120.0, 2: 30.0}
    assert results.ratio(hello, ours) == pytest.approx(0.5)


def test_the_ratio_counts_only_rounds_of_both() -> None:
    assert results.ratio({0: 10.0, 1: 30.0}, {1: 10.0, 2: 1.0}) == pytest.approx(3.0)
