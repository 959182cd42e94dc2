"""Dialogs: title and button name the action and its player or account; the preview shows names, not ids and numbers."""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jinja2 import Environment, nodes
from keepers import Keeper
from markup import Page

import people
from game_server import heartbeat, join, put_player
from gamekeeper.console import dialogs, differences, kinds, pages
from gamekeeper.game import history
from gamekeeper.http.errors import MethodNotAllowed, NoSuchRoute
from gamekeeper.http.operation import Operation
from gamekeeper.http.router import Router
from gamekeeper.http.routes import ROUTES
from gamekeeper.store import catalogue
from world import Answer, World

CONSOLE = Path(pages.__file__).parent
PLAYER, ACCOUNT = f"/api/v1/players/{people.ANN.id}", f"/api/v1/users/{people.USER_IDS['Ann']}"
# values for the placeholders in the paths of the templates; every other placeholder stands for an id
VALUES = {"operations": [PLAYER, ACCOUNT], "what": ["ban", "mute"]}
ROUTER = Router(ROUTES)
SIGN = differences.TIMES_SIGN


def read_title(shown: Answer) -> str:
    assert shown.status == 200, shown.raw
    html = shown.raw.decode()
    title = html.partition("<h1>")[2].partition("</h1>")[0]
    assert html.partition("<title>")[2].startswith(title)
    return title


def read_button(shown: Answer) -> str:
    [text] = Page(shown.raw.decode()).confirmation().buttons
    return text


def read_text(shown: Answer) -> str:
    return Page(shown.raw.decode()).text


def preview_undo(world: World, root: Keeper) -> Answer:
    """Preview the undo of the first change of the newest request."""
    return root.preview("POST", f"/api/keeper/v1/changes/{find_first_change(world)}/undo")


def find_first_change(world: World) -> int:
    rows = world.ledger()
    return next(each.seq for each in rows if each.request_id == rows[-1].request_id)


@pytest.mark.parametrize("what", ["ban", "mute"])
def test_ban_or_mute_of_a_player_names_other_players_of_the_account(root: Keeper, world: World, what: str) -> None:
    path = f"{PLAYER}/admin/{what}"
    assert "Also hits Zoe of this account" in read_text(root.preview("POST", path))
    assert "Also hits" not in read_text(root.preview("POST", f"/api/v1/players/{people.BOB.id}/admin/{what}"))
    add_players(world, 1)
    assert "Also hits Zoe and ExtraA of this account" in read_text(root.preview("POST", path))
    add_players(world, 6)
    expected = "Also hits Zoe, ExtraA, ExtraB, ExtraC, ExtraD and 2 more of this account"
    assert expected in read_text(root.preview("POST", path))
    assert "Also hits" not in read_text(root.preview("POST", f"{ACCOUNT}/admin/{what}"))


def test_undo_of_a_gift_says_that_the_equipped_item_is_taken_off(root: Keeper, world: World) -> None:
    gift = {"itemid": people.SWORD.id, "quantity": 1}
    assert world.post(f"{PLAYER}/items/give", gift).status == 200
    undo = f"/api/keeper/v1/changes/{world.ledger()[-1].seq}/undo"
    said = "Weapon Sword is equipped here. It will be taken off, and this place stays empty."
    assert said not in read_text(root.preview("POST", undo))
    put_player(world, people.ANN.id, {"Equipment": [-1, -1, 4, -1, -1]})  # in place of the sword of slot 2
    assert said in read_text(root.preview("POST", undo))
    off = {"slot": "4", "itemid": people.SWORD.id}
    unequip = root.preview("POST", f"/api/keeper/v1/players/{people.ANN.id}/items/slots/unequip", off)
    assert (unequip.status, said in read_text(unequip)) == (200, False)
    root.act("POST", undo)
    assert world.get(PLAYER).json["Equipment"] == [-1, -1, -1, -1, -1]


def add_players(world: World, count: int) -> None:
    """Add players to Ann's account, up to `count`."""
    for number in range(count):
        body = {"Name": f"Extra{chr(ord('A') + number)}", "UserId": people.USER_IDS["Ann"]}
        assert put_player(world, people.guid(0x900 + number), body).status in {200, 201}


# --- Every operation of a form has a dialog --------------------------------------------------------------------------


def expand(node: nodes.Node) -> list[str]:
    """List the paths that a template's path expression can produce."""
    if isinstance(node, nodes.Const):
        return [str(node.value)]
    if isinstance(node, nodes.Concat):
        texts = [""]
        for part in node.nodes:
            texts = [head + tail for head in texts for tail in expand(part)]
        return texts
    return VALUES.get(node.name, [people.ANN.id]) if isinstance(node, nodes.Name) else [people.ANN.id]


def find_action_calls(environment: Environment, source: str) -> Iterator[tuple[str, str]]:
    """Find the templates' calls of the macro `action`: method and path of the operation that each form calls."""
    for call in environment.parse(source).find_all(nodes.Call):
        if getattr(call.node, "attr", "") == "action":
            method, path = call.args[1:3]
            yield from ((each, target) for each in expand(method) for target in expand(path))


def find_paths(source: str) -> Iterator[str]:
    """Find the literal paths in templates and scripts, with an id in place of each expression."""
    for path in re.findall(r'["`](/api/[^"`\s]*)', re.sub(r"\{\{.*?\}\}|\$\{.*?\}", people.ANN.id, source)):
        yield path.replace(people.ANN.id, "1") if "/changes/" in path else path


def find_operation(method: str, path: str) -> Operation | None:
    try:
        found, _ = ROUTER.find(method, path.encode())
    except (NoSuchRoute, MethodNotAllowed):
        return None
    return found if isinstance(found, Operation) else None


def test_every_operation_that_a_form_sends_has_a_dialog() -> None:
    sent: set[str] = set()
    for file in sorted((CONSOLE / "templates").glob("*.html")):
        for method, path in find_action_calls(pages.TEMPLATES, file.read_text()):
            if file.name == "search.html":
                continue  # the path is in palette.py: an operation that the other forms send too
            found = find_operation(method, path)
            # a template that serves both players and accounts yields paths of both, and some of these have no operation
            assert found or any(path.startswith(each) for each in (PLAYER, ACCOUNT)), (file.name, method, path)
            sent |= {found.name} if found else set()
    for file in [*(CONSOLE / "templates").glob("*.html"), *(CONSOLE / "static").glob("*.js")]:
        for path in find_paths(file.read_text()):
            found = find_operation("POST", path) or find_operation("DELETE", path) or find_operation("GET", path)
            sent |= {found.name} if found and found.is_repeatable else set()
    assert {"give_item", "undo_change", "ban_player", "ban_user", "delete_user", "revoke_token"} <= sent
    # a bulk job has its preview on a page of its own
    assert sent - dialogs.DIALOGS().keys() == {dialogs.UNDO, "create_bulk_job"}
    assert dialogs.DIALOGS().keys() <= sent  # there is no dialog text for an operation that no form calls


def test_every_kind_of_change_has_a_title() -> None:
    assert set(history.KINDS) == set(kinds.KIND_TITLES())
    assert kinds.name_kind("pet_adopted") == "Pet adopted"  # a kind of change from a newer version, unknown here


# --- Titles and buttons of dialogs -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "path", "body", "title", "act"),
    [
        (
            "POST",
            f"{PLAYER}/items/give",
            {"itemid": people.COIN.id, "quantity": 1500},
            "Give Gold Coin to Ann",
            f"Give 1,500 {SIGN} Gold Coin to Ann",
        ),
        (
            "POST",
            f"{PLAYER}/items/take",
            {"itemid": people.COIN.id, "quantity": 5},
            "Take Gold Coin from Ann",
            f"Take 5 {SIGN} Gold Coin from Ann",
        ),
        ("POST", f"{PLAYER}/spells/teach", {"spellid": people.HEAL.id}, "Teach Heal to Ann", "Teach Heal to Ann"),
        (
            "POST",
            f"{PLAYER}/spells/forget",
            {"spellid": people.FIREBALL.id},
            "Remove Fireball from Ann",
            "Remove Fireball from Ann",
        ),
        ("POST", f"{PLAYER}/variables/{people.KILLS.id}", {"value": 9}, "Set Kills of Ann", "Set Kills of Ann to 9"),
        (
            "POST",
            f"{PLAYER}/variables/{people.TUTORIAL.id}",
            {"value": "false"},
            "Set Tutorial done of Ann",
            "Set Tutorial done of Ann to no",
        ),
        ("POST", f"{PLAYER}/name", {"name": "Anna"}, "Rename Ann", "Rename Ann to Anna"),
        ("POST", f"{PLAYER}/level", {"level": 9}, "Set the level of Ann", "Set Ann to level 9"),
        (
            "POST",
            f"/api/v1/players/{people.BOB.id}/class",
            {"classid": people.WARRIOR.id},
            "Set the class of Bob",
            "Set the class of Bob to Warrior",
        ),
        ("DELETE", PLAYER, None, "Delete Ann", "Delete Ann"),
        (
            "POST",
            f"/api/v1/players/{people.ZOE.id}/admin/ban",
            {"duration": 7},
            "Ban the account of Zoe",
            "Ban the account of Zoe for 7 days",
        ),
        ("POST", f"{ACCOUNT}/admin/ban", {"duration": 1}, "Ban Ann", "Ban Ann for 1 day"),
        ("POST", f"{ACCOUNT}/admin/ban", {"duration": 365}, "Ban Ann", "Ban Ann for 1 year"),
        ("POST", f"{ACCOUNT}/admin/mute", {"duration": 0}, "Mute Ann", "Mute Ann permanently"),
        ("POST", "/api/v1/users/mona/admin/unmute", None, "End the mute of Mona", "End the mute of Mona"),
        (
            "POST",
            "/api/v1/users/register",
            {"username": "Eve", "email": "eve@example.test"},
            "Register the account Eve",
            "Register the account Eve",
        ),
        ("POST", f"{ACCOUNT}/name", {"name": "Anna"}, "Rename Ann", "Rename Ann to Anna"),
        (
            "POST",
            f"{ACCOUNT}/manage/email/change",
            {"new": "a@example.test"},
            "Change the email of Ann",
            "Change the email of Ann to a@example.test",
        ),
        ("POST", f"{ACCOUNT}/manage/password/change", None, "Set a new password for Ann", "Set a new password for Ann"),
        (
            "GET",
            f"{ACCOUNT}/password/reset",
            None,
            "Send a password reset mail to Ann",
            "Send a password reset mail to Ann",
        ),
        (
            "POST",
            f"/api/keeper/v1/users/{people.USER_IDS['Ann']}/powers",
            {"ban": "true"},
            "Change the permissions of Ann",
            "Change the permissions of Ann",
        ),
        ("DELETE", ACCOUNT, None, "Erase Ann", "Erase Ann"),
        ("DELETE", "/api/oauth/token/shop", None, "Revoke all tokens of Shop", "Revoke all tokens of Shop"),
        (
            "DELETE",
            f"/api/link/v1/players/{people.BOB.id}",
            None,
            f"Run DELETE /api/link/v1/players/{people.BOB.id}",
            f"Run DELETE /api/link/v1/players/{people.BOB.id}",
        ),
    ],
)
def test_title_and_button_name_the_action_and_its_object(
    root: Keeper, method: str, path: str, body: dict[str, object] | None, title: str, act: str
) -> None:
    ask = "password" if path.endswith("/register") else "new" if path.endswith("/password/change") else ""
    shown = root.preview(method, path, body, ask=ask)
    assert (read_title(shown), read_button(shown)) == (title, act)


def test_dialog_names_the_owner_of_a_token(root: Keeper) -> None:
    form = root.page("/console/tokens?account=Shop").form("/console/act", "Revoke")
    shown = root.post("/console/act", form.fields)
    assert (read_title(shown), read_button(shown)) == ("Revoke token of Shop", "Revoke token of Shop")
    assert "The security log records who did this" in read_text(shown)


def test_dialog_names_the_kicked_player(world: World, root: Keeper) -> None:
    assert heartbeat(world).status == join(world, people.ANN.id).status == 200
    shown = root.preview("POST", f"{PLAYER}/admin/kick")
    assert (read_title(shown), read_button(shown)) == ("Kick the account of Ann out of the game",) * 2


def test_dialog_escapes_names(world: World, root: Keeper) -> None:
    world.sql("UPDATE users SET name = '<b>100%(s)' WHERE name = 'Bob'")
    shown = root.preview("POST", f"/api/v1/users/{people.USER_IDS['Bob']}/admin/ban", {"duration": 3})
    assert read_title(shown) == "Ban &lt;b&gt;100%(s)"
    assert read_button(shown) == "Ban <b>100%(s) for 3 days"


def test_item_without_a_name_is_shown_by_its_id(world: World, root: Keeper) -> None:
    world.sql("DELETE FROM items")
    shown = root.preview("POST", f"{PLAYER}/items/take", {"itemid": people.COIN.id, "quantity": 5})
    assert read_button(shown) == f"Take 5 {SIGN} {people.COIN.id} from Ann"


def test_account_of_a_player_is_not_named_without_permission(world: World, keeper: Any) -> None:
    world.sql("UPDATE users SET ban = TRUE, name = 'Hidden' WHERE id = $1", people.USER_IDS["Shop"])
    world.sql("UPDATE users SET name = 'Secret' WHERE id = $1", people.USER_IDS["Ann"])
    shown = keeper("Shop").preview("POST", f"/api/v1/players/{people.ZOE.id}/admin/ban", {"duration": 3})
    assert read_button(shown) == "Ban the account of Zoe for 3 days"
    assert "Secret" not in shown.raw.decode()


def test_moderator_is_not_named_without_permission(world: World, keeper: Any) -> None:
    world.sql("UPDATE users SET ban = TRUE WHERE id = $1", people.USER_IDS["Shop"])
    assert world.post(f"/api/v1/players/{people.ZOE.id}/admin/ban", {"moderator": "Secret"}).status == 200
    shown = keeper("Shop").preview("POST", f"/api/v1/players/{people.ZOE.id}/admin/unban")
    assert read_button(shown) == "End the ban of the account of Zoe"
    assert "Secret" not in shown.raw.decode()


def test_duration_of_another_operation_is_ignored(root: Keeper) -> None:
    shown = root.preview("POST", f"{PLAYER}/name", {"name": "Anna", "duration": "x"})
    assert read_button(shown) == "Rename Ann to Anna"


def test_failed_confirmation_keeps_title_and_button(
    world: World, root: Keeper, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = root.preview("POST", f"{PLAYER}/items/give", {"itemid": people.COIN.id, "quantity": 5})

    async def fail(*_: object, **__: object) -> None:
        raise RuntimeError

    monkeypatch.setattr(type(world.keeper.store), "write", fail)
    again = root.confirm(shown, "a gift")
    assert (again.status, read_button(again)) == (500, f"Give 5 {SIGN} Gold Coin to Ann")


# --- Dialogs of an undo ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "path", "body", "act"),
    [
        (
            "POST",
            f"{PLAYER}/items/give",
            {"itemid": people.COIN.id, "quantity": 5},
            f"Undo: take back 5 {SIGN} Gold Coin from Ann",
        ),
        (
            "POST",
            f"{PLAYER}/items/take",
            {"itemid": people.SWORD.id, "quantity": 1},
            f"Undo: give back 1 {SIGN} Sword to Ann",
        ),
        ("POST", f"{PLAYER}/spells/teach", {"spellid": people.HEAL.id}, "Undo: remove Heal from Ann"),
        ("POST", f"{PLAYER}/spells/forget", {"spellid": people.FIREBALL.id}, "Undo: teach Fireball to Ann again"),
        ("POST", f"{PLAYER}/variables/{people.KILLS.id}", {"value": 9}, "Undo: set Kills of Ann back to 7"),
        ("POST", f"{PLAYER}/variables/{people.UNSET.id}", {"value": 9}, "Undo: clear Never set of Ann"),
        ("POST", f"{PLAYER}/level", {"level": 9}, "Undo: set Ann back to level 12"),
        ("POST", f"{PLAYER}/name", {"name": "Anna"}, "Undo: rename Anna back to Ann"),
        ("DELETE", PLAYER, None, "Undo: restore Ann"),
        ("POST", f"{ACCOUNT}/admin/ban", {"duration": 7}, "Undo: end the ban of Ann"),
        ("POST", "/api/v1/users/Mona/admin/unmute", None, "Undo: mute Mona again"),
        ("POST", f"{ACCOUNT}/name", {"name": "Anna"}, "Undo: rename Anna back to Ann"),
        (
            "POST",
            f"{ACCOUNT}/manage/email/change",
            {"new": "a@example.test"},
            "Undo: change the email of Ann back to ann@example.test",
        ),
        (
            "POST",
            f"/api/keeper/v1/users/{people.USER_IDS['Ann']}/powers",
            {"ban": "true"},
            "Undo: restore the permissions of Ann",
        ),
    ],
)
def test_button_names_what_an_undo_does(
    world: World, root: Keeper, method: str, path: str, body: dict[str, object] | None, act: str
) -> None:
    assert root.act(method, path, body).status == 303
    shown, seq = preview_undo(world, root), find_first_change(world)
    assert (read_title(shown), read_button(shown)) == (f"Undo change {seq} of {find_name(act)}", act)
    assert root.confirm(shown, "by mistake").status == 303


def test_undo_of_a_report_with_several_fields_names_none_of_them(world: World, root: Keeper) -> None:
    assert put_player(world, people.ANN.id, {"Level": 9, "X": 1}).status == 200
    assert read_button(preview_undo(world, root)) == "Undo: restore the values of Ann"


def test_switch_to_an_equal_item_shows_the_slots(world: World, root: Keeper) -> None:
    stacks = [{"Slot": slot, "ItemId": people.SWORD.id, "Quantity": 1} for slot in (3, 7)]
    assert put_player(world, people.ANN.id, {"Items": stacks, "Equipment": [-1, -1, 3, -1, -1]}).status == 200
    assert put_player(world, people.ANN.id, {"Equipment": [-1, -1, 7, -1, -1]}).status == 200
    shown = read_text(preview_undo(world, root))
    assert "Sword in slot 7" in shown
    assert "Sword in slot 3" in shown


def find_name(act: str) -> str:
    return next(name for name in ("Anna", "Ann", "Mona") if re.search(rf"\b{name}\b", act))


# --- Names in previews of dialogs ------------------------------------------------------------------------------------


def test_equipment_is_shown_by_item_names(world: World, root: Keeper) -> None:
    take = root.preview("POST", f"{PLAYER}/items/take", {"itemid": people.SWORD.id, "quantity": 1})
    assert "Weapon Sword \u2014" in read_text(take)
    assert root.confirm(take, "a test").status == 303
    page = root.page(f"/console/done/{world.ledger()[-1].request_id}")
    assert "Weapon Sword \u2014" in page.text
    seq = next(each.seq for each in world.ledger()[::-1] if each.kind == "items_taken")
    assert root.act("POST", f"/api/keeper/v1/changes/{seq}/undo").status == 303
    unequip = {"Slot": 2, "ItemId": people.SWORD.id}
    assert world.post(f"/api/keeper/v1/players/{people.ANN.id}/items/slots/unequip", unequip).status == 200
    seq = world.ledger()[-1].seq
    shown = root.preview("POST", f"/api/keeper/v1/changes/{seq}/undo")
    # the undo of the take equipped the sword again, and its change has only the slot: the preview takes the item's name
    # from the inventory
    assert "Weapon \u2014 Sword" in read_text(shown)


def test_slot_stands_for_an_item_that_is_not_known_any_more(world: World, root: Keeper) -> None:
    assert put_player(world, people.ANN.id, {"Equipment": [-1, -1, -1, 2, -1]}).status == 200
    page = root.page(f"/console/changes/{world.ledger()[-1].seq}")
    assert "Weapon the item in inventory slot 2 \u2014 Shield \u2014 the item in inventory slot 2" in page.text


def test_numbers_of_a_player_are_shown_in_words(root: Keeper) -> None:
    shown = read_text(root.preview("DELETE", PLAYER))
    for each in (
        "Gender Female \u2014",
        "Vitals Health: 100, Mana: 40 \u2014",
        "Maximum vitals Health: 120, Mana: 40 \u2014",
        "Base stats Attack: 5, Ability power: 6, Defense: 7, Magic resist: 8, Speed: 9 \u2014",
        "Equipment Weapon: Sword \u2014",
        "Class Warrior \u2014",
        "Map Meadow \u2014",
        "Account Ann \u2014",
        "Time played 1 h 0 min \u2014",
        "Spell slot 0 Fireball \u2014",
        "Kills 7 \u2014",
        "Pouch (Inventory, slot 3), slot 1 7 \u00d7 Arrow \u2014",
    ):
        assert each in shown, each
    assert people.ANN.user_id not in shown
    assert people.ANN.id not in shown


def test_changed_vitals_are_shown_one_by_one(world: World, root: Keeper) -> None:
    assert put_player(world, people.ANN.id, {"Vitals": [64, 40], "Gender": 0}).status == 200
    page = root.page(f"/console/changes/{world.ledger()[-1].seq}")
    assert "Gender Female Male" in page.text
    assert "Health 100 64" in page.text
    assert "Mana" not in page.text.partition("Details")[0]


def test_owner_is_not_named_without_permission(world: World, keeper: Any) -> None:
    world.sql("UPDATE users SET name = 'Secret' WHERE id = $1", people.USER_IDS["Ann"])
    shown = read_text(keeper("Shop").preview("DELETE", PLAYER))
    assert "Secret" not in shown
    assert f"Account {people.USER_IDS['Ann']}" in shown


def test_names_are_loaded_with_one_query_per_kind(root: Keeper, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: Counter[str] = Counter()
    by_id: Any = catalogue.find_by_ids

    async def count(tx: Any, kind: str, ids: Any) -> Any:
        asked[kind] += 1
        return await by_id(tx, kind, ids)

    monkeypatch.setattr(catalogue, "find_by_ids", count)
    root.preview("DELETE", PLAYER)
    assert asked == dict.fromkeys(("items", "spells", "variables", "classes", "maps"), 1)
