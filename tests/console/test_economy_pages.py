"""The console's pages of the economy: all items, one item, and gifts of staff."""

from keepers import Keeper

from economics import catch_up, give, load_players
from people import ANN, COIN, NOBODY_ID, SWORD
from world import World

PAGE = "/console/economy"
ITEM = f"/console/items/{COIN.id}"


def test_items_and_gifts_of_the_week_are_listed(world: World, root: Keeper) -> None:
    give(world, "Bob", 5)
    give(world, "Bob", 2, what="take")
    catch_up(world)
    page = root.page(PAGE)
    assert "Gold Coin 1,253 2 1,255 2 Staff +1,253" in page.text
    assert page.links["Gold Coin"] == ITEM
    assert page.links["Economy"] == PAGE
    assert "Shop Gold Coin 5 2" in page.text
    assert "Command line" in page.text
    assert f"Counted up to change {world.ledger()[-1].seq}." in page.text
    assert "1 to 4 of 4 items" in page.text
    assert "1 to 4 of 4 items" in root.page(f"{PAGE}?days=90").text


def test_item_page_has_totals_holders_charts_and_givers(world: World, root: Keeper) -> None:
    give(world, "Bob", 5)
    catch_up(world)
    page = root.page(ITEM)
    for text in (
        "In circulation 1,255",
        "Holders 2",
        "Created per day",
        "Who gave it",
        "1 Ann 1,250",
        "up to" if 0 else "yes",
    ):
        assert text in page.text, text
    assert page.links["Ann"] == f"/console/players/{ANN.id}"
    assert "Destroyed per day" not in page.text
    assert "No player has this item." not in page.text


def test_holders_beyond_the_first_hundred_need_a_setting(world: World, root: Keeper) -> None:
    load_players(world, 120)
    catch_up(world)
    assert root.page(ITEM).links["Next"] == f"{ITEM}?page=1"
    last = root.page(f"{ITEM}?page=4")
    assert "81 to 100 of 100 holders" in last.text
    assert "name this item in the setting GAMEKEEPER_RANKED" in last.text
    assert "This page is empty now." in root.page(f"{ITEM}?page=9").text


def test_item_without_flows_says_so(world: World, root: Keeper) -> None:
    world.sql("UPDATE ledger SET at = at - CAST($1 AS BIGINT)", 100 * 86_400_000)
    world.sql("DELETE FROM slots WHERE item_id = $1", SWORD.id)
    text = root.page(f"/console/items/{SWORD.id}").text
    assert "This item did not change hands in this time." in text
    assert "No player has this item." in text


def test_unknown_item_is_refused(root: Keeper) -> None:
    assert root.get(f"/console/items/{NOBODY_ID}").status == 404
    assert root.get("/console/items/gold").status == 404
    assert root.get(f"{PAGE}?days=1000").status == 400


def test_catalogue_and_inventory_lead_to_the_item(root: Keeper) -> None:
    for path in ("/console/catalogue", f"/console/players/{ANN.id}?slot=inventory-0"):
        assert f'href="{ITEM}"' in root.get(path).raw.decode()
