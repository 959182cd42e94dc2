"""Actions in two steps: the confirmed changes equal the preview, happen once, and have a reason."""

import re

import pytest
from keepers import ACT, Keeper, fail_writes, open_session
from markup import Page
from sent_actions import COINS, GIVE, JSON, list_numbers, read_text

import people
from expectations import everything
from game_server import heartbeat, join
from gamekeeper.console import differences
from gamekeeper.console.differences import TIMES_SIGN, Difference
from gamekeeper.game.passwords import hash_for_wire
from gamekeeper.game.refusals import IdempotencyInProgress
from gamekeeper.store.engine import CommitUnknown, DatabaseUnavailable
from loops import over
from world import Answer, World

TAKE = f"/api/v1/players/{people.ANN.id}/items/take"
PASSWORD = "/api/v1/users/Ann/manage/password/change"


def list_differences(world: World, number: int) -> list[Difference]:
    """List the differences that the change with this number made, as the pages show them."""
    row = next(each for each in world.ledger() if each.seq == number)
    [found] = world.run(differences.list_differences(world.keeper, [row], sees_accounts=True))
    return found


@over(
    "path, body",
    [
        (GIVE, COINS),
        (GIVE, {"itemid": people.ARROW.id, "quantity": 120}),
        (GIVE, {"itemid": people.POUCH.id, "quantity": 1}),
        (TAKE, {"itemid": people.ARROW.id, "quantity": 60}),
        (f"/api/v1/players/{people.ANN.id}/spells/teach", {"spellid": people.HEAL.id}),
        (f"/api/v1/players/{people.ANN.id}/variables/{people.KILLS.id}", {"value": 8}),
        (f"/api/v1/players/{people.BOB.id}/level", {"level": 9}),
    ],
)
def test_confirmed_changes_equal_the_preview(world: World, root: Keeper, path: str, body: dict[str, object]) -> None:
    before = everything(world)
    shown = root.preview("POST", path, body)
    assert shown.status == 200, shown.raw
    assert everything(world) == before
    done = root.confirm(shown, "a gift")
    assert done.status == 303, done.raw
    row = world.ledger()[-1]
    assert (row.reason, row.actor_id) == ("a gift", people.USER_IDS["Root"])
    # without the lines about bags: the id of a new bag is not known in the preview
    wanted = [" ".join(line) for line in list_differences(world, row.seq) if not line.what.startswith("Bag ")]
    for each in wanted:
        assert each in read_text(shown)
    assert wanted


def test_done_page_shows_changes_and_undo(world: World, root: Keeper) -> None:
    done = root.confirm(root.preview("POST", GIVE, COINS, back="/console/players/x?tab=2"), "a gift")
    where, _, request_id = done.headers["location"].partition("&done=")
    assert where == "/console/players/x?tab=2"
    page = root.page(f"/console/done/{request_id}")
    assert f": Items given, player Ann Field Before After Inventory, slot 0 250 {TIMES_SIGN} Gold Coin 255" in page.text
    undo = page.form(ACT, f"Undo change {list_numbers(world)[-1]}")
    assert undo.fields["path"] == f"/api/keeper/v1/changes/{list_numbers(world)[-1]}/undo"
    shown = root.post(ACT, undo.fields)
    assert f"255 {TIMES_SIGN} Gold Coin 250 {TIMES_SIGN} Gold Coin" in read_text(shown)
    assert root.confirm(shown, "by mistake").status == 303
    assert world.get(f"/api/v1/players/{people.ANN.id}/items/inventory").json[0]["Quantity"] == 250


def test_stale_confirmation_shows_a_new_preview(world: World, root: Keeper) -> None:
    shown = root.preview("POST", GIVE, COINS)
    assert world.post(GIVE, {"itemid": people.COIN.id, "quantity": 100}).status == 200
    before = everything(world)
    stale = root.confirm(shown, "a gift")
    assert stale.status == 409
    assert "The state has changed since your preview" in read_text(stale)
    assert f"350 {TIMES_SIGN} Gold Coin 355 {TIMES_SIGN} Gold Coin" in read_text(stale)
    assert Page(stale.raw.decode()).confirmation().fields["reason"] == "a gift"
    assert everything(world) == before
    assert root.confirm(stale, "a gift").status == 303
    assert world.get(f"/api/v1/players/{people.ANN.id}/items/inventory").json[0]["Quantity"] == 355


def test_done_page_offers_undo_and_a_repeated_form_takes_effect_once(world: World, root: Keeper) -> None:
    shown = root.preview("POST", GIVE, COINS)
    assert root.confirm(shown, "a gift").status == 303
    after = world.ledger()
    again = root.confirm(shown, "a gift")
    assert (again.status, again.headers["location"]) == (303, "/console?done=already")
    assert world.ledger() == after
    page = root.page("/console/done/already")
    assert "This was done already" in page.text
    assert page.links["Your changes"] == f"/console/changes?actor={people.USER_IDS['Root']}"
    fields = {"method": "POST", "path": GIVE, **{f"body.{name}": str(value) for name, value in COINS.items()}}
    shown = root.post(ACT, fields, headers=JSON).json
    line = {
        "what": "Inventory, slot 0",
        "before": f"255 {TIMES_SIGN} Gold Coin",
        "after": f"260 {TIMES_SIGN} Gold Coin",
    }
    assert shown["changes"] == [[line]]
    confirmed = {**fields, "confirmed": "yes", "reason": "a gift", "key": "k", "seen": shown["seen"]}
    done = root.post(ACT, confirmed, headers=JSON).json
    assert (done["changes"], done["numbers"]) == ([[line]], list_numbers(world)[-1:])


@over("missing", ["key", "seen"])
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
    [
        (CommitUnknown("gone"), 503, "It is not known whether this was done"),
        (IdempotencyInProgress(), 409, "It is not known whether this was done"),
        (RuntimeError("oh"), 500, "It is not known whether this was done"),
        (DatabaseUnavailable("gone"), 503, "The database is not available"),
    ],
)
@over("done", ["/console?done=already", ""])
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
    assert "it takes effect only once." in read_text(unsure)
    assert "Nothing was changed" not in read_text(unsure)
    assert Page(unsure.raw.decode()).confirmation().fields == {**sent, "reason": "a gift"}
    again = root.confirm(unsure, "a gift")
    assert again.headers["location"] == (done or f"/console?done={world.ledger()[-1].request_id}")
    assert len(world.ledger()) == before + 1


def test_links_of_a_form_stay_in_the_console(shared_root: Keeper) -> None:
    link = "Show the change, and undo it"
    assert shared_root.page("/console/changes?done=ab12").links[link] == "/console/done/ab12"
    assert shared_root.page("/console/changes?done=../x").links[link] == "/console/done/..%2Fx"
    assert f"Done. {link}" in shared_root.page("/console/changes?done=ab12").text
    assert link not in shared_root.page("/console/changes").links
    answer = shared_root.preview("POST", "/api/v1/players/Nobody/items/give", COINS, back="/console/players/x?tab=2")
    assert Page(answer.raw.decode()).links["Back"] == "/console/players/x?tab=2"
    answer = shared_root.preview("POST", "/api/v1/players/Nobody/items/give", COINS, back="//evil.example")
    assert Page(answer.raw.decode()).links["Back"] == "/console"


@over("reason", ["", "   "])
def test_change_without_reason_is_rejected(world: World, root: Keeper, reason: str) -> None:
    shown = root.preview("POST", GIVE, COINS)
    asked = [attributes for _, attributes in Page(shown.raw.decode()).tags if attributes.get("name") == "reason"]
    assert ["required" in each for each in asked] == [True]
    before = everything(world)
    answer = root.confirm(shown, reason)
    assert answer.status == 400
    assert "The field 'Reason' is missing." in read_text(answer)
    assert everything(world) == before


@over("deed", ["ban", "mute", "kick"])
def test_reason_for_the_player_prefills_the_audit_reason(world: World, root: Keeper, deed: str) -> None:
    assert heartbeat(world).status == 200
    assert join(world, people.ANN.id).status == 200
    shown = root.preview("POST", f"/api/v1/players/{people.ANN.id}/admin/{deed}", {"reason": "sells <gold>"})
    asked = Page(shown.raw.decode()).confirmation().fields
    assert (asked["body.reason"], asked["reason"]) == ("sells <gold>", "sells <gold>")
    stale = root.confirm(shown, "a third report", seen="something else")
    again = Page(stale.raw.decode()).confirmation().fields
    assert (stale.status, again["body.reason"], again["reason"]) == (409, "sells <gold>", "a third report")
    assert root.confirm(stale, "a third report").status == 303
    assert world.ledger()[-1].reason == "a third report"
    assert "sells <gold>" in [line.after for line in list_differences(world, list_numbers(world)[-1])]


def test_password_is_asked_in_the_dialog_and_never_shown(world: World, root: Keeper) -> None:
    shown = root.preview("POST", PASSWORD, {"authorization": "x"}, ask="new")
    assert shown.status == 200, shown.raw
    fields = Page(shown.raw.decode()).confirmation().fields
    assert fields["password.new"] == ""
    missing = root.confirm(shown, "forgot it")
    assert (missing.status, "Type the new password twice, or tick the generated one." in read_text(missing)) == (
        400,
        True,
    )
    typed = {"password.new": "moss & lanterns", "again.new": "moss & lanterns"}
    done = root.confirm(shown, "forgot it", **typed)
    assert done.status == 303, done.raw
    page = root.get(done.headers["location"].replace("/console?done=", "/console/done/"))
    # the CSRF token and the preview's fingerprint may appear: they look like a password's hash, 64 hex digits
    ours = (root.csrf.encode(), read_fingerprint(shown))
    for answer in (shown, missing, done, page):
        left = answer.raw.replace(ours[0], b"").replace(ours[1], b"")
        assert not re.search(rb"moss|[0-9a-f]{64}", left)
    proof = {"password": hash_for_wire("moss & lanterns")}
    assert world.post("/api/v1/users/Ann/password/validate", proof).status == 200


def read_fingerprint(answer: Answer) -> bytes:
    return Page(answer.raw.decode()).confirmation().fields["seen"].encode()


@over(
    "path, status",
    [("/api/v1/players/Nobody/items/give", 404), ("/api/v1/nothing", 404), ("/console/act", 404), ("//", 404)],
)
def test_unknown_path_or_player_is_rejected_as_a_page(shared_root: Keeper, path: str, status: int) -> None:
    answer = shared_root.preview("POST", path, COINS)
    assert answer.status == status
    assert answer.headers["content-type"].startswith("text/html")
    assert "Nothing was changed." in read_text(answer)


def test_refused_operation_changes_nothing(world: World, root: Keeper) -> None:
    shop = open_session(world, "Shop")
    before = everything(world)
    answer = shop.preview("DELETE", "/api/v1/users/Ann")
    assert answer.status == 403
    assert "users." in read_text(answer)
    assert everything(world) == before
    world.sql("UPDATE tokens SET read_only = TRUE WHERE idle_ms IS NOT NULL")
    before = everything(world)
    assert root.preview("POST", GIVE, COINS).status == 403
    assert everything(world) == before
