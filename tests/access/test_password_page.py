"""New passwords in the console, of other accounts and of one's own."""

import pytest

import people
from expectations import everything
from explorer import run
from gamekeeper.game.access.passwords import hash_for_wire
from gamekeeper.store.engine.interface import CommitUnknown
from keepers import Keeper, fail_writes, open_session, read_text
from loops import over
from markup import Page
from proof import reset_code
from world import MakeWorld, World

OWN, SIGN_IN = "/console/me/password", "/console/sign-in"
NEW = "moss and lanterns"
TYPED = {"password.new": NEW, "again.new": NEW}
MANAGE = "/api/v1/users/{}/manage/password/change"
TWICE = "The two new passwords are not the same."


def is_password_valid(world: World, name: str, password: str) -> bool:
    return world.post(f"/api/v1/users/{name}/password/validate", {"password": hash_for_wire(password)}).status == 200


def read_generated(page: Page, name: str) -> str:
    """Return the generated password that the console's form offers."""
    return next(each["value"] for tag, each in page.tags if tag == "input" and each.get("name") == f"generated.{name}")


UNUSABLE: list[tuple[dict[str, str], str]] = [
    ({}, "Type the new password twice, or tick the generated one."),
    ({"password.new": NEW}, TWICE),
    ({"password.new": "lantern", "again.new": "lantern"}, "has 7 characters; it needs at least 10"),
    ({"password.new": "Password123", "again.new": "Password123"}, "easy to guess"),
    ({"generated.new": "password123"}, "easy to guess"),
]


def test_unusable_password_shows_the_form_again(world: World, root: Keeper) -> None:
    shown = root.preview("POST", MANAGE.format("Ann"), ask="new")
    before = everything(world)
    for typed, problem in UNUSABLE:
        refused = root.confirm(shown, "forgot it", **typed)
        assert (refused.status, problem in read_text(refused)) == (400, True), typed
        assert everything(world) == before
        assert Page(refused.raw.decode()).confirmation().fields["reason"] == "forgot it"
        assert root.confirm(refused, " ", **TYPED).status == 400
    assert root.confirm(shown, "forgot it", **TYPED).status == 303
    assert is_password_valid(world, "Ann", NEW)


def test_generated_password_is_set_and_kept_while_the_outcome_is_unknown(
    world: World, root: Keeper, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = root.preview("POST", MANAGE.format("Ann"), ask="new")
    offered = read_generated(Page(shown.raw.decode()), "new")
    with monkeypatch.context() as broken:
        fail_writes(broken, world, CommitUnknown("the answer is lost"))
        lost = root.confirm(shown, "forgot it", **{"generated.new": offered})
    assert read_generated(Page(lost.raw.decode()), "new") == offered
    assert is_password_valid(world, "Ann", offered)
    again = root.confirm(lost, "forgot it", **{"generated.new": offered})
    page = Page(again.raw.decode())
    assert page.links["I have noted the password"] == "/console?done=already"
    assert offered in page.text


def test_account_changes_its_own_password_which_ends_its_sessions(world: World) -> None:
    name = "Shop"
    me, other = open_session(world, name), open_session(world, name)
    weak = {"password.new": "shopshop2026", "again.new": "shopshop2026"}
    assert "easy to guess" in read_text(me.post(OWN, {"current": people.PASSWORD, **weak}))
    form = me.page(OWN).form(OWN, "Change my password")
    done = me.post(OWN, {**form.fields, "current": people.PASSWORD, **TYPED})
    assert (done.status, done.headers["location"]) == (303, f"{SIGN_IN}?ended=password")
    for each in (me, other):
        assert each.get("/console").headers["location"].startswith(SIGN_IN)
    assert Keeper(world).sign_in(name).status == 400
    assert Keeper(world).sign_in(name, NEW).status == 303
    assert (world.ledger()[-1].kind, world.ledger()[-1].user_id) == ("password_changed", people.USER_IDS[name])


@over("current", "", "not it")
def test_own_change_needs_the_current_password(world: World, current: str) -> None:
    shop = open_session(world, "Shop")
    with world.nothing_recorded():
        refused = shop.post(OWN, {"current": current, **TYPED})
        assert (refused.status, "The current password is wrong." in read_text(refused)) == (400, True)
        assert NEW.encode() not in refused.raw
    assert shop.get("/console").status == 200


def test_guesses_at_the_current_password_are_limited(make_world: MakeWorld) -> None:
    world = make_world(guesses_per_caller=2)
    shop = open_session(world, "Shop")
    statuses = [shop.post(OWN, {"current": each, **TYPED}).status for each in ("one", "two", people.PASSWORD)]
    assert statuses == [400, 400, 429]


@over("key", "Root", "root", people.USER_IDS["Root"])
def test_console_never_sets_own_password_without_the_current_one(world: World, root: Keeper, key: str) -> None:
    """In the console, users.manage lets an account set the passwords of others without the current one, not its own."""
    with world.nothing_recorded():
        refused = root.preview("POST", MANAGE.format(key), ask="new")
        assert refused.status == 409
        tried = run(root, "POST", MANAGE.format(key), {"new": NEW})
        assert (tried["status"], tried["answer"]["Code"]) == (409, "own_password")


def test_console_never_sets_own_password_with_a_reset_code(world: World, root: Keeper) -> None:
    """A person at an unattended console must not take over the account with a reset code."""
    before = world.ledger()
    tried = run(root, "POST", "/api/v1/users/Root/password/reset", {"code": reset_code(world, "Root"), "new": NEW})
    assert tried["answer"]["Code"] == "own_password"
    assert [row.kind for row in world.ledger()[len(before) :]] == ["reset_requested"]
