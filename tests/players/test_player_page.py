"""The console's page of a player: its content, its actions, its slots, and its past states."""

from urllib.parse import quote

import people
from gamekeeper.game.core.lookup import ZERO_GUID
from gamekeeper.ground.instants import format_instant
from keepers import Keeper, OpenKeeper, open_staff, read_text
from loops import over
from player_pages import find_form, list_paths, submit
from world import World

ANN = f"/console/players/{people.ANN.id}"
HISTORY, VARIABLES = f"{ANN}?tab=history", f"{ANN}?tab=variables"
OPERATIONS = f"/api/v1/players/{people.ANN.id}"
GIVE, SLOTS = f"{OPERATIONS}/items/give", f"/api/keeper/v1/players/{people.ANN.id}/items/slots"


def list_items(world: World, place: str = "inventory") -> list[tuple[str, int]]:
    slots = world.get(f"{OPERATIONS}/items/{place}").json
    return [(each["ItemId"], each["Quantity"]) for each in slots if each["Quantity"]]


def join_server(world: World) -> None:
    link = "/api/link/v1/servers/eu-1"
    assert world.call("PUT", link, by="Server", body={"Lease": 60}).status == 200
    assert world.post(f"{link}/joined", {"Players": [people.ANN.id]}, by="Server").status == 200


@over("key", "aNN", people.ANN.id.upper())
def test_page_shows_the_player_and_its_account(shared_root: Keeper, key: str) -> None:
    page = shared_root.page(f"/console/players/{key}?tab=account")
    assert ("a", {"href": f"/console/accounts/{people.USER_IDS['Ann']}"}) in page.tags
    page.assert_shown("Level 12", "345 of 655 experience for the next level", "Warrior", "Meadow, x 3, y 4", "offline")
    page.assert_shown("100 of 120", "40 of 40", "1 h 0 min", "2023-11-14 22:13:20 UTC", "Ability power 6")


def test_spells_and_variables_are_set(root: Keeper, world: World) -> None:
    submit(root, find_form(root.page(VARIABLES), f"{OPERATIONS}/spells/teach"), spellid=people.HEAL.id)
    page = root.page(VARIABLES)
    submit(root, find_form(page, f"{OPERATIONS}/spells/forget", spellid=people.FIREBALL.id))
    assert [each["SpellId"] for each in world.get(f"{OPERATIONS}/spells").json] == [people.HEAL.id]
    submit(root, find_form(root.page(VARIABLES), f"{OPERATIONS}/variables/{people.KILLS.id}", value="7"), value="-8")
    page, other = root.page(VARIABLES), f"{OPERATIONS}/variables/{people.UNSET_FLAG.id}"
    assert ("option", {"value": other}) in page.tags
    sent = find_form(page, OPERATIONS, value="")
    # the variable that a person selects is sent as a second `path` after the hidden one, and wins
    sent.fields["path"] = other
    submit(root, sent, value="true")
    found = {each["VariableId"]: each["Value"] for each in world.get(f"{OPERATIONS}/variables").json}
    assert found == {people.KILLS.id: -8, people.TUTORIAL.id: True, people.UNSET_FLAG.id: True}


@over(
    "what, typed, seen",
    ("name", {"name": "Anna"}, "Anna"),
    ("level", {"level": "13"}, "Level 13"),
    ("admin/mute", {"reason": "spam", "minutes": "4320"}, "account muted"),
    ("admin/ban", {"reason": "gold"}, "account banned"),
)
def test_forms_rename_level_mute_and_ban(root: Keeper, what: str, typed: dict[str, str], seen: str) -> None:
    answer = submit(root, find_form(root.page(ANN), f"{OPERATIONS}/{what}"), **typed)
    assert seen in root.page(answer.headers["location"]).text


def test_permission_decides_what_the_page_shows_and_offers(keeper: OpenKeeper, world: World) -> None:
    # Ann is online: so the mute of her account adds a notice to the player's changes
    join_server(world)
    world.post(f"{OPERATIONS}/admin/mute", {"reason": "an account's secret"})
    undo = f"/api/keeper/v1/changes/{world.ledger()[-1].seq}/undo"
    page, clerks = keeper("Shop").page(HISTORY), keeper("Clerk").page(HISTORY)
    clerks.assert_shown("an account's secret", "account muted")
    page.assert_hidden("an account's secret", "muted")
    assert not any("/console/accounts/" in attributes.get("href", "") for _, attributes in page.tags)
    for each in (page, clerks):
        assert GIVE in list_paths(each)
        assert not any("/admin/" in path or path == undo for path in list_paths(each))
    world.sql("UPDATE users SET mute = $1 WHERE id = $2 RETURNING id", True, people.USER_IDS["Shop"])
    found = {path for path in list_paths(keeper("Shop").page(ANN)) if "/admin/" in path}
    assert found == {f"{OPERATIONS}/admin/unmute"}


@over("whose", "Ann", "Shop")
def test_no_action_is_offered_against_higher_accounts_or_oneself(keeper: OpenKeeper, world: World, whose: str) -> None:
    """A ban, mute or kick of oneself or of an account with more permissions is rejected, so no page offers it."""
    join_server(world)
    world.sql("UPDATE users SET mute = $1 WHERE id = $2 RETURNING id", True, people.USER_IDS["Shop"])
    world.sql("UPDATE users SET ban = $1 WHERE id = $2 RETURNING id", True, people.USER_IDS["Ann"])
    world.sql("UPDATE players SET user_id = $1 WHERE id = $2 RETURNING id", people.USER_IDS[whose], people.ANN.id)
    page = keeper("Shop").page(ANN)
    assert not any("/admin/" in path for path in list_paths(page))
    assert GIVE in list_paths(page)


def test_deleted_player_is_restored_until_erased(root: Keeper, world: World) -> None:
    answer = submit(root, find_form(root.page("/console/players/Ann"), OPERATIONS), reason="asked for it")
    page = root.page(answer.headers["location"])
    deletion = world.ledger()[-1].seq
    page.assert_shown("Ann deleted", "This player is deleted.", "asked for it", "250 GC Gold Coin")
    assert {each for each in list_paths(page) if not each.startswith("/api/keeper/v1/changes/")} == set()
    assert "250 GC Gold Coin" in root.page(f"{ANN}?at={deletion - 1}").text
    # the player did not exist any more at the time of its deletion
    assert root.get(f"{ANN}?at={deletion}").status == root.get("/console/players/Ann").status == 404
    assert open_staff(world, "moderator").get(ANN).status == 404  # without the audit log
    submit(root, page.form("/console/act", "Undo the deletion"))
    assert "deleted" not in root.page(ANN).text
    assert list_items(world)[0] == (people.COIN.id, 250)
    assert world.call("DELETE", "/api/v1/users/Ann").status == 200
    page = root.page(ANN)
    assert "(erased) deleted" in page.text
    assert "Ann" not in page.text
    assert list_paths(page) == set()


def test_slots_show_items_and_equipment(shared_root: Keeper) -> None:
    page = shared_root.page(ANN)
    page.assert_shown("Inventory 4 of 35 slots used", "Bank 1 of 100 slots used", "0 250 GC Gold Coin")
    page.assert_shown("Pouch (Inventory, slot 3) 1 of 8 slots used", "2 weapon Sw Sword", "Empty slot 4")
    for slot, seen in {
        "inventory-2": "Inventory, slot 2, equipped as weapon",
        "bank-0": "Gold Coin Close Bank, slot 0 Quantity 1,000",
        f"{people.ANNS_POUCH}-1": "Arrow Close Pouch (Inventory, slot 3), slot 1",
        "bank-99": "Empty slot Close Bank, slot 99",
    }.items():
        assert seen in shared_root.page(f"{ANN}?slot={slot}").text, slot


def test_item_is_given_taken_and_moved(root: Keeper, world: World) -> None:
    sent = find_form(root.page(ANN), GIVE, quantity="1")
    assert "body.bankoverflow" not in sent.fields
    submit(root, sent, itemid=people.SWORD.id, quantity="40", bankoverflow="true")
    assert list_items(world, "bank").count((people.SWORD.id, 1)) == 40 - (35 - 4)
    sent = find_form(root.page(f"{ANN}?slot=inventory-4"), f"{SLOTS}/take")
    answer = submit(root, sent)
    assert answer.headers["location"].startswith(f"{ANN}?done=")
    assert answer.headers["location"].endswith("#grid-inventory")
    held = {each["Slot"]: each["ItemId"] for each in world.get(f"{OPERATIONS}/items/inventory").json}
    assert (held[2], held[4]) == (people.SWORD.id, ZERO_GUID)  # the sword of another slot stays
    sent = find_form(root.page(f"{ANN}?slot=inventory-0"), f"{SLOTS}/move")
    submit(root, sent, ToContainer=people.ANNS_POUCH, ToSlot="4")
    assert world.get(f"/api/v1/players/bag/{people.ANNS_POUCH}").json["Slots"][4]["Quantity"] == 250
    page = open_staff(world, ["players.read", "items.take"], "Taker").page(f"{ANN}?slot=inventory-2")
    assert {path for path in list_paths(page) if path.startswith(SLOTS)} == {f"{SLOTS}/take"}


def test_quantity_of_a_slot_is_set_and_a_stale_page_is_refused(root: Keeper, world: World) -> None:
    form = find_form(root.page(f"{ANN}?slot=bank-0"), f"{SLOTS}/set")
    submit(root, form, Quantity="1200")
    assert list_items(world, "bank") == [(people.COIN.id, 1200)]
    refused = root.post("/console/act", {**form.fields, "body.Quantity": "5"})
    assert refused.status == 409
    assert "Bank, slot 0 was changed after you opened the page." in read_text(refused)


def test_two_moments_are_compared_with_signs(root: Keeper, world: World) -> None:
    before = world.ledger()[-1].seq
    world.post(GIVE, {"itemid": people.ARROW.id, "quantity": 45})
    world.post(f"{SLOTS}/set", {"Container": "bank", "Slot": 0, "ItemId": people.COIN.id, "Quantity": 400})
    move = {"Container": "inventory", "Slot": 2, "ItemId": people.SWORD.id, "ToContainer": "bank", "ToSlot": 9}
    world.post(f"{SLOTS}/move", move)
    world.post(f"{OPERATIONS}/spells/forget", {"spellid": people.FIREBALL.id})
    world.post(f"{OPERATIONS}/variables/{people.KILLS.id}", {"value": 99})
    page = root.page(f"{ANN}?at={before}&against=now")
    page.assert_shown("Arrow 67 112 +45", "Weapon Sword — changed", "Fireball known — changed", "Kills 7 99 changed")
    page.assert_shown("Gold Coin 1,250 650 −600", "2 weapon Sw −1 Sword", "9 1 Sw +1 Sword")  # noqa: RUF001 - the text of the page
    page.assert_hidden("Sword 1 1")  # a move changes no total
    assert list_paths(page) == set()
    back = root.page(f"{ANN}?at=now&against={before}")
    back.assert_shown("Arrow 112 67 −45", "Fireball — known changed")  # noqa: RUF001 - the text of the page


def test_past_state_needs_the_audit_log_and_offers_no_actions(world: World, root: Keeper) -> None:
    session = open_staff(world, "moderator", "Mod")
    assert session.get(f"{ANN}?against=now").status == 403
    assert "Time travel" not in session.page(ANN).text
    world.post(GIVE, {"itemid": people.COIN.id, "quantity": 7})
    made, *_, given = [each for each in world.ledger() if each.player_id == people.ANN.id]
    world.sql("UPDATE ledger SET at = at + 3600000 WHERE seq = $1 RETURNING seq", given.seq)
    page = root.page(f"{ANN}?at={quote(format_instant(made.at + 1_000))}")
    assert "250 GC Gold Coin" in page.text
    assert list_paths(page) == set()
