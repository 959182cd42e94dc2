import random
from collections.abc import Callable

import pytest

from benchmarks import lists
from benchmarks.lists import BIG_VS_SMALL, FIRSTS, LAST_VS_FIRST, name_of
from benchmarks.pages import FIRST, LAST, Page
from benchmarks.results import Sample, Verdict
from benchmarks.worlds import BIG, POSTGRES, SMALL, SQLITE

FIRST_PAGE, LAST_PAGE = Page("rank", FIRST, 5), Page("rank", LAST, 5)


def sample(page: Page, players: int, number: int, cpu_us: float) -> Sample:
    return Sample(LAST_VS_FIRST, name_of(page, SQLITE, players), number, cpu_us, 1.0, 1.0, 1.0, BIG)


SAMPLES = [
    *(sample(FIRST_PAGE, BIG, number, cpu) for number, cpu in enumerate((100, 200, 100))),
    *(sample(LAST_PAGE, BIG, number, cpu) for number, cpu in enumerate((250, 300, 150))),
    *(sample(FIRST_PAGE, SMALL, number, cpu) for number, cpu in enumerate((80, 160, 80))),
]


@pytest.mark.parametrize(
    ("found", "measured", "met"),
    [
        (lambda: lists.last_vs_first(SAMPLES, SQLITE, BIG, "rank", 5), 1.5, True),
        (lambda: lists.big_vs_small(SAMPLES, SQLITE, BIG, FIRST_PAGE), 1.25, True),
        (lambda: lists.last_vs_first([*SAMPLES[:3], *slow()], SQLITE, BIG, "rank", 5), 4.0, False),
    ],
)
def test_the_costs_are_compared_round_by_round(found: Callable[[], Verdict], measured: float, *, met: bool) -> None:
    verdict = found()
    assert verdict.measured == pytest.approx(measured)
    assert verdict.met is met


def slow() -> list[Sample]:
    return [sample(LAST_PAGE, BIG, number, cpu) for number, cpu in enumerate((400, 800, 400))]


def test_a_sample_is_kept_under_what_it_serves_with_the_size_of_its_world() -> None:
    both = lists.under(SAMPLES, BIG, (LAST_VS_FIRST, BIG_VS_SMALL))
    kept = {(each.scenario, each.candidate.partition(" page")[0], each.players) for each in both}
    assert kept == {
        (LAST_VS_FIRST, "rank, first", BIG),
        (LAST_VS_FIRST, "rank, last", BIG),
        (BIG_VS_SMALL, "rank, first", BIG),
        (BIG_VS_SMALL, "rank, first", SMALL),
    }
    assert {each.scenario for each in lists.under(SAMPLES, BIG, (BIG_VS_SMALL,))} == {BIG_VS_SMALL}


def test_no_two_candidates_share_a_name() -> None:
    names = [name_of(page, engine, players) for page in FIRSTS for engine in (SQLITE, POSTGRES) for players in (1, 2)]
    assert len({*names}) == len(names)


def test_ranks_are_asked_of_players_that_are_there() -> None:
    lines = [*lists.rank_lines(3, random.Random(1))]
    assert len({*lines}) == 3
    assert all(line.startswith("GET /api/v1/players/") and line.endswith("/rank?around=5") for line in lines)
