"""The dialog that erases an account: it names the account, lists what is deleted, and requires the typed name."""

from keepers import ACT, Keeper
from markup import Page

import people
from expectations import everything
from game_server import heartbeat, join, put_player, stack
from people import ANN, COIN
from world import Answer, World

HOME = f"/console/accounts/{people.USER_IDS['Ann']}"


def open_dialog(root: Keeper) -> Answer:
    form = root.page(HOME).form(ACT, "Erase the account")
    shown = root.post(ACT, form.fields, csrf=form.fields["csrf"])
    assert shown.status == 200, shown.raw
    return shown


def confirm(root: Keeper, shown: Answer, typed: str, reason: str = "by request") -> Answer:
    return root.confirm(shown, reason, typed=typed)


def test_dialog_names_the_account_and_lists_its_players(world: World, root: Keeper) -> None:
    full = [stack(slot, COIN.id, slot + 1) for slot in range(35)]
    assert put_player(world, ANN.id, {"Items": full}).status == 200
    page = Page(open_dialog(root).raw.decode())
    page.assert_shown("Erase Ann", "ann@example.test", "Ann 12 36 0 1 2", "Zoe", "This cannot be undone.")
    assert "slot" not in page.text
    rows = [tag for tag, _ in page.tags if tag == "tr"]
    assert len(rows) == 3  # the dialog's table has a heading row and the account's two players
    assert page.form(ACT, "Erase Ann").fields["typed"] == ""


def test_account_is_erased_only_after_its_name_is_typed(world: World, root: Keeper) -> None:
    shown = open_dialog(root)
    before = everything(world, without="tokens")
    for typed in ("", "ann", "Zoe", people.USER_IDS["Ann"]):
        refused = confirm(root, shown, typed)
        assert refused.status == 400
        assert everything(world, without="tokens") == before
        page = Page(refused.raw.decode())
        assert "Type the account's name, Ann, to erase it. Nothing was changed." in page.text
        assert page.form(ACT, "Erase Ann").fields["reason"] == "by request"
    done = confirm(root, refused, " Ann ")
    assert (done.status, done.headers["location"].partition("?")[0]) == (303, "/console/accounts")
    assert root.get(HOME).status == world.get("/api/v1/users/Ann").status == 404
    # the same confirmation is sent again, as after a lost answer
    assert "done=already" in confirm(root, refused, "Ann").headers["location"]


def test_names_are_removed_from_the_reason(world: World, root: Keeper) -> None:
    confirm(root, open_dialog(root), "Ann", "Ann asked by ann@example.test to announce that ZOE goes")
    rows = [row for row in world.ledger() if row.kind in ("player_deleted", "user_deleted")]
    assert {row.reason for row in rows} == {"(erased) asked by (erased) to announce that (erased) goes"}


def test_stale_dialog_erases_nothing(world: World, root: Keeper) -> None:
    changes: dict[str, dict[str, object]] = {
        "/api/v1/users/Ann/manage/email/change": {"new": "ann2@example.test"},
        "/api/v1/players/Ann/name": {"name": "Anna"},
        "/api/v1/users/Ann/admin/ban": {"reason": "spam"},
        "/api/v1/users/Ann/admin/mute": {"reason": "spam"},
        "/api/keeper/v1/users/Ann/powers": {"kick": True},
    }
    stale = open_dialog(root)
    for path, body in changes.items():
        assert world.post(path, body).status == 200
        stale = confirm(root, stale, "Ann")
        assert (stale.status, b"The table shows what would change now." in stale.raw) == (409, True), path
    assert confirm(root, stale, "Ann").status == 303


def test_online_player_is_named_and_can_be_kicked(world: World, root: Keeper) -> None:
    heartbeat(world)
    assert join(world, ANN.id).status == 200
    page = f"/console/accounts/{people.USER_IDS['Ann']}"
    for path in (f"/api/v1/users/{people.USER_IDS['Ann']}", f"/api/v1/players/{people.ANN.id}"):
        refused = root.preview("DELETE", path, back=page)
        shown = Page(refused.raw.decode())
        assert (refused.status, "Ann is online." in shown.text) == (409, True)
        assert shown.links["Ann"] == f"/console/players/{people.ANN.id}"
        kick = shown.form("/console/act", "Kick Ann from the game").fields
        assert (kick["path"], kick["back"]) == (f"/api/v1/players/{people.ANN.id}/admin/kick", page)
    dialog = Page(root.preview("POST", kick["path"], back=page).raw.decode())
    assert "Reason shown to the player" in dialog.text
