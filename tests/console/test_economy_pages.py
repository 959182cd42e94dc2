"""The console's pages of the economy: all items, one item, ranked variables, and gifts of staff."""

import pytest
from keepers import Keeper, open_session

import staff
from api_keys import create
from economics import catch_up, give, load_players
from game_server import put_catalogue
from gamekeeper.console import economy
from listings import MakeWorld
from people import ANN, COIN, KILLS, NOBODY_ID, SWORD, USER_IDS
from world import World

GIFTS = "/console/economy/gifts"
PAGE = "/console/economy"
ITEM = f"/console/items/{COIN.id}"
VARIABLE = f"{PAGE}/variables/{KILLS.id}"


def test_items_and_gifts_of_the_week_are_listed(world: World, root: Keeper) -> None:
    give(world, "Bob", 5)
    give(world, "Bob", 2, what="take")
    catch_up(world)
    page = root.page(PAGE)
    assert "Gold Coin 1,253 2 1,255 2 Staff +1,253" in page.text
    assert page.links["Gold Coin"] == ITEM
    assert page.links["Economy"] == PAGE
    assert "Shop 1 5 2" in page.text
    assert "Command line" in page.text
    assert f"Counted up to change {world.ledger()[-1].seq}." in page.text
    assert "1 to 4 of 4 items" in page.text
    assert "1 to 4 of 4 items" in root.page(f"{PAGE}?days=90").text


def test_items_are_sorted_by_their_columns(world: World, root: Keeper) -> None:
    give(world, "Bob", 1, SWORD.id)
    catch_up(world)
    orders = {
        "": ["Arrow", "Gold Coin", "Pouch", "Sword"],
        "?sortBy=name&sortDirection=Descending": ["Sword", "Pouch", "Gold Coin", "Arrow"],
        "?sortBy=quantity": ["Pouch", "Sword", "Arrow", "Gold Coin"],
        "?sortBy=quantity&sortDirection=Descending": ["Gold Coin", "Arrow", "Sword", "Pouch"],
        "?sortBy=holders&sortDirection=Descending": ["Sword", "Arrow", "Gold Coin", "Pouch"],
    }
    for query, names in orders.items():
        listed = [text for text, url in root.page(f"{PAGE}{query}").links.items() if url.startswith("/console/items/")]
        assert listed == names, query
    page = root.page(f"{PAGE}?sortBy=holders&sortDirection=Descending")
    assert page.links["30 days"] == f"{PAGE}?days=30&sortby=holders&sortdirection=Descending"
    assert page.links["Gifts by staff and API keys"] == f"{GIFTS}?days=7"
    second = root.page(f"{PAGE}?sortBy=quantity&pageSize=1&page=1")
    assert "Sword" in second.text
    assert "Gold Coin" not in second.text
    assert root.get(f"{PAGE}?sortBy=price").status == 400


def test_givers_have_one_line_each_which_opens_to_their_items(world: World, root: Keeper) -> None:
    give(world, "Bob", 5)
    give(world, "Bob", 1, SWORD.id)
    give(world, "Bob", 7, token=create(world, Name="Website")["Key"])
    catch_up(world)
    page = root.page(PAGE)
    assert "Shop 2 6 0" in page.text
    assert "API key Website of Shop 1 7 0" in page.text
    one = root.page(page.links["Shop"])
    assert page.links["Shop"] == f"{GIFTS}?giver={USER_IDS['Shop']}&days=7"
    for text in ("Gifts by Shop", "Different items 2", "Given in all 6", "Gold Coin 5 0", "Sword 1 0"):
        assert text in one.text, text
    assert one.links["30 days"] == f"{GIFTS}?days=30&giver={USER_IDS['Shop']}"
    assert one.links["Account Shop"] == f"/console/accounts/{USER_IDS['Shop']}"
    assert "Website" not in one.text
    second = root.page(f"{page.links['Shop']}&pageSize=1&page=1")
    assert "Gold Coin" not in second.text
    assert "2 to 2 of 2 items" in second.text
    everyone = root.page(f"{GIFTS}?pageSize=1")
    assert "1 to 1 of 3 staff and API keys" in everyone.text
    assert root.page(everyone.links["Next"]).text.count("API key Website of Shop") == 1
    assert root.get(f"{GIFTS}?giver=x").status == 400
    assert "No gifts in this time" in root.page(f"{GIFTS}?giver={NOBODY_ID}").text


def test_further_givers_are_on_their_own_page(world: World, root: Keeper, monkeypatch: pytest.MonkeyPatch) -> None:
    give(world, "Bob", 5)
    catch_up(world)
    monkeypatch.setattr(economy, "MOST_GIVERS", 1)
    assert root.page(f"{PAGE}?days=30").links["All 2 staff and API keys"] == f"{GIFTS}?days=30"
    staff.add_account(world, "Reader", staff.save_role(world, "reader", ["players.read"]))
    reader = open_session(world, "Reader", world.get("/api/v1/users/Reader").json["Id"])
    assert (reader.get(GIFTS).status, "Gifts by" in reader.page(PAGE).text) == (403, False)


def test_item_page_has_totals_holders_charts_and_givers(world: World, root: Keeper) -> None:
    give(world, "Bob", 5)
    catch_up(world)
    page = root.page(ITEM)
    for text in (
        "In circulation 1,255",
        "Holders 2",
        "Created per day",
        "Gifts of this item",
        "1 Ann 1,250",
        "up to" if 0 else "yes",
    ):
        assert text in page.text, text
    assert page.links["Ann"] == f"/console/players/{ANN.id}"
    assert "Destroyed per day" not in page.text
    assert "No player has this item." not in page.text


def test_item_page_says_in_words_what_the_item_is(world: World, root: Keeper) -> None:
    known = {"ItemType": 1, "EquipmentSlot": 3, "Rarity": 2, "Price": 1250, "VitalsGiven": [40, 0], "TwoHanded": True}
    unknown = {"CritChance": 5, "StatsGiven": "many", "CanDrop": 7.5, "Folder": None}
    entry = {
        "Id": SWORD.id,
        "Name": "Sword",
        "Stackable": False,
        "Description": "Cuts <b>bread</b>",
        **known,
        **unknown,
    }
    assert put_catalogue(world, "items", [entry]).status == 200
    text = root.page(f"/console/items/{SWORD.id}").text
    assert (
        "Item details Cuts <b>bread</b> Type Equipment Equipment place Shield Rarity Uncommon Price 1,250 "
        "Effect on health and mana Health +40 Needs both hands yes Can be dropped 7.5 Stackable no"
    ) in text
    assert "Other fields, as the game published them CritChance 5 StatsGiven many Folder null" in text
    assert text.index("Item details") < text.index("Sources")
    other = {"Id": SWORD.id, "Name": "Sword", "Stackable": False, "ItemType": 9, "EquipmentSlot": 0, "Rarity": "Fine"}
    assert put_catalogue(world, "items", [other]).status == 200
    assert "published them ItemType 9 EquipmentSlot 0 Rarity Fine" in root.page(f"/console/items/{SWORD.id}").text


@pytest.mark.parametrize("price", [2**53 + 1, -(10**400)], ids=["more digits than a float", "too large for a float"])
def test_item_page_shows_each_digit_of_a_whole_number(world: World, root: Keeper, price: int) -> None:
    entry = {"Id": SWORD.id, "Name": "Sword", "Stackable": False, "Price": price}
    assert put_catalogue(world, "items", [entry]).status == 200
    assert f"Price {price:,} " in root.page(f"/console/items/{SWORD.id}").text


def test_holders_beyond_the_first_hundred_need_a_setting(world: World, root: Keeper) -> None:
    load_players(world, 120)
    catch_up(world)
    assert root.page(ITEM).links["Next"] == f"{ITEM}?page=1#holders-title"
    last = root.page(f"{ITEM}?page=4")
    assert "81 to 100 of 100 holders" in last.text
    assert "name this item in the setting GAMEKEEPER_RANKED" in last.text
    assert "This page is empty now." in root.page(f"{ITEM}?page=9").text


def test_any_page_of_holders_is_reached_by_its_number_and_in_other_sizes(world: World, root: Keeper) -> None:
    load_players(world, 120)
    catch_up(world)
    jumped = root.get(f"{ITEM}?days=7&pagesize=20&jump=3")
    assert (jumped.status, jumped.headers["location"]) == (303, f"{ITEM}?days=7&pagesize=20&page=2")
    page = root.page(jumped.headers["location"])
    assert "41 to 60 of 100 holders" in page.text
    jump, size = page.form(f"{ITEM}#holders-title", "Go to the page"), page.form(f"{ITEM}#holders-title", "Show")
    assert jump.fields == {"days": "7", "pagesize": "20", "jump": "3"}
    assert size.fields == {"days": "7", "pagesize": "20"}
    assert "1 to 50 of 100 holders" in root.page(f"{ITEM}?days=7&pagesize=50").text
    assert root.get(f"{ITEM}?jump=x").status == 400


def test_ranked_variable_has_pages_of_its_holders(make_world: MakeWorld) -> None:
    world = make_world(ranked="item:Gold Coin, variable:Kills")
    load_players(world, 45)
    catch_up(world)
    root = open_session(world, "Root")
    held = world.sql(
        "SELECT own.value, players.id, players.name FROM player_variables AS own "
        "JOIN players ON players.id = own.player_id WHERE own.variable_id = $1",
        KILLS.id,
    )
    ranked = sorted(((int(value), str(own), name) for value, own, name in held), reverse=True)
    page = root.page(PAGE)
    assert page.links["Kills"] == VARIABLE
    assert f"Variable Highest value Player Kills {ranked[0][0]} {ranked[0][2]}" in page.text
    first = root.page(VARIABLE)
    assert first.links["All ranked variables"] == f"{PAGE}#variables-title"
    assert first.links["Next"] == f"{VARIABLE}?page=1"
    for number in range(3):
        shown = root.page(f"{VARIABLE}?page={number}")
        for rank, (value, player_id, name) in [*enumerate(ranked, 1)][number * 20 : number * 20 + 20]:
            assert f"{rank} {name} {value}" in shown.text
            assert shown.links[name] == f"/console/players/{player_id}"
    assert f"41 to {len(ranked)} of {len(ranked)} players" in root.page(f"{VARIABLE}?page=2").text
    assert root.get(f"{VARIABLE}?jump=3").headers["location"] == f"{VARIABLE}?page=2"
    assert f"1 to {len(ranked)} of {len(ranked)} players" in root.page(f"{VARIABLE}?pagesize=50").text
    assert "This page is empty now." in root.page(f"{VARIABLE}?page=9").text
    assert "still being counted" not in first.text
    world.sql("UPDATE ranked_lists SET built = {false}")
    assert "The list is still being counted." in root.page(VARIABLE).text


def test_variable_that_is_not_ranked_says_which_setting_ranks_it(root: Keeper) -> None:
    assert "No variable is ranked. Name up to 20 items and variables" in root.page(PAGE).text
    text = root.page(VARIABLE).text
    assert "This variable is not ranked. Add variable:Kills to the setting GAMEKEEPER_RANKED" in text
    for unknown in (NOBODY_ID, "kills"):
        assert root.get(f"{PAGE}/variables/{unknown}").status == 404


def test_ranked_variable_without_holders_says_so(make_world: MakeWorld) -> None:
    world = make_world(ranked="variable:Kills")
    world.sql("DELETE FROM player_variables")
    catch_up(world)
    root = open_session(world, "Root")
    assert "Kills — —" in root.page(PAGE).text
    assert "No player has a value of this variable." in root.page(VARIABLE).text


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
