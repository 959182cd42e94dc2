"""Dialogs: title and button name the action and its player or account; the preview shows names, not ids and numbers."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from dialog_parts import ACCOUNT, PLAYER, SIGN, read_button, read_text, read_title
from jinja2 import Environment, nodes
from keepers import Keeper

import people
from game_server import heartbeat, join, put_player
from gamekeeper.console import dialogs, kinds, pages
from gamekeeper.game import history
from gamekeeper.http.errors import MethodNotAllowed, NoSuchRoute
from gamekeeper.http.operation import Operation
from gamekeeper.http.router import Router
from gamekeeper.http.routes import ROUTES
from world import World

CONSOLE = Path(pages.__file__).parent
# values for the placeholders in the paths of the templates; every other placeholder stands for an id
VALUES = {"operations": [PLAYER, ACCOUNT], "what": ["ban", "mute"]}
ROUTER = Router(ROUTES)


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
    shared_root: Keeper, method: str, path: str, body: dict[str, object] | None, title: str, act: str
) -> None:
    ask = "password" if path.endswith("/register") else "new" if path.endswith("/password/change") else ""
    shown = shared_root.preview(method, path, body, ask=ask)
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


def test_duration_of_another_operation_is_ignored(shared_root: Keeper) -> None:
    shown = shared_root.preview("POST", f"{PLAYER}/name", {"name": "Anna", "duration": "x"})
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
