"""Actions in two steps: the confirmed changes equal the preview, happen once, and have a reason."""

import re

import pytest

import people
from expectations import everything, unchanged
from gamekeeper.console.frame import differences
from gamekeeper.console.frame.differences import TIMES_SIGN, Difference
from gamekeeper.game.access.passwords import hash_for_wire
from gamekeeper.game.core.refusals import IdempotencyInProgress
from gamekeeper.store.engine.interface import CommitUnknown, DatabaseUnavailable
from keepers import ACT, Keeper, fail_writes, open_session, read_text
from loops import over
from markup import Page
from world import World

GIVE = f"/api/v1/players/{people.ANN.id}/items/give"
TAKE = f"/api/v1/players/{people.ANN.id}/items/take"
COINS = {"itemid": people.COIN.id, "quantity": 5}
PASSWORD = "/api/v1/users/Ann/manage/password/change"


def list_differences(world: World, number: int) -> list[Difference]:
    """List the differences that the change with this number made, as the pages show them."""
    row = next(each for each in world.ledger() if each.seq == number)
    [found] = world.run(differences.list_differences(world.keeper, [row], sees_accounts=True))
    return found


@over(
    "path, body",
    (GIVE, {"itemid": people.POUCH.id, "quantity": 1}),
    (TAKE, {"itemid": people.ARROW.id, "quantity": 60}),
    (f"/api/v1/players/{people.ANN.id}/spells/teach", {"spellid": people.HEAL.id}),
    (f"/api/v1/players/{people.ANN.id}/variables/{people.KILLS.id}", {"value": 8}),
    (f"/api/v1/players/{people.BOB.id}/level", {"level": 9}),
)
def test_confirmed_changes_equal_the_preview(world: World, root: Keeper, path: str, body: dict[str, object]) -> None:
    with unchanged(world):
        shown = root.preview("POST", path, body).accepted()
    done = root.confirm(shown, "a gift")
    assert done.status == 303, done.raw
    row = world.ledger()[-1]
    assert (row.reason, row.actor_id) == ("a gift", people.USER_IDS["Root"])
    # without the lines about bags: the id of a new bag is not known in the preview
    wanted = [" ".join(line) for line in list_differences(world, row.seq) if not line.what.startswith("Bag ")]
    for each in wanted:
        assert each in read_text(shown)
    assert wanted


def test_stale_confirmation_shows_a_new_preview(world: World, root: Keeper) -> None:
    shown = root.preview("POST", GIVE, COINS)
    assert world.post(GIVE, {"itemid": people.COIN.id, "quantity": 100}).status == 200
    with unchanged(world):
        stale = root.confirm(shown, "a gift")
        assert stale.status == 409
        assert "The state has changed since your preview" in read_text(stale)
        assert f"350 {TIMES_SIGN} Gold Coin 355 {TIMES_SIGN} Gold Coin" in read_text(stale)
        assert Page(stale.raw.decode()).confirmation().fields["reason"] == "a gift"
    assert root.confirm(stale, "a gift").status == 303
    assert world.get(f"/api/v1/players/{people.ANN.id}/items/inventory").json[0]["Quantity"] == 355


def test_repeated_form_takes_effect_once(world: World, root: Keeper) -> None:
    shown = root.preview("POST", GIVE, COINS)
    assert root.confirm(shown, "a gift").status == 303
    with world.nothing_recorded():
        again = root.confirm(shown, "a gift")
        assert (again.status, again.headers["location"]) == (303, "/console?done=already")
    assert "This was done already" in root.page("/console/done/already").text


@over("missing", "key", "seen")
def test_confirmation_without_its_preview_is_rejected(world: World, root: Keeper, missing: str) -> None:
    shown, before = root.preview("POST", GIVE, COINS), everything(world)
    answer = root.confirm(shown, "a gift", **{missing: ""})
    assert (answer.status, f"The field '{missing}' is missing." in read_text(answer)) == (400, True)
    assert everything(world) == before


def test_forged_confirmation_is_rejected(world: World, root: Keeper) -> None:
    body = {"grant_type": "password", "username": "Root", "password": hash_for_wire(people.PASSWORD)}
    before = world.sql("SELECT COUNT(*) FROM tokens")
    shown = root.preview("POST", GIVE, COINS)
    assert root.preview("POST", "/api/oauth/token", body).status == 404
    fields = {"path": "/api/oauth/token", **{f"body.{name}": value for name, value in body.items()}}
    assert root.confirm(shown, "a gift", **fields).status == 404
    assert world.sql("SELECT COUNT(*) FROM tokens") == before
    nothing = Page(root.preview("DELETE", "/api/oauth/token/Ann").raw.decode()).confirmation().fields["seen"]
    shown, before = root.preview("POST", GIVE, COINS), everything(world)
    again = root.confirm(shown, "", seen=nothing)
    assert (again.status, everything(world) == before) == (409, True)
    assert "reason" in Page(again.raw.decode()).confirmation().fields


@over(
    "failure, status, told",
    (CommitUnknown("gone"), 503, "It is not known whether this was done"),
    (IdempotencyInProgress(), 409, "It is not known whether this was done"),
    (RuntimeError("oh"), 500, "It is not known whether this was done"),
    (DatabaseUnavailable("gone"), 503, "The database is not available"),
)
@over("done", "/console?done=already", "")
def test_unknown_outcome_can_be_retried_with_the_same_key(
    world: World, root: Keeper, monkeypatch: pytest.MonkeyPatch, failure: Exception, status: int, told: str, done: str
) -> None:
    shown, before = root.preview("POST", GIVE, COINS), len(world.ledger())
    sent = Page(shown.raw.decode()).confirmation().fields
    fail_writes(monkeypatch, world, failure, done=bool(done))
    unsure = root.confirm(shown, "a gift")
    monkeypatch.undo()
    assert unsure.status == status
    assert told in read_text(unsure)
    assert "Nothing was changed" not in read_text(unsure)
    assert Page(unsure.raw.decode()).confirmation().fields == {**sent, "reason": "a gift"}
    again = root.confirm(unsure, "a gift")
    assert again.headers["location"] == (done or f"/console?done={world.ledger()[-1].request_id}")
    assert len(world.ledger()) == before + 1


@over("reason", "", "   ")
def test_change_without_reason_is_rejected(world: World, root: Keeper, reason: str) -> None:
    shown = root.preview("POST", GIVE, COINS)
    with unchanged(world):
        answer = root.confirm(shown, reason)
        assert answer.status == 400
        assert "The field 'Reason' is missing." in read_text(answer)


def test_password_is_asked_in_the_dialog_and_never_shown(world: World, root: Keeper) -> None:
    shown = root.preview("POST", PASSWORD, {"authorization": "x"}, ask="new").accepted()
    fields = Page(shown.raw.decode()).confirmation().fields
    assert fields["password.new"] == ""
    missing = root.confirm(shown, "forgot it")
    assert missing.status == 400
    typed = {"password.new": "moss & lanterns", "again.new": "moss & lanterns"}
    done = root.confirm(shown, "forgot it", **typed)
    assert done.status == 303, done.raw
    page = root.get(done.headers["location"].replace("/console?done=", "/console/done/"))
    # the CSRF token and the preview's fingerprint may appear: they look like a password's hash, 64 hex digits
    ours = (root.csrf.encode(), fields["seen"].encode())
    for answer in (shown, missing, done, page):
        left = answer.raw.replace(ours[0], b"").replace(ours[1], b"")
        assert not re.search(rb"moss|[0-9a-f]{64}", left)
    proof = {"password": hash_for_wire("moss & lanterns")}
    assert world.post("/api/v1/users/Ann/password/validate", proof).status == 200


def test_done_page_hides_changes_of_other_accounts(world: World, root: Keeper) -> None:
    root.act("POST", GIVE, COINS)
    page = f"/console/done/{world.ledger()[-1].request_id}"
    assert "Items given" in root.page(page).text
    assert "Items given" not in open_session(world, "Clerk").page(page).text
    shop = open_session(world, "Shop")
    world.sql("UPDATE users SET ban = TRUE WHERE id = $1", people.USER_IDS["Shop"])
    done = shop.act("POST", f"/api/v1/players/{people.ANN.id}/admin/ban", {"reason": "gold"})
    assert world.ledger()[-1].kind == "user_banned"
    page = shop.page(done.headers["location"].replace("/console?done=", "/console/done/"))
    page.assert_hidden("Ann")
    page.assert_shown("Changes to accounts are shown only with the permission users.query.")


def test_call_is_refused_as_a_programs_call(world: World, root: Keeper) -> None:
    clerk = open_session(world, "Clerk")  # Clerk has the role users.query, but not users.manage
    path = f"/api/v1/users/{people.USER_IDS['Ann']}/manage/password/change"
    assert clerk.preview("POST", path, {"new": "x"}).status == 403
    assert root.post(ACT, {"method": "POST", "path": GIVE, "body.dryrun": "true"}).status == 400
