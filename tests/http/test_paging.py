"""The largest page number: its offset is far beyond every list, and nothing overflows."""

from collections.abc import Callable
from typing import Any

from expectations import refused
from gamekeeper.settings import MOST_PAGE_ROWS
from loops import over
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


@over("path", GET_LISTS)
def test_largest_page_number_has_no_records_and_a_larger_one_is_refused(shared_world: World, path: str) -> None:
    answer = shared_world.get(page_path(path, LAST, 100))
    assert (answer.status, list(answer.json.values())) == (200, [GET_LISTS[path], LAST, 100, 0, []])
    answer = shared_world.get(page_path(path, LAST + 1, 100))
    refused(answer, 400, "bad_field", f"'page' must be a whole number from 0 to {LAST}")


def test_largest_page_number_works_with_the_largest_page_size(make_world: Callable[..., World]) -> None:
    world = make_world(max_page_size=MOST_PAGE_ROWS)
    for path, total in GET_LISTS.items():
        answer = world.get(page_path(path, LAST, LAST))
        assert (answer.status, list(answer.json.values())) == (200, [total, LAST, MOST_PAGE_ROWS, 0, []])
        assert world.get(page_path(path, 0, LAST)).json["Count"] == total


@over("path", POST_LISTS)
def test_legacy_body_has_the_same_largest_page_number(shared_world: World, path: str) -> None:
    answer = shared_world.post(path, {"page": LAST, "count": LAST})
    assert (answer.status, list(answer.json.values())) == (200, [POST_LISTS[path], LAST, 0, []])
    refused(shared_world.post(path, {"page": LAST + 1, "count": 100}), 400, "bad_field", "'page'")


@over("path", ["/api/v1/players", "/api/v1/users", "/api/v1/gameobjects/item"])
def test_legacy_list_takes_from_the_query_what_its_body_leaves_out(shared_world: World, path: str) -> None:
    everything = shared_world.post(path, {"count": 100}).json["entries"]
    assert len(everything) > 2

    def read(query: str, body: object = None, **more: Any) -> tuple[int, Any]:
        answer = shared_world.call("POST", f"{path}?{query}", body=body, **more)
        assert answer.status == 200, answer.raw
        return answer.json["Page"], answer.json["entries"]

    second = (1, everything[1:2])
    assert read("page=1&pageSize=1") == read("Page=1&count=1") == read("page=1&pageSize=1", []) == second
    assert read("page=1", {"count": 1}) == read("pageSize=1", {"page": 1}) == second
    assert read("page=1", form={"count": "1"}) == second
    # the body wins, also with a default value
    assert read("page=9&pageSize=2", {"page": 1, "count": 1}) == second
    assert read("page=9", {"page": 0, "count": 1}) == (0, everything[:1])
    # what cannot be read counts as missing
    assert read("page=0pageSize=25") == read("page=-1&pageSize=x") == (0, everything[:5])
    assert read("page=2147483648&pageSize=1")[0] == 0
