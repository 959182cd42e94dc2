"""The console's pages of guilds, and the guild on a player's page."""

import pytest
from keepers import Keeper

import guild_rows
import guild_values
from gamekeeper.console.guilds import name_rank
from guild_rows import GUILD_ID
from people import ANN, BOB, NOBODY_ID, ZOE, guid
from world import World

PAGE = "/console/guilds"


def fill(world: World) -> None:
    guild_rows.insert(world, {ZOE.id: 0, ANN.id: 2})
    guild_rows.insert(world, {BOB.id: 7}, guid(72), "Amber & <b>", guild_rows.FOUNDED_AT + 1)


def test_list_has_members_and_is_sorted(world: World, root: Keeper) -> None:
    assert "There are no guilds yet." in root.page(PAGE).text
    fill(world)
    page = root.page(PAGE)
    assert page.links["Red Hand"] == f"{PAGE}/{GUILD_ID}"
    assert page.links["Guilds"] == PAGE
    assert page.text.index("Amber & <b> 1") < page.text.index("Red Hand 2")
    assert "1 to 2 of 2 guilds" in page.text
    turned = root.page(f"{PAGE}?sortBy=members&sortDirection=Descending").text
    assert turned.index("Red Hand") < turned.index("Amber")


def test_search_finds_part_of_a_name(world: World, root: Keeper) -> None:
    fill(world)
    page = root.page(f"{PAGE}?search=hand")
    assert "Red Hand" in page.text
    assert "Amber" not in page.text
    assert "No results." in root.page(f"{PAGE}?search=nothing").text
    assert "Type at least 3 letters" in root.page(f"{PAGE}?search=ha").text


def test_guild_has_its_members_by_rank(world: World, root: Keeper) -> None:
    fill(world)
    page = root.page(f"{PAGE}/{GUILD_ID}")
    assert page.text.index("Zoe Master") < page.text.index("Ann Member 12 Warrior")
    assert "Bank slots: 50." in page.text
    assert page.links["Ann"] == f"/console/players/{ANN.id}"
    assert "Bob Rank 7" in root.page(f"{PAGE}/{guid(72)}").text
    turned = root.page(f"{PAGE}/{GUILD_ID}?sortBy=name").text
    assert turned.index("Ann Member") < turned.index("Zoe Master")
    guild_rows.insert(world, {}, guid(73), "Empty")
    assert "This guild has no members." in root.page(f"{PAGE}/{guid(73)}").text


@pytest.mark.parametrize("unknown", [NOBODY_ID, "Red"])
def test_unknown_guild_is_refused(shared_root: Keeper, unknown: str) -> None:
    assert shared_root.get(f"{PAGE}/{unknown}").status == 400


def test_player_page_has_the_guild(world: World, root: Keeper) -> None:
    assert "Red Hand" not in root.page(f"/console/players/{ANN.id}").text
    fill(world)
    page = root.page(f"/console/players/{ANN.id}")
    assert "Guild Red Hand (Member)" in page.text
    assert page.links["Red Hand"] == f"{PAGE}/{GUILD_ID}"


def test_change_of_a_guild_has_names_and_no_ids(world: World, root: Keeper) -> None:
    body = {"Name": "Red Hand", "FoundingDate": "2021-06-01T10:00:00Z", "Members": [{"PlayerId": ANN.id, "Rank": 2}]}
    path = f"/api/link/v1/guilds/{GUILD_ID}"
    assert world.call("PUT", path, body=body, by="Server").status == 200
    assert world.call("PUT", path, body=body | {"Name": "Blue Hand", "Members": []}, by="Server").status == 200
    page = root.page(f"/console/changes/{world.ledger()[-1].seq}")
    assert "Guild changed" in page.text
    assert "Red Hand" in page.text
    assert "Blue Hand" in page.text


def test_change_of_a_guild_variable_names_the_guild(world: World, root: Keeper) -> None:
    fill(world)
    guild_values.insert(world)
    path = f"/api/v1/guilds/{GUILD_ID}/variables/{guild_values.FAME.id}"
    assert world.post(path, {"value": 12}).status == 200
    page = root.page(f"/console/changes/{world.ledger()[-1].seq}")
    assert "Fame of the guild Red Hand — 12" in page.text


def test_ranks_have_the_engines_titles() -> None:
    assert [name_rank(each) for each in (0, 1, 3, 4)] == ["Master", "Officer", "Newbie", "Rank 4"]
