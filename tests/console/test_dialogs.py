"""Dialogs: title and button name the action and its object; the preview shows names, not ids and numbers."""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from dialog_parts import ACCOUNT, PLAYER, SIGN, read_button, read_text, read_title
from explorer import run
from jinja2 import Environment, nodes
from keepers import Keeper, open_session
from markup import Page

import people
from game_server import heartbeat, join, put_player
from gamekeeper.console import dialogs, kinds, pages
from gamekeeper.game import history
from gamekeeper.http.errors import MethodNotAllowed, NoSuchRoute
from gamekeeper.http.operation import Operation
from gamekeeper.http.router import Router
from gamekeeper.http.routes import ROUTES
from gamekeeper.store import catalogue
from loops import over
from world import World

CONSOLE = Path(pages.__file__).parent
# values for the placeholders in the paths of the templates; every other placeholder stands for an id
VALUES = {"operations": [PLAYER, ACCOUNT], "what": ["ban", "mute"]}
ROUTER = Router(ROUTES)
IDS = ("COIN", "SWORD", "HEAL", "FIREBALL", "KILLS", "UNSET", "TUTORIAL", "BOB", "WARRIOR", "ZOE")


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


def test_names_in_dialogs_are_escaped_and_need_permission(world: World, root: Keeper, keeper: Any) -> None:
    world.sql("UPDATE users SET name = '<b>100%(s)' WHERE name = 'Bob'")
    shown = root.preview("POST", f"/api/v1/users/{people.USER_IDS['Bob']}/admin/ban", {"duration": 3})
    assert read_title(shown) == "Ban &lt;b&gt;100%(s)"
    assert read_button(shown) == "Ban <b>100%(s) for 3 days"
    world.sql("UPDATE users SET ban = TRUE, name = 'Hidden' WHERE id = $1", people.USER_IDS["Shop"])
    world.sql("UPDATE users SET name = 'Secret' WHERE id = $1", people.USER_IDS["Ann"])
    shown = keeper("Shop").preview("POST", f"/api/v1/players/{people.ZOE.id}/admin/ban", {"duration": 3})
    assert read_button(shown) == "Ban the account of Zoe for 3 days"
    assert "Secret" not in shown.raw.decode()


# An operation with its body | the button of its dialog | the button that undoes it, after "Undo: "
BUTTONS = """
POST {player}/items/give itemid={coin} quantity=1500 | Give 1,500 x Gold Coin to Ann | take back 1,500 x Gold Coin
POST {player}/items/take itemid={sword} quantity=1 | Take 1 x Sword from Ann | give back 1 x Sword to Ann
POST {player}/spells/teach spellid={heal} | Teach Heal to Ann | remove Heal from Ann
POST {player}/spells/forget spellid={fireball} | Remove Fireball from Ann | teach Fireball to Ann again
POST {player}/variables/{kills} value=9 | Set Kills of Ann to 9 | set Kills of Ann back to 7
POST {player}/variables/{unset} value=9 | Set Never set of Ann to 9 | clear Never set of Ann
POST {player}/variables/{tutorial} value=false | Set Tutorial done of Ann to no |
POST {player}/name name=Anna | Rename Ann to Anna | rename Anna back to Ann
POST {player}/level level=9 | Set Ann to level 9 | set Ann back to level 12
POST /api/v1/players/{bob}/class classid={warrior} | Set the class of Bob to Warrior |
DELETE {player} | Delete Ann | restore Ann
POST /api/v1/players/{zoe}/admin/ban duration=7 | Ban the account of Zoe for 7 days |
POST {account}/admin/ban duration=1 | Ban Ann for 1 day | end the ban of Ann
POST {account}/admin/ban duration=365 | Ban Ann for 1 year |
POST {account}/admin/mute duration=0 | Mute Ann permanently |
POST {account}/admin/mute until=2030-01-31T18:00:00+02:00 | Mute Ann until 2030-01-31 16:00:00 UTC |
POST /api/v1/users/mona/admin/unmute | End the mute of Mona | mute Mona again
POST /api/v1/users/register username=Eve email=eve@example.test ask=password | Register the account Eve |
POST {account}/name name=Anna | Rename Ann to Anna | rename Anna back to Ann
POST {account}/manage/email/change new=a@e.test | Change the email of Ann to a@e.test | change the email of Ann
POST {account}/manage/password/change ask=new | Set a new password for Ann |
GET {account}/password/reset | Send a password reset mail to Ann |
POST {powers} ban=true | Change the permissions of Ann | restore the permissions of Ann
DELETE {account} | Erase Ann |
DELETE /api/oauth/token/shop | Revoke all tokens of Shop |
DELETE /api/link/v1/players/{bob} | Run DELETE /api/link/v1/players/{bob} |
"""


def test_button_names_the_action_its_object_and_its_undo(world: World, root: Keeper) -> None:
    ids = {name.lower(): getattr(people, name).id for name in IDS}
    powers = f"/api/keeper/v1/users/{people.USER_IDS['Ann']}/powers"
    assert heartbeat(world).status == 200
    for line in BUTTONS.strip().format(player=PLAYER, account=ACCOUNT, powers=powers, **ids).splitlines():
        call, button, undo = (each.strip().replace(" x ", f" {SIGN} ") for each in line.split("|"))
        method, path, *fields = call.split()
        body = dict(each.split("=") for each in fields)
        shown = root.preview(method, path, body, ask=body.pop("ask", ""))
        assert read_button(shown) == button, line
        if undo:
            known = len(world.ledger())
            assert root.confirm(shown, "a test").status == 303, line
            first = world.ledger()[known].seq
            shown = root.preview("POST", f"/api/keeper/v1/changes/{first}/undo")
            name = next(each for each in ("Anna", "Mona", "Ann") if f" {each} " in f" {undo} Ann ")
            assert read_title(shown) == f"Undo change {first} of {name}", line
            assert read_button(shown).startswith(f"Undo: {undo}"), line
            assert root.confirm(shown, "by mistake").status == 303, line
    assert join(world, people.ANN.id).status == 200
    shown = root.preview("POST", f"{PLAYER}/admin/kick")
    assert (read_title(shown), read_button(shown)) == ("Kick the account of Ann out of the game",) * 2
    shown = root.post("/console/act", root.page("/console/tokens?account=Shop").form("/console/act", "Revoke").fields)
    assert (read_title(shown), read_button(shown)) == ("Revoke token of Shop", "Revoke token of Shop")


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


def test_numbers_of_a_player_are_shown_in_words(shared_root: Keeper) -> None:
    shown = read_text(shared_root.preview("DELETE", PLAYER))
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


def test_previewed_deletion_is_in_words_and_names_no_owner(world: World, keeper: Any) -> None:
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


GIVE = f"/api/v1/players/{people.ANN.id}/items/give"
TEACH = f"/api/v1/players/{people.BOB.id}/spells/teach"
SET_SLOT = f"/api/keeper/v1/players/{people.ANN.id}/items/slots/set"
NAMED = {"container": "inventory", "slot": "7", "held": "0", "ItemId": "gold coin", "Quantity": "3"}


@over(
    "path, body, said",
    [
        (GIVE, {"itemid": " gold COIN ", "quantity": 5}, "Give 5 × Gold Coin to Ann"),  # noqa: RUF001 - the text of the page
        (SET_SLOT, NAMED, "Set Inventory, slot 7 of Ann to 3 × Gold Coin"),  # noqa: RUF001 - the text of the page
        (TEACH, {"spellid": "heal"}, "Teach Heal to Bob"),
    ],
)
def test_form_takes_the_name_of_an_item_or_spell(
    world: World, root: Keeper, path: str, body: dict[str, object], said: str
) -> None:
    shown = root.preview("POST", path, body)
    assert shown.status == 200, shown.raw
    assert said in Page(shown.raw.decode()).text
    assert root.confirm(shown, "a gift").status == 303
    assert world.ledger()[-1].reason == "a gift"


def test_unknown_names_are_refused_with_similar_ones(world: World, root: Keeper) -> None:
    for path, body, said in (
        (GIVE, {"itemid": "gold cion", "quantity": 5}, "no item with the name 'gold cion'. Similar names: Gold Coin."),
        (TEACH, {"spellid": "hael"}, "no spell with the name 'hael'."),
    ):
        refused = root.preview("POST", path, body)
        assert refused.status == 400
        assert said in Page(refused.raw.decode()).text
    # a caller who cannot give items learns no names
    root.act("POST", f"/api/keeper/v1/users/{people.USER_IDS['Ann']}/roles", {"give[]": "moderator"})
    assert open_session(world, "Ann").preview("POST", GIVE, {"itemid": "gold cion"}).status == 403


def test_messages_name_fields_as_on_the_screen_and_point_to_the_bank(shared_root: Keeper) -> None:
    wrong = shared_root.preview("POST", GIVE, {"itemid": people.COIN.id, "quantity": "many"})
    assert wrong.status == 400
    assert "The field 'Quantity' must be" in Page(wrong.raw.decode()).text
    missing = shared_root.preview("POST", GIVE, {"quantity": "1"})
    assert "The field 'Item' is missing." in Page(missing.raw.decode()).text
    swords = {"itemid": "Sword", "quantity": 40}
    refused = Page(shared_root.preview("POST", GIVE, swords).raw.decode()).text
    assert "there is room for 31 of 40" in refused
    assert "Tick “Put overflow into the bank” in the form" in refused
    assert shared_root.preview("POST", GIVE, {**swords, "bankoverflow": "true"}).status == 200
    both = shared_root.preview("POST", GIVE, {"itemid": "Sword", "quantity": 400, "bankoverflow": "true"})
    assert "Tick" not in Page(both.raw.decode()).text


def test_new_bag_is_named_by_its_item_and_slot(world: World, root: Keeper) -> None:
    give = f"/api/v1/players/{people.ANN.id}/items/give"
    one, two = (root.preview("POST", give, {"itemid": people.POUCH.id, "quantity": count}) for count in (1, 2))
    assert re.findall(r">(Pouch \(.*?)<", one.raw.decode()) == ["Pouch (Inventory, slot 4)"]
    wanted = ["Pouch (Inventory, slot 4)", "Pouch (Inventory, slot 5)"]
    assert sorted(re.findall(r">(Pouch \(.*?)<", two.raw.decode())) == wanted
    assert ">Bag " not in one.raw.decode() + two.raw.decode()
    assert root.confirm(one, "a gift").status == 303
    assert ">Pouch (Inventory, slot 4)<" in root.get(f"/console/changes/{world.ledger()[-1].seq}").raw.decode()


def test_explorer_shows_no_id_of_a_bag_that_will_be_made(root: Keeper) -> None:
    shown = run(root, "POST", "/api/v1/players/Ann/items/give", {"itemid": people.POUCH.id, "quantity": 1})
    assert "Pouch (Inventory, slot 4)" in [line["what"] for each in shown["changes"] for line in each]
