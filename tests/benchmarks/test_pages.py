import random

import pytest

from benchmarks import pages
from benchmarks.asked import percentile
from benchmarks.pages import FIRST, IN_THE_MIDDLE, LAST, LISTS, PARTS, RANDOM, Page
from benchmarks.plots import PAGES
from gamekeeper.http.routes import ROUTES

DICE = random.Random(7)


@pytest.mark.parametrize(
    ("place", "size", "number"), [(FIRST, 5, 0), (IN_THE_MIDDLE, 5, 999), (LAST, 5, 1999), (LAST, 100, 99)]
)
def test_a_page_has_its_number(place: str, size: int, number: int) -> None:
    assert Page("rank", place, size).numbers(10_000, DICE) == [number]


def test_the_last_page_is_full() -> None:
    (last,) = Page("rank", LAST, 100).numbers(10_099, DICE)
    assert (last + 1) * 100 <= 10_099 < (last + 2) * 100


def test_random_pages_are_all_over_and_nowhere_else() -> None:
    numbers = Page("names", RANDOM, 5).numbers(1_000, DICE)
    assert {*numbers} == {*range(200)}


def test_a_page_is_asked_for_where_it_is() -> None:
    assert Page("users", FIRST, 100).line(7) == "GET /api/v1/users?page=7&pageSize=100"
    assert {*LISTS.values()} <= {each.path for each in ROUTES if each.method == "GET"}


def test_the_plot_finds_its_scenarios() -> None:
    assert all(part.startswith(PAGES) for part in PARTS)


@pytest.mark.parametrize(
    ("largest", "sizes"),
    [(5_000_000, [10_000, 1_000_000, 5_000_000]), (1_000_000, [10_000, 1_000_000]), (200, [200])],
)
def test_the_worlds_end_with_the_largest(largest: int, sizes: list[int]) -> None:
    assert pages.sizes(largest) == sizes


def test_a_percentile_is_one_of_the_values() -> None:
    assert [percentile(list(range(101)), each) for each in (0, 50, 99, 100)] == [0, 50, 99, 100]
    assert percentile([3.0], 99) == 3.0
