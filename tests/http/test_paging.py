"""The largest page number: its offset is far beyond every list, and nothing overflows."""

from collections.abc import Callable

import pytest

from expectations import refused
from world import World

GET_LISTS = {
    "/api/v1/players": 3,
    "/api/v1/players/rank": 3,
    "/api/v1/players/rank?sortDirection=Ascending": 3,
    "/api/v1/players/online": 0,
    "/api/v1/users": 7,
    "/api/link/v1/catalogue/items": 4,
}
POST_LISTS = {"/api/v1/players": 3, "/api/v1/players/online": 0, "/api/v1/users": 7}
LAST = 2147483647


def page_path(path: str, page: int, size: int) -> str:
    return f"{path}{'&' if '?' in path else '?'}page={page}&pageSize={size}"


@pytest.mark.parametrize("path", GET_LISTS)
def test_largest_page_number_has_the_total_and_no_records(world: World, path: str) -> None:
    for size, echoed in ((100, 100), (LAST, 100), (1, 1)):
        answer = world.get(page_path(path, LAST, size))
        assert (answer.status, list(answer.json.values())) == (200, [GET_LISTS[path], LAST, echoed, 0, []])


@pytest.mark.parametrize("path", GET_LISTS)
def test_largest_page_number_works_with_the_largest_page_size(make_world: Callable[..., World], path: str) -> None:
    world = make_world(max_page_size=LAST)
    answer = world.get(page_path(path, LAST, LAST))
    assert (answer.status, list(answer.json.values())) == (200, [GET_LISTS[path], LAST, LAST, 0, []])
    assert world.get(page_path(path, 0, LAST)).json["Count"] == GET_LISTS[path]


@pytest.mark.parametrize("path", GET_LISTS)
def test_page_number_above_the_largest_is_refused(world: World, path: str) -> None:
    for page in (LAST + 1, 2**63 // 100, 2**63 - 1, 2**63, 2**64):
        answer = world.get(page_path(path, page, 100))
        refused(answer, 400, "bad_field", f"'page' must be a whole number from 0 to {LAST}")


@pytest.mark.parametrize("path", POST_LISTS)
def test_legacy_body_has_the_same_largest_page_number(world: World, path: str) -> None:
    for count in (100, LAST, 1):
        answer = world.post(path, {"page": LAST, "count": count})
        assert (answer.status, list(answer.json.values())) == (200, [POST_LISTS[path], LAST, 0, []])
    for page in (LAST + 1, 2**63 // 100, 2**63 - 1, 2**63, 2**64):
        refused(world.post(path, {"page": page, "count": 100}), 400, "bad_field", "'page'")
