"""The console's page of a player: its content and its actions."""

from collections.abc import Callable
from urllib.parse import quote

import pytest
from keepers import Keeper, open_session
from markup import Form, Page

import people
import staff
from gamekeeper.console import past_equipment, suggestions
from gamekeeper.game import finder
from gamekeeper.game.equipment import PLACES
from gamekeeper.game.lookup import ZERO_GUID
from gamekeeper.http.instants import format_instant
from gamekeeper.store import moderation, users
from world import Answer, World

Who = Callable[[str], Keeper]
ANN = f"/console/players/{people.ANN.id}"
OPERATIONS = f"/api/v1/players/{people.ANN.id}"
GIVE, SLOTS = f"{OPERATIONS}/items/give", f"/api/keeper/v1/players/{people.ANN.id}/items/slots"
HISTORY, VARIABLES, ACCOUNT = f"{ANN}?tab=history", f"{ANN}?tab=variables", f"{ANN}?tab=account"


def read_text(answer: Answer) -> str:
    return Page(answer.raw.decode()).text


def find_form(page: Page, path: str, **fields: str) -> Form:
    """Return the form that calls this operation of the API and has these field values."""
    wanted = {"path": path, **{f"body.{name}": value for name, value in fields.items()}}
    found = [each for each in page.forms if wanted.items() <= each.fields.items()]
    assert found, (wanted, page.forms)
    return found[0]


def list_paths(page: Page) -> set[str]:
    """List the paths of the operations that the forms of a page call."""
    return {each.fields["path"] for each in page.forms if "path" in each.fields}


def submit(keeper: Keeper, sent: Form, reason: str = "a test", **typed: str) -> Answer:
    """Send both steps of an action's form, with the field values on the page."""
    fields = {**sent.fields, **{f"body.{name}": each for name, each in typed.items()}}
    shown = keeper.post("/console/act", fields, csrf=sent.fields["csrf"])
    assert shown.status == 200, shown.raw
    answer = keeper.confirm(shown, reason)
    assert answer.status == 303, answer.raw
    return answer


def list_items(world: World, place: str = "inventory") -> list[tuple[str, int]]:
    slots = world.get(f"{OPERATIONS}/items/{place}").json
    return [(each["ItemId"], each["Quantity"]) for each in slots if each["Quantity"]]


@pytest.mark.parametrize("key", ["Ann", "aNN", people.ANN.id, people.ANN.id.upper()])
def test_page_shows_the_player_and_its_account(root: Keeper, key: str) -> None:
    page = root.page(f"/console/players/{key}?tab=account")
    assert page.links["Ann"] in {ANN, f"/console/accounts/{people.USER_IDS['Ann']}"}
    assert ("a", {"href": f"/console/accounts/{people.USER_IDS['Ann']}"}) in page.tags
    for seen in (
        "Level 12",
        "345 of 655 experience for the next level",
        "100 of 120",
        "40 of 40",
        "Warrior",
        "Meadow, x 3, y 4",
        "offline",
        "1 h 0 min",
        "2023-11-14 22:13:20 UTC",
        "Ability power 6",
    ):
        assert seen in page.text, seen


def test_page_shows_rank_and_neighbours(root: Keeper) -> None:
    page = root.page("/console/players/Ann?tab=account")
    assert "Rank 2 of 3" in page.text
    assert [name for name in ("1 Zoe 12 345", "2 Ann 12 345", "3 Bob 3 10") if name in page.text] != []
    order = [page.text.index(each) for each in ("1 Zoe 12 345", "2 Ann 12 345", "3 Bob 3 10")]
    assert order == sorted(order)
    assert page.links["Bob"] == f"/console/players/{people.BOB.id}"


def join_server(world: World) -> None:
    link = "/api/link/v1/servers/eu-1"
    assert world.call("PUT", link, by="Server", body={"Lease": 60}).status == 200
    assert world.post(f"{link}/joined", {"Players": [people.ANN.id]}, by="Server").status == 200


def test_page_shows_the_server_of_an_online_player(root: Keeper, world: World) -> None:
    assert f"{OPERATIONS}/admin/kick" not in list_paths(root.page(ANN))
    join_server(world)
    page = root.page(ANN)
    assert "online on eu-1" in page.text
    assert f"{OPERATIONS}/admin/kick" in list_paths(page)


def test_slots_show_items_buffs_and_equipment(root: Keeper) -> None:
    page = root.page(ANN)
    for seen in (
        "Inventory 4 of 35 slots used",
        "Bank 1 of 100 slots used",
        "… and 65 more empty slots.",
        "Pouch (Inventory, slot 3) 1 of 8 slots used",
        "0 250 GC Gold Coin",
        "2 weapon Sw Sword",
        "Empty slot 4",
    ):
        assert seen in page.text, seen
    for slot, seen in {
        "inventory-0": f"Gold Coin Close Inventory, slot 0 Quantity 250 Icon coin.png Id {people.COIN.id}",
        "inventory-2": "Inventory, slot 2, equipped as weapon",
        "bank-0": "Gold Coin Close Bank, slot 0 Quantity 1,000",
        f"{people.ANNS_POUCH}-1": "Arrow Close Pouch (Inventory, slot 3), slot 1",
        "bank-99": "Empty slot Close Bank, slot 99",
    }.items():
        assert seen in root.page(f"{ANN}?slot={slot}").text, slot
    assert "Attack +1 Ability power +2 Defense +3 Magic resist +4 Speed +5" in root.page(f"{ANN}?slot=inventory-2").text
    bag = root.page(f"{ANN}?slot=inventory-3")
    assert bag.links["Contents of Pouch"] == f"#grid-{people.ANNS_POUCH}"
    linked = {attributes["href"] for _, attributes in page.tags if "data-slot" in attributes}
    assert f"{ANN}?slot={people.ANNS_POUCH}-1#slot" in linked
    assert len(linked) == 35 + 35 + 8


@pytest.mark.parametrize(
    ("fields", "selected"),
    [
        ({}, []),
        ({"ItemType": "a hat", "EquipmentSlot": 9}, []),
        ({"ItemType": 1, "EquipmentSlot": 3}, ["shield"]),
        ({"EquipmentSlot": 4}, ["boots"]),
        ({"ItemType": 2, "EquipmentSlot": 0}, None),  # the engine has place 0 for items of any type
    ],
)
def test_slot_offers_the_place_that_fits_its_item(
    root: Keeper, world: World, fields: dict[str, object], selected: list[str] | None
) -> None:
    entry = {"Id": people.ARROW.id, "Name": "Arrow", "Stackable": True, "MaxStack": 100, **fields}
    assert world.call("PUT", "/api/link/v1/catalogue/items", body=[entry]).status == 200
    page = root.page(f"{ANN}?slot=inventory-1")
    assert (f"{SLOTS}/equip" in list_paths(page)) is (selected is not None)
    chosen = [each["value"] for tag, each in page.tags if tag == "option" and "selected" in each]
    assert [each for each in chosen if each in PLACES] == (selected or [])


@pytest.mark.parametrize(
    "slot", ["inventory-35", "bank-100", "pocket-1", "inventory", "inventory-x", "-", "bank-²", "bank--1"]
)
def test_unknown_slot_opens_no_form(root: Keeper, slot: str) -> None:
    page = root.page(f"{ANN}?slot={quote(slot)}")
    assert not any(path.startswith(SLOTS) for path in list_paths(page))


def test_player_without_items_has_empty_grids(root: Keeper) -> None:
    page = root.page("/console/players/Bob")
    assert "Inventory 0 of 35 slots used" in page.text
    other = root.page("/console/players/Bob?tab=variables")
    assert "No spells. Teach one below." in other.text
    assert "No variables are set. Set one below." in other.text


def test_item_is_given_and_undone(root: Keeper, world: World) -> None:
    sent = find_form(root.page(ANN), GIVE, quantity="1")
    answer = submit(root, sent, itemid=people.COIN.id, quantity="7", reason="a refund")
    assert list_items(world)[0] == (people.COIN.id, 257)
    assert answer.headers["location"].startswith(f"{ANN}?done=")
    page = root.page(HISTORY)
    change = world.ledger()[-1].seq
    assert "Inventory, slot 0 250 × Gold Coin 257 × Gold Coin" in page.text  # noqa: RUF001 - the text of the page
    submit(root, find_form(page, f"/api/keeper/v1/changes/{change}/undo"))
    assert list_items(world)[0] == (people.COIN.id, 250)
    assert f"undone by {world.ledger()[-1].seq}" in root.page(HISTORY).text


def test_overflow_goes_to_the_bank_if_ticked(root: Keeper, world: World) -> None:
    sent = find_form(root.page(ANN), GIVE, quantity="1")
    assert "body.bankoverflow" not in sent.fields
    submit(root, sent, itemid=people.SWORD.id, quantity="40", bankoverflow="true")
    assert list_items(world, "bank").count((people.SWORD.id, 1)) == 40 - (35 - 4)


def test_item_is_taken_from_its_slot(root: Keeper, world: World) -> None:
    world.post(GIVE, {"itemid": people.SWORD.id, "quantity": 1})
    sent = find_form(root.page(f"{ANN}?slot=inventory-4"), f"{SLOTS}/take")
    assert sent.fields["body.Quantity"] == "1"
    answer = submit(root, sent)
    assert answer.headers["location"].startswith(f"{ANN}?done=")
    assert answer.headers["location"].endswith("#grid-inventory")
    held = {each["Slot"]: each["ItemId"] for each in world.get(f"{OPERATIONS}/items/inventory").json}
    assert (held[2], held[4]) == (people.SWORD.id, ZERO_GUID)  # the sword of another slot stays


def test_quantity_of_a_slot_is_set_and_a_stale_page_is_refused(root: Keeper, world: World) -> None:
    page = root.page(f"{ANN}?slot=bank-0")
    submit(root, find_form(page, f"{SLOTS}/set"), Quantity="1200")
    assert list_items(world, "bank") == [(people.COIN.id, 1200)]
    stale = find_form(page, f"{SLOTS}/set")
    refused = root.post("/console/act", {**stale.fields, "body.Quantity": "5"})
    assert refused.status == 409
    said = "Bank, slot 0 was changed after you opened the page. It holds 1,200 \N{MULTIPLICATION SIGN} Gold Coin now."
    assert said in read_text(refused)
    submit(root, find_form(root.page(f"{ANN}?slot=bank-0"), f"{SLOTS}/take"), Quantity="1200")
    assert "It is empty now." in read_text(root.post("/console/act", {**stale.fields, "body.Quantity": "5"}))


def test_items_are_moved_between_slots(root: Keeper, world: World) -> None:
    sent = find_form(root.page(f"{ANN}?slot=inventory-0"), f"{SLOTS}/move")
    shown = root.post("/console/act", {**sent.fields, "body.ToContainer": people.ANNS_POUCH, "body.ToSlot": "4"})
    assert "Move Gold Coin of Ann from Inventory, slot 0 to Bag" in read_text(shown)
    assert root.confirm(shown, "sorted").status == 303
    assert (people.COIN.id, 250) not in list_items(world)
    assert world.get(f"/api/v1/players/bag/{people.ANNS_POUCH}").json["Slots"][4]["Quantity"] == 250


def test_item_is_put_into_an_empty_slot(root: Keeper, world: World) -> None:
    sent = find_form(root.page(f"{ANN}?slot=bank-77"), f"{SLOTS}/set")
    submit(root, sent, ItemId=people.ARROW.id, Quantity="3")
    assert world.get(f"{OPERATIONS}/items/bank").json[77]["Quantity"] == 3


def test_forms_of_a_slot_are_those_that_the_viewer_may_send(world: World) -> None:
    staff.add_account(world, "Taker", staff.save_role(world, "taker", ["players.read", "items.take"]))
    user = world.run(users.find_by_fold(world.keeper.store, "taker"))
    assert user
    page = open_session(world, user.name, user.id).page(f"{ANN}?slot=inventory-0")
    found = {path for path in list_paths(page) if path.startswith(SLOTS)}
    assert found == {f"{SLOTS}/take"}


def test_spell_is_taught_and_removed(root: Keeper, world: World) -> None:
    submit(root, find_form(root.page(VARIABLES), f"{OPERATIONS}/spells/teach"), spellid=people.HEAL.id)
    page = root.page(VARIABLES)
    assert "0 Fireball Remove spell 1 Heal Remove spell" in page.text
    submit(root, find_form(page, f"{OPERATIONS}/spells/forget", spellid=people.FIREBALL.id))
    assert [each["SpellId"] for each in world.get(f"{OPERATIONS}/spells").json] == [people.HEAL.id]


def test_text_and_decimal_are_shown_without_a_form(root: Keeper, world: World) -> None:
    title, rate = people.guid(0xD00), people.guid(0xD01)
    world.sql("INSERT INTO variables (id, name, type) VALUES ($1, 'Title', 'String')", title)
    for variable_id, kind, value in ((title, "String", '"the <b>Bold</b>"'), (rate, "Number", "2.5")):
        world.sql("INSERT INTO player_texts VALUES ($1, $2, $3, $4)", people.ANN.id, variable_id, kind, value)
    page = root.page(VARIABLES)
    assert "Title the <b>Bold</b>" in page.text
    assert f"{rate} 2.5" in page.text
    assert f"/variables/{title}" not in page.html
    assert f"/variables/{people.KILLS.id}" in page.html


def test_variable_is_set(root: Keeper, world: World) -> None:
    submit(root, find_form(root.page(VARIABLES), f"{OPERATIONS}/variables/{people.KILLS.id}", value="7"), value="-8")
    flag = find_form(root.page(VARIABLES), f"{OPERATIONS}/variables/{people.TUTORIAL.id}", value="true")
    submit(root, flag, value="false")
    page, other = root.page(VARIABLES), f"{OPERATIONS}/variables/{people.UNSET_FLAG.id}"
    assert ("option", {"value": other}) in page.tags
    sent = find_form(page, OPERATIONS, value="")
    # the variable that a person selects is sent as a second `path` after the hidden one, and wins
    sent.fields["path"] = other
    submit(root, sent, value="true")
    found = {each["VariableId"]: each["Value"] for each in world.get(f"{OPERATIONS}/variables").json}
    assert found == {people.KILLS.id: -8, people.TUTORIAL.id: False, people.UNSET_FLAG.id: True}


@pytest.mark.parametrize(
    ("what", "typed", "seen"),
    [
        ("name", {"name": "Anna"}, "Anna"),
        ("level", {"level": "13"}, "Level 13"),
        ("admin/mute", {"reason": "spam", "duration": "3"}, "account muted"),
        ("admin/ban", {"reason": "gold"}, "account banned"),
    ],
)
def test_forms_rename_level_mute_and_ban(root: Keeper, what: str, typed: dict[str, str], seen: str) -> None:
    answer = submit(root, find_form(root.page("/console/players/Ann"), f"{OPERATIONS}/{what}"), **typed)
    assert seen in root.page(answer.headers["location"]).text


def test_class_is_set(root: Keeper) -> None:
    bob = f"/api/v1/players/{people.BOB.id}/class"
    page = root.page("/console/players/Bob")
    sent = find_form(page, bob)
    assert ("option", {"value": people.WARRIOR.id}) in page.tags
    submit(root, sent, classid=people.WARRIOR.id)
    assert "Class Warrior" in root.page("/console/players/Bob").text


def test_unknown_class_stays_selected(root: Keeper) -> None:
    """Pressing the class form's button without a choice must not set the first class of the list."""
    assert (
        find_form(root.page("/console/players/Ann"), f"{OPERATIONS}/class").fields["body.classid"] == people.WARRIOR.id
    )
    bob = f"/api/v1/players/{people.BOB.id}/class"
    assert find_form(root.page("/console/players/Bob"), bob).fields["body.classid"] == people.BOB.class_id


def test_ban_and_mute_can_be_ended(root: Keeper, world: World) -> None:
    world.post(f"{OPERATIONS}/admin/ban", {"reason": "gold"})
    page = root.page(ANN)
    assert f"{OPERATIONS}/admin/ban" not in list_paths(page)
    submit(root, find_form(page, f"{OPERATIONS}/admin/unban"))
    assert "account banned" not in root.page(ANN).text


@pytest.mark.parametrize("what", ["ban", "mute"])
def test_page_says_until_when_by_whom_and_why(root: Keeper, keeper: Who, world: World, what: str) -> None:
    world.post(f"{OPERATIONS}/admin/{what}", {"reason": "gold", "moderator": "Keeper", "duration": 7})
    find = moderation.find_ban if what == "ban" else moderation.find_mute
    given = world.run(find(world.keeper.store, people.USER_IDS["Ann"]))
    assert given
    assert given.ends_at
    shown = f"until {format_instant(given.ends_at)[:19].replace('T', ' ')} UTC , by Keeper, gold"
    page = root.page(ACCOUNT)
    assert page.text.count(shown) == 2  # in the menu and in the details
    assert shown in keeper("Clerk").page(ACCOUNT).text
    assert "gold" not in keeper("Shop").page(ACCOUNT).text
    world.post(f"{OPERATIONS}/admin/un{what}")
    world.post(f"{OPERATIONS}/admin/{what}", {"reason": "gold", "moderator": "Keeper"})
    assert root.page(ACCOUNT).text.count("permanent, by Keeper, gold") == 2


def test_actions_without_permission_are_not_shown(keeper: Who, world: World) -> None:
    # Ann is online: so the mute of her account adds a notice to the player's changes
    join_server(world)
    world.post(f"{OPERATIONS}/admin/mute", {"reason": "an account's secret"})
    page, clerks = keeper("Shop").page(HISTORY), keeper("Clerk").page(HISTORY)
    assert "an account's secret" in clerks.text
    assert "account muted" in clerks.text
    assert "an account's secret" not in page.text
    assert "muted" not in page.text
    assert not any("/console/accounts/" in attributes.get("href", "") for _, attributes in page.tags)
    # the account's id is shown to every caller, because the player record contains it
    assert people.USER_IDS["Ann"] in page.text
    for each in (page, clerks):
        assert GIVE in list_paths(each)
        assert not any("/admin/" in path for path in list_paths(each))


def test_each_permission_shows_its_own_action(keeper: Who, world: World) -> None:
    join_server(world)
    world.sql("UPDATE users SET mute = $1 WHERE id = $2 RETURNING id", True, people.USER_IDS["Shop"])
    found = {path for path in list_paths(keeper("Shop").page(ANN)) if "/admin/" in path}
    assert found == {f"{OPERATIONS}/admin/mute"}


@pytest.mark.parametrize("whose", ["Ann", "Shop"])
def test_no_action_is_offered_against_higher_accounts_or_oneself(keeper: Who, world: World, whose: str) -> None:
    """A ban, mute or kick of oneself or of an account with more permissions is rejected, so no page offers it."""
    join_server(world)
    world.sql("UPDATE users SET mute = $1 WHERE id = $2 RETURNING id", True, people.USER_IDS["Shop"])
    world.sql("UPDATE users SET ban = $1 WHERE id = $2 RETURNING id", True, people.USER_IDS["Ann"])
    world.sql("UPDATE players SET user_id = $1 WHERE id = $2 RETURNING id", people.USER_IDS[whose], people.ANN.id)
    page = keeper("Shop").page(ANN)
    assert not any("/admin/" in path for path in list_paths(page))
    assert GIVE in list_paths(page)


def test_older_changes_continue_the_history(root: Keeper, world: World) -> None:
    for number in range(25):
        world.post(f"{OPERATIONS}/variables/{people.KILLS.id}", {"value": number})
    owner = people.USER_IDS["Ann"]
    of_account = [each.seq for each in world.ledger() if each.user_id == owner and each.player_id is None]
    written = sorted({each.seq for each in world.ledger() if each.player_id == people.ANN.id} | {*of_account})[::-1]
    shown: list[int] = []
    page = root.page(HISTORY)
    for _ in range(3):
        shown += [
            int(attributes["id"].removeprefix("change-"))
            for tag, attributes in page.tags
            if tag == "article" and attributes.get("id", "").startswith("change-")
        ]
        if "Older" not in page.links:
            break
        assert page.links["Filter and export changes"] == f"/console/changes?player={people.ANN.id}"
        page = root.page(page.links["Older"].partition("#")[0])
        assert page.links["Newest"] == f"{HISTORY}#history"
    assert shown == written
    then = f"{HISTORY}&at={written[0]}"
    assert root.page(then).links["Older"].startswith(f"{then}&before=")


def test_undo_of_a_game_change_needs_game_link(keeper: Who, world: World) -> None:
    put = {"Name": "Ann", "UserId": people.USER_IDS["Ann"], "Level": 13}
    assert world.call("PUT", f"/api/link/v1/players/{people.ANN.id}", by="Server", body=put).status == 200
    undo = f"/api/keeper/v1/changes/{world.ledger()[-1].seq}/undo"
    assert undo in list_paths(keeper("Server").page(HISTORY))
    assert undo not in list_paths(keeper("Shop").page(HISTORY))


def test_past_state_is_shown_at_a_change(root: Keeper, world: World) -> None:
    world.post(GIVE, {"itemid": people.COIN.id, "quantity": 7})
    given = world.ledger()[-1]
    world.post(f"{OPERATIONS}/spells/forget", {"spellid": people.FIREBALL.id})
    world.post(f"{OPERATIONS}/variables/{people.KILLS.id}", {"value": 99})
    before = root.page(HISTORY).links[f"State before change {given.seq}"]
    assert before == f"{ANN}?at={given.seq - 1}&until={given.seq}"
    reached = root.page(before)  # the page has the title of the link, and so have its tabs
    for shown in (reached, root.page(reached.links["Variables and spells"])):
        assert f"State before change {given.seq} Only items" in shown.text
        assert f"State after change {given.seq - 1}" not in shown.text
    compared = root.page(f"{before}&against=now").text
    assert f"State before change {given.seq} compared with the current state" in compared
    other_number = root.page(f"{ANN}?at={given.seq - 1}&until={given.seq + 1}").text
    assert f"State after change {given.seq - 1} Only items" in other_number
    assert "257 GC Gold Coin" in root.page(ANN).text
    page = root.page(f"{ANN}?at={given.seq - 1}")
    for seen in (f"State after change {given.seq - 1} Only items", "250 GC Gold Coin"):
        assert seen in page.text, seen
    other = root.page(f"{VARIABLES}&at={given.seq - 1}")
    for seen in (f"State after change {given.seq - 1} Only items", "0 Fireball", "Kills 7"):
        assert seen in other.text, seen
    assert page.links["Back to the current state"] == ANN
    assert page.links["Variables and spells"] == f"{VARIABLES}&at={given.seq - 1}"
    assert "257 GC Gold Coin" in root.page(f"{ANN}?at={given.seq}").text
    # the page of an earlier time has no level: only items, spells and variables are known of the past
    assert "Level 12" not in page.text


def test_two_moments_are_compared_with_signs(root: Keeper, world: World) -> None:
    before = world.ledger()[-1].seq
    world.post(GIVE, {"itemid": people.ARROW.id, "quantity": 45})
    world.post(f"{SLOTS}/set", {"Container": "bank", "Slot": 0, "ItemId": people.COIN.id, "Quantity": 400})
    move = {"Container": "inventory", "Slot": 2, "ItemId": people.SWORD.id, "ToContainer": "bank", "ToSlot": 9}
    world.post(f"{SLOTS}/move", move)
    world.post(f"{OPERATIONS}/spells/forget", {"spellid": people.FIREBALL.id})
    world.post(f"{OPERATIONS}/variables/{people.KILLS.id}", {"value": 99})
    page = root.page(f"{ANN}?at={before}&against=now")
    for seen in (
        f"State after change {before} compared with the current state",
        "Arrow 67 112 +45",
        "Gold Coin 1,250 650 −600",  # noqa: RUF001 - the text of the page
        "Weapon Sword — changed",
        "Fireball known — changed",
        "Kills 7 99 changed",
        "1 60 Ar Arrow",
        "1 100 Ar +40 Arrow",
        "0 1,000 GC −600 Gold Coin",  # noqa: RUF001 - the text of the page
        "2 weapon Sw −1 Sword",  # noqa: RUF001 - the text of the page
        "9 1 Sw +1 Sword",
    ):
        assert seen in page.text, seen
    assert "Sword 1 1" not in page.text  # a move changes no total
    assert list_paths(page) == set()
    back = root.page(f"{ANN}?at=now&against={before}")
    assert "Arrow 112 67 −45" in back.text  # noqa: RUF001 - the text of the page
    assert "Fireball — known changed" in back.text
    same = root.page(f"{ANN}?at={before}&against={before}")
    assert "The player had the same items, equipment, spells and variables at both moments." in same.text


def test_equipment_of_past_moments_is_marked(root: Keeper, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    sword, arrows = {"Slot": 2, "ItemId": people.SWORD.id}, {"Slot": 1, "ItemId": people.ARROW.id, "Place": "shield"}
    world.post(GIVE, {"itemid": people.COIN.id, "quantity": 7})
    first = world.ledger()[-1].seq  # the sword is the weapon
    world.post(f"{SLOTS}/equip", arrows)
    both = world.ledger()[-1].seq
    world.post(f"{SLOTS}/unequip", sword)
    world.post(f"{SLOTS}/unequip", {"Slot": 1, "ItemId": people.ARROW.id})
    world.post(f"{SLOTS}/set", {"Container": "inventory", "Slot": 1, "ItemId": people.ARROW.id, "Quantity": 50})
    for at, seen in (
        (first, ["1 60 Ar Arrow", "2 weapon Sw Sword"]),
        (both, ["1 shield Ar Arrow", "2 weapon Sw Sword"]),
        ("now", ["1 50 Ar Arrow", "2 1 Sw Sword"]),
    ):
        text = root.page(f"{ANN}?at={at}").text
        for each in seen:
            assert each in text, (at, each)
    compared = root.page(f"{ANN}?at={both}&against=now").text
    for each in ("1 shield Ar −10 Arrow", "2 weapon Sw Sword", "1 50 Ar Arrow", "2 1 Sw Sword"):  # noqa: RUF001 - the text of the page
        assert each in compared, each
    assert "What was equipped then is not known" not in compared
    for at, against, line in (
        (both, "now", "Weapon Sword — changed Shield Arrow — changed"),
        ("now", first, "Weapon — Sword changed"),
    ):
        assert line in root.page(f"{ANN}?at={at}&against={against}").text, line
    assert "Weapon Sword" not in root.page(f"{ANN}?at={first}&against={both}").text
    # the second later change tells it, so a search of one change does not
    monkeypatch.setattr(past_equipment, "WINDOW_ROWS", 1)
    monkeypatch.setattr(past_equipment, "MOST_WINDOWS", 1)
    unknown = root.page(f"{ANN}?at={first - 1}").text
    assert "What was equipped then is not known" in unknown
    unsure = root.page(f"{ANN}?at={first - 1}&against={first - 1}").text
    assert "at both moments. It is not known whether the equipment was the same." in unsure
    assert "2 1 Sw Sword" in unknown
    assert "2 weapon Sw Sword" in root.page(f"{ANN}?at={first}").text


def test_equipment_before_a_deletion_is_marked(root: Keeper, world: World) -> None:
    before = world.ledger()[-1].seq
    assert world.call("DELETE", f"/api/link/v1/players/{people.ANN.id}", by="Server").status == 200
    assert "2 weapon Sw Sword" in root.page(f"{ANN}?at={before}").text
    assert "2 weapon Sw Sword" in root.page(ANN).text


def test_slider_has_a_mark_for_each_change(root: Keeper, world: World) -> None:
    world.post(GIVE, {"itemid": people.COIN.id, "quantity": 7})
    made = [each.seq for each in world.ledger() if each.player_id == people.ANN.id]
    page = root.page(ANN)
    options = [int(attributes["value"]) for tag, attributes in page.tags if tag == "option" and "label" in attributes]
    assert options == made[-30:]
    [slider] = [attributes for _, attributes in page.tags if attributes.get("type") == "range"]
    assert (slider["name"], slider["min"], slider["max"]) == ("at", str(made[0]), str(made[-1]))
    then = root.page(f"{ANN}?at={made[-2]}")
    assert [each["value"] for _, each in then.tags if each.get("type") == "range"] == [str(made[-2])]


@pytest.mark.parametrize("query", ["against=yesterday", "at=5&against=-1", "at=1&against=now"])
def test_invalid_moment_to_compare_with_is_rejected(root: Keeper, query: str) -> None:
    assert root.get(f"{ANN}?{query}").status in {400, 404}


def test_comparison_needs_the_audit_log(world: World) -> None:
    staff.add_account(world, "Mod", "moderator")
    user = world.run(users.find_by_fold(world.keeper.store, "mod"))
    assert user
    session = open_session(world, user.name, user.id)
    assert session.get(f"{ANN}?against=now").status == 403
    assert "Time travel" not in session.page(ANN).text


def test_past_state_at_a_time_offers_no_actions(root: Keeper, world: World) -> None:
    world.post(GIVE, {"itemid": people.COIN.id, "quantity": 7})
    made, *_, given = [each for each in world.ledger() if each.player_id == people.ANN.id]
    world.sql("UPDATE ledger SET at = at + 3600000 WHERE seq = $1 RETURNING seq", given.seq)
    page = root.page(f"{ANN}?at={quote(format_instant(made.at + 1_000))}")
    assert "250 GC Gold Coin" in page.text
    assert list_paths(page) == set()


@pytest.mark.parametrize(
    ("at", "status"), [("yesterday", 400), ("1", 404), ("-1", 400), ("9" * 30, 400), ("999", 400), ("2999-01-01", 400)]
)
def test_invalid_moment_is_rejected(root: Keeper, at: str, status: int) -> None:
    answer = root.get(f"{ANN}?at={at}")
    assert answer.status == status
    page = Page(answer.raw.decode())
    for seen in ("The page shows the current state.", "250 GC Gold Coin", "Level 12", "Time travel"):
        assert seen in page.text, seen
    assert "'at'" not in page.text


@pytest.mark.parametrize("query", ["at=1", "at=2020-01-01T00:00", "at=now&against=1"])
def test_moment_before_the_player_links_to_the_first_known_one(root: Keeper, world: World, query: str) -> None:
    first = next(each for each in world.ledger() if each.player_id == people.ANN.id)
    page = Page(root.get(f"{ANN}?{query}").raw.decode())
    known = f"{format_instant(first.at)[:19].replace('T', ' ')} UTC"
    assert f"Nothing is known of Ann at that time. Ann is known since {known} ." in page.text
    assert page.links[known] == f"{ANN}?at={first.seq}"
    assert "State after change" in root.page(page.links[known]).text


@pytest.mark.parametrize("path", [ANN, VARIABLES])
def test_links_lead_to_an_hour_a_day_and_a_week_ago(root: Keeper, world: World, path: str) -> None:
    world.sql("UPDATE ledger SET at = at - 864000000 WHERE player_id = CAST($1 AS {guid}) RETURNING seq", people.ANN.id)
    world.post(GIVE, {"itemid": people.COIN.id, "quantity": 7})
    page = root.page(path)
    hrefs = [each["href"] for tag, each in page.tags if tag == "a" and "at=20" in each.get("href", "")]
    assert [page.text.count(each) for each in ("an hour ago", "a day ago", "a week ago")] == [2, 2, 2]
    assert len(hrefs) == 6
    assert [each.endswith("against=now") for each in hrefs] == [False] * 3 + [True] * 3
    for href in hrefs:
        then = root.page(href)
        assert "State at" in then.text, href
        assert ("Gold Coin 1,250 1,257 +7" in then.text) == href.endswith("against=now"), href


def test_time_is_chosen_in_a_field_for_times_in_utc(root: Keeper, world: World) -> None:
    world.post(GIVE, {"itemid": people.COIN.id, "quantity": 7})
    given = world.ledger()[-1]
    world.sql("UPDATE ledger SET at = at - 7200000 WHERE seq < $1 RETURNING seq", given.seq)
    typed = format_instant(given.at - 3_600_000)[:19]
    page = root.page(f"{ANN}?at={quote(typed)}")
    assert "250 GC Gold Coin" in page.text
    assert "State at a time (UTC)" in page.text
    assert [each["value"] for _, each in page.tags if each.get("type") == "datetime-local"] == [typed]


def test_rejected_moment_explains_the_accepted_formats(root: Keeper) -> None:
    said = read_text(root.get(f"{ANN}?at=yesterday"))
    assert "such as 2026-11-15 12:00 or 2026-11-15T12:00:00Z, or the number of a change such as 1234." in said
    for typed in ("2026-11-15 12:00", "2026-11-15T12:00:00Z", "1234"):
        assert "such as" not in read_text(root.get(f"{ANN}?at={quote(typed)}")), typed


def test_deleted_player_is_shown_and_restored(root: Keeper, world: World) -> None:
    answer = submit(root, find_form(root.page("/console/players/Ann"), OPERATIONS), reason="asked for it")
    page = root.page(answer.headers["location"])
    deletion = world.ledger()[-1].seq
    for seen in ("Ann deleted", "This player is deleted.", "asked for it", "250 GC Gold Coin"):
        assert seen in page.text, seen
    assert {each for each in list_paths(page) if not each.startswith("/api/keeper/v1/changes/")} == set()
    earlier = root.page(f"{ANN}?at={deletion - 1}")
    assert "250 GC Gold Coin" in earlier.text
    assert root.get("/console/players/Ann").status == 404
    # the player did not exist any more at the time of its deletion
    assert root.get(f"{ANN}?at={deletion}").status == 404
    submit(root, page.form("/console/act", "Undo the deletion"))
    assert "deleted" not in root.page(ANN).text
    assert list_items(world)[0] == (people.COIN.id, 250)


def test_erased_player_has_no_name(root: Keeper, world: World) -> None:
    assert world.call("DELETE", "/api/v1/users/Ann").status == 200
    page = root.page(ANN)
    assert "(erased) deleted" in page.text
    assert "Ann" not in page.text
    # the page of an erased player has no forms, so no undo buttons either
    assert list_paths(page) == set()


@pytest.mark.parametrize("key", ["Nobody", people.NOBODY_ID, "%3Cb%3E"])
def test_unknown_player_is_not_found(root: Keeper, key: str) -> None:
    answer = root.get(f"/console/players/{key}")
    assert answer.status == 404
    assert "No player with" in read_text(answer)
    assert b"<b>" not in answer.raw


def test_markup_is_shown_as_text(root: Keeper, world: World) -> None:
    evil = "<img src=x onerror=alert(1)>"
    entry = {"Id": people.COIN.id, "Name": evil, "Stackable": True, "Icon": 'x" onload="alert(1)'}
    assert world.call("PUT", "/api/link/v1/catalogue/items", by="Server", body=[entry]).status == 200
    world.post(GIVE, {"itemid": people.COIN.id, "quantity": 1}, headers={"X-Reason": evil})
    page = root.page(HISTORY)
    assert page.text.count(evil) > 1
    assert evil in root.page(ANN).text
    assert not any(attributes.get("src") == "x" or "onload" in attributes for _, attributes in page.tags)


def test_inline_icon_is_shown(root: Keeper, world: World) -> None:
    for icon in ("data:image/png;base64,AAAA", "https://elsewhere.test/coin.png"):
        entry = {"Id": people.COIN.id, "Name": "Gold Coin", "Stackable": True, "Icon": icon}
        world.call("PUT", "/api/link/v1/catalogue/items", by="Server", body=[entry])
        sources = {attributes.get("src", "") for tag, attributes in root.page(ANN).tags if tag == "img"}
        assert (icon in sources) == icon.startswith("data:")


def test_stale_preview_is_rejected_and_shown_again(root: Keeper, keeper: Who, world: World) -> None:
    """Another account gives coins between the preview and its confirmation."""
    sent = find_form(root.page(f"{ANN}?slot=inventory-0"), f"{SLOTS}/take")
    assert sent.fields["body.Quantity"] == "1"  # not the whole stack
    first = root.post("/console/act", {**sent.fields, "body.Quantity": "250"})
    assert "Inventory, slot 0 250 × Gold Coin —" in read_text(first)  # noqa: RUF001 - the text of the page
    other = keeper("Shop")
    submit(other, find_form(other.page(ANN), GIVE), itemid=people.COIN.id, quantity="5")
    refused = root.confirm(first, "all of it")
    assert refused.status == 409
    assert "Inventory, slot 0 255 × Gold Coin 5 × Gold Coin" in read_text(refused)  # noqa: RUF001 - the text of the page
    assert list_items(world)[0] == (people.COIN.id, 255)
    assert root.confirm(refused, "all but five").status == 303
    assert list_items(world)[0] == (people.COIN.id, 5)


def test_suggestions(root: Keeper, world: World) -> None:
    def suggested(kind: str, text: str) -> list[str]:
        return [each["label"] for each in root.get(f"/console/suggest/{kind}?q={quote(text)}").json["found"]]

    assert suggested("items", "gold") == ["Gold Coin"]
    assert suggested("items", "") == ["Arrow", "Gold Coin", "Pouch", "Sword"]
    assert suggested("items", "%") == []
    assert suggested("spells", "he") == ["Heal"]
    oar, twin = people.guid(0x98), people.guid(0x99)
    more = [{"Id": oar, "Name": "Oar", "Stackable": True}, {"Id": twin, "Name": "Arrow", "Stackable": True}]
    assert world.call("PUT", "/api/link/v1/catalogue/items", by="Server", body=more).status == 200
    assert suggested("items", "arr") == [f"Arrow ({people.ARROW.id})", f"Arrow ({twin})"]
    assert suggested("items", "O")[0] == "Oar"  # suggested names that start with the text come first
    small = people.guid(0x97)
    names = ["oar", *(f"Oar {number:02}" for number in range(suggestions.MAX_SUGGESTIONS))]
    more = [{"Id": people.guid(0x97 - at), "Name": name, "Stackable": True} for at, name in enumerate(names)]
    assert world.call("PUT", "/api/link/v1/catalogue/items", by="Server", body=more).status == 200
    assert suggested("items", "OAR")[:2] == [
        f"Oar ({oar})",
        f"oar ({small})",
    ]  # names that differ only in case show their ids, and come before longer names
    assert suggested("items", "\0") == suggested("items", "x" * 300) == []
    assert root.get("/console/suggest/players?q=a").status == 404
    assert Keeper(world).get("/console/suggest/items?q=a", {"Accept": "application/json"}).status == 401


def test_suggestions_tolerate_typos(root: Keeper, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Similar names are suggested only if no name contains the typed text."""

    def suggested(text: str, kind: str = "items") -> tuple[list[str], bool]:
        told = root.get(f"/console/suggest/{kind}?q={quote(text)}").json
        return [each["label"] for each in told["found"]], told["near"]

    names = ["Healing Potion", "Healing Herb", "Heather"]
    more = [{"Id": people.guid(0x90 + at), "Name": name, "Stackable": True} for at, name in enumerate(names)]
    assert world.call("PUT", "/api/link/v1/catalogue/items", by="Server", body=more).status == 200
    assert suggested("helaing") == (["Healing Herb", "Healing Potion"], True)
    assert suggested("HELAING potion") == (["Healing Potion", "Healing Herb"], True)
    assert suggested("healing") == (["Healing Herb", "Healing Potion"], False)
    assert suggested("fierball", "spells") == (["Fireball"], True)
    for nothing in ("fierball", "xqzzy", "xe", "\0" * 4, "x" * 300):
        assert suggested(nothing) == ([], False), nothing
    # a text with a typo is compared with 2 entries only: Arrow and Gold Coin
    monkeypatch.setattr(finder, "MOST_ENTRIES", 2)
    assert suggested("helaing") == ([], False)
    assert suggested("arorw") == (["Arrow"], True)
