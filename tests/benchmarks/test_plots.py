from xml.etree import ElementTree as ET

import pytest

from benchmarks import plots
from benchmarks.results import Sample

NAMES = ("first", "middle", "last")
CANDIDATES = ("ours & theirs", "<peer>")
SIZES = (10_000, 1_000_000, 5_000_000)
SHARED = ("server", 20.0)
LAYERS = [SHARED, ("read, SQLite", 10.0), ("read, PostgreSQL", 60.0)]


def sample(page: str, candidate: str, players: int, milliseconds: float, number: int = 0) -> Sample:
    return Sample(f"{plots.PAGES}{page}", candidate, number, 100, 1000, milliseconds, 9, players)


SAMPLES = [sample(page, candidate, size, size / 1000) for page in NAMES for candidate in CANDIDATES for size in SIZES]


def drawn(svg: str, tag: str) -> list[ET.Element]:
    """The elements of that kind; fails when the text is no XML."""
    return ET.fromstring(svg).findall(f".//{{http://www.w3.org/2000/svg}}{tag}")  # noqa: S314 - we wrote it


def points(line: ET.Element) -> list[tuple[float, float]]:
    pairs = (each.split(",") for each in line.attrib["points"].split())
    return [(float(x), float(y)) for x, y in pairs]


def said(svg: str) -> list[str | None]:
    return [each.text for each in drawn(svg, "text")]


def widths(svg: str) -> dict[str, list[float]]:
    """Of the bars' parts, not of the legend's squares and the paper."""
    found: dict[str, list[float]] = {}
    for each in drawn(svg, "rect"):
        if each.attrib["height"] == f"{plots.BAR_HEIGHT}":
            found.setdefault(each[0].text or "", []).append(float(each.attrib["width"]))
    return found


def test_every_panel_has_one_line_per_candidate() -> None:
    lines = drawn(plots.pages(SAMPLES), "polyline")
    assert [each[0].text for each in lines] == [*CANDIDATES] * len(NAMES)
    assert len({each.attrib["stroke"] for each in lines}) == len(CANDIDATES)


def test_axes_and_legend_say_what_is_drawn() -> None:
    words = said(plots.pages(SAMPLES))
    for each in ("first page", "middle page", "last page", *CANDIDATES, "10 k", "1 M", "5 M", "10 ms", "1 s"):
        assert each in words


def test_both_axes_are_logarithmic() -> None:
    steady = [sample("first", "ours", 10**each, 10.0**each) for each in (1, 2, 4)]
    ((x1, y1), (x2, y2), (x3, y3)) = points(drawn(plots.pages(steady), "polyline")[0])
    assert x3 - x2 == pytest.approx(2 * (x2 - x1), abs=0.2)
    assert y3 - y2 == pytest.approx(2 * (y2 - y1), abs=0.2)
    assert y3 < y1


def test_a_point_is_the_median_of_its_rounds() -> None:
    calm = [sample("first", "ours", 10, 5, 0), sample("first", "ours", 1000, 50, 0)]
    rough = [*calm, sample("first", "ours", 10, 5, 1), sample("first", "ours", 10, 9, 2)]
    assert [points(each) for each in drawn(plots.pages(rough), "polyline")] == [
        points(each) for each in drawn(plots.pages(calm), "polyline")
    ]


def test_a_candidate_measured_at_one_size_is_a_point() -> None:
    assert len(drawn(plots.pages([sample("last", "ours", 10, 1)]), "circle")) == 1


def test_other_scenarios_are_not_pages() -> None:
    other = Sample("T1", "somebody", 0, 1, 1, 1, 1, 10)
    assert "somebody" not in said(plots.pages([*SAMPLES, other]))


def test_each_engine_has_its_own_layers_and_the_shared_ones() -> None:
    found = widths(plots.layers(LAYERS))
    assert found["server"][0] == found["server"][1]
    assert found["read"] == pytest.approx([found["server"][0] / 2, found["server"][0] * 3], abs=0.2)
    assert {"SQLite", "PostgreSQL", "30 µs", "80 µs"} <= set(said(plots.layers(LAYERS)))


def test_a_layer_below_nothing_is_drawn_as_nothing() -> None:
    assert widths(plots.layers([*LAYERS, ("noise", -3.0)]))["noise"] == [0, 0]
