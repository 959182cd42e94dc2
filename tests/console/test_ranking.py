"""The console's pages of the ranking, from any rank and in both directions."""

import re

from keepers import Keeper

from gamekeeper.console import queries
from gamekeeper.demo import loader
from world import World

PAGE = "/console/ranking"
MANY = 120
TOTAL = MANY + 3
ROW = re.compile(r'<td class="figure">([\d,]+)</td>\s*<th scope="row"><a href="[^"]+">([^<]+)</a>')


def list_ranks(root: Keeper, path: str) -> dict[int, str]:
    return {int(rank): name for rank, name in ROW.findall(root.page(path).html)}


def fill_world(world: World) -> list[str]:
    """Fill the world with players; return their names by rank from the API."""
    world.run(loader.load_players(world.keeper, MANY, lambda _: None))
    pages = [world.get(f"/api/v1/players/rank?pageSize=100&page={number}").json["Values"] for number in (0, 1)]
    return [each["Name"] for page in pages for each in page]


def test_ranks_equal_those_of_the_api(world: World, root: Keeper) -> None:
    everybody = fill_world(world)
    for rank in (1, 2, 60, TOTAL):
        shown = list_ranks(root, f"{PAGE}?rank={rank}")
        assert shown == {rank + at: name for at, name in enumerate(everybody[rank - 1 : rank - 1 + queries.PAGE_SIZE])}
        worst = list_ranks(root, f"{PAGE}?rank={rank}&sortdirection=ascending")
        down = range(rank, max(rank - queries.PAGE_SIZE, 0), -1)
        assert worst == {each: everybody[each - 1] for each in down}


def test_pages_lead_forwards_and_backwards(world: World, root: Keeper) -> None:
    fill_world(world)
    for start in (PAGE, f"{PAGE}?sortdirection=ascending"):
        seen, place, pages = list[int](), start, [start]
        while True:
            seen += list_ranks(root, place)
            page = root.page(place)
            if "Next" not in page.links:
                break
            pages.append(place := page.links["Next"])
        assert sorted(seen) == list(range(1, TOTAL + 1))
        assert len(pages) == 3
        assert root.page(pages[2]).links["Previous"].split("&") == pages[1].split("&")
        assert root.page(pages[1]).links["Previous"] == root.page(pages[1]).links["First"] == start


def test_previous_page_stops_at_the_first_rank(world: World, root: Keeper) -> None:
    fill_world(world)
    assert root.page(f"{PAGE}?rank=20").links["Previous"] == PAGE
    assert root.page(f"{PAGE}?rank={TOTAL - 20}&sortdirection=ascending").links["Previous"] == (
        f"{PAGE}?sortdirection=ascending"
    )


def test_rank_beyond_the_last_shows_a_message(shared_root: Keeper) -> None:
    page = shared_root.page(f"{PAGE}?rank=1000000")
    assert "The last rank is 3." in page.text
    assert page.links["Start of the ranking"] == PAGE
    assert list(list_ranks(shared_root, f"{PAGE}?rank=1000000&sortdirection=ascending")) == [3, 2, 1]


def test_empty_rank_is_the_start_and_invalid_rank_is_rejected(shared_root: Keeper) -> None:
    assert list(list_ranks(shared_root, f"{PAGE}?rank=&sortdirection=descending")) == [1, 2, 3]
    for query in ("rank=0", "rank=-5", "rank=x", "rank=99999999999", "sortdirection=sideways"):
        assert shared_root.get(f"{PAGE}?{query}").status == 400, query
