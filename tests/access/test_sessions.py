"""Sessions of the console: sign-in, expiry and sign-out."""

from functools import partial
from urllib.parse import quote

import pytest

import people
from gamekeeper.game.access import roles
from gamekeeper.game.access.passwords import hash_for_wire
from gamekeeper.ground.instants import HOUR_MS, MINUTE_MS
from keepers import ACT, SIGN_IN, SIGN_OUT, SOMEBODY, Keeper, get_callers, is_sent_to_sign_in, open_session
from loops import over
from markup import Page
from world import Answer, MakeWorld, World

WRONG = "The name or the password is wrong. Type both again."
UNSENT = "Your session has expired, so your last action was not carried out. Sign in and repeat it."
BOB = f"/console/players/{people.BOB.id}"


def read_problem(answer: Answer) -> str:
    """Return the error on the sign-in page, which must offer its form again."""
    page = Page(answer.raw.decode())
    assert page.form(SIGN_IN)
    return page.text


def list_titles(keeper: Keeper) -> list[str]:
    return [name for name, path in keeper.page(SOMEBODY).links.items() if path.startswith("/console")]


def drop_cached_tokens(world: World) -> None:
    """Drop the server's cached tokens, which otherwise expire after a few seconds."""
    get_callers(world).clear_cache()


def test_correct_password_opens_a_session(world: World) -> None:
    me = Keeper(world)
    answer = me.sign_in("Clerk")
    assert (answer.status, answer.headers["location"]) == (303, "/console")
    assert answer.headers["set-cookie"] == (
        f"gamekeeper={me.cookie}; Path=/console; Max-Age=43200; HttpOnly; SameSite=Lax"
    )
    assert "Clerk" in me.page(SOMEBODY).text


def test_cookie_is_secure_over_tls(make_world: MakeWorld) -> None:
    """The cookie is Secure if a trusted proxy sends X-Forwarded-Proto: https; other clients' headers are ignored."""
    world = make_world(trusted_proxies="10.0.0.1")
    said = {"x-forwarded-proto": "https"}
    me = Keeper(world)
    through = me.sign_in("Clerk", headers=said, address="10.0.0.1").headers["set-cookie"]
    past = Keeper(world).sign_in("Clerk", headers=said, address="10.0.0.2").headers["set-cookie"]
    plain = Keeper(world).sign_in("Clerk", address="10.0.0.1").headers["set-cookie"]
    assert ["Secure" in each for each in (through, past, plain)] == [True, False, False]
    assert through == f"__Host-gamekeeper={me.cookie}; Path=/; Secure; Max-Age=43200; HttpOnly; SameSite=Lax"
    for name, opens in (("__Host-gamekeeper", True), ("gamekeeper", False)):
        sent = {**said, "cookie": f"gamekeeper=another; {name}={me.cookie}"}
        assert is_sent_to_sign_in(me.get(SOMEBODY, headers=sent, address="10.0.0.1")) != opens


def test_refused_sign_in_opens_no_session(world: World) -> None:
    wrong = Keeper(world).sign_in("Clerk", "not it")
    unknown = Keeper(world).sign_in("Nobody", "not it")
    assert [answer.status for answer in (wrong, unknown)] == [400, 400]
    assert WRONG in read_problem(wrong)
    assert read_problem(wrong) == read_problem(unknown)
    assert "set-cookie" not in wrong.headers
    assert b"not it" not in wrong.raw
    answer = Keeper(world).sign_in("Ann")
    assert answer.status == 400
    assert "This account has no API access" in read_problem(answer)
    assert "set-cookie" not in answer.headers
    clerk = open_session(world, "Clerk")
    assert not is_sent_to_sign_in(clerk.get(SOMEBODY))
    assert world.post("/api/v1/users/Clerk/admin/ban", {"reason": "lying"}).status == 200
    assert is_sent_to_sign_in(clerk.get(SOMEBODY))
    assert "is banned" in read_problem(Keeper(world).sign_in("Clerk"))
    for headers in ({"sec-fetch-site": "cross-site"}, {"origin": "https://evil.example", "host": "game.example"}):
        answer = Keeper(world).sign_in("Clerk", headers=headers)
        assert answer.status == 403
        assert "set-cookie" not in answer.headers


def test_failed_sign_ins_and_token_requests_share_one_limit(make_world: MakeWorld) -> None:
    world = make_world(guesses_per_caller=2)
    assert Keeper(world).sign_in("Clerk", "not it").status == 400
    guess = {"grant_type": "password", "username": "Clerk", "password": hash_for_wire("nor this")}
    assert world.post("/api/oauth/token", guess, by=None).status == 400
    answer = Keeper(world).sign_in("Clerk", "third")
    assert answer.status == 429
    assert int(answer.headers["retry-after"]) > 0


@over(
    "wanted",
    "//evil.example",
    "/\\evil.example",
    "https:evil.example",
    "javascript:alert(1)",
    "/consoles",
    "/console\r\nset-cookie: a=b",
    "/console/\\..\\..//evil.example",
    " //evil.example",
    "/api/docs",
    "/console/é",
    "/console/\u2028//evil.example",
    "",
)
def test_sign_in_never_redirects_to_another_site(world: World, wanted: str) -> None:
    late = Keeper(world).post(ACT, {"back": wanted}, csrf="")  # a form that is sent without a session
    for path in (f"{SIGN_IN}?next={quote(wanted)}", late.headers["location"]):
        assert Keeper(world).page(path).form(SIGN_IN).fields["next"] == "/console"


def test_sign_in_returns_to_the_requested_page_of_this_site(world: World) -> None:
    asked = "/console/done/none?page=2&of=x%20y"
    answer = Keeper(world).get(asked)
    assert answer.status == 303
    form = Keeper(world).page(answer.headers["location"]).form(SIGN_IN)
    assert form.fields["next"] == asked
    typed = {**form.fields, "name": "Clerk", "password": people.PASSWORD}
    assert Keeper(world).post(SIGN_IN, typed, csrf="").headers["location"] == asked
    answer = Keeper(world).post(
        SIGN_IN, {"name": "Clerk", "password": people.PASSWORD, "next": "//evil.example"}, csrf=""
    )
    assert (answer.status, answer.headers["location"]) == (303, "/console")


def test_idle_session_expires_unless_used(world: World, root: Keeper) -> None:
    for minutes, ended in ((59, False), (2, True)):
        world.sql(
            "UPDATE tokens SET issued_at = issued_at - $1, last_used = last_used - $1 WHERE idle_ms IS NOT NULL",
            minutes * MINUTE_MS,
        )
        drop_cached_tokens(world)
        assert is_sent_to_sign_in(root.get(SOMEBODY)) == ended


def test_list_and_request_reset_the_idle_timeout_only_when_asked(world: World, root: Keeper) -> None:
    for path in ("/console/live/characters?search=ann", "/console/live/accounts"):
        world.sql("UPDATE tokens SET issued_at = issued_at - $1, last_used = NULL WHERE idle_ms IS NOT NULL", 0)
        drop_cached_tokens(world)
        assert b"data-row" in root.get(path, headers={"x-fragment": "1"}).raw
        world.run(get_callers(world).note_use())
        assert world.sql("SELECT COUNT(*) FROM tokens WHERE idle_ms IS NOT NULL AND last_used IS NOT NULL")[0][0] == 0
    world.sql("UPDATE tokens SET issued_at = issued_at - $1 WHERE idle_ms IS NOT NULL", 59 * MINUTE_MS)
    assert root.get(SOMEBODY).status == 200
    world.run(get_callers(world).note_use())
    world.sql("UPDATE tokens SET issued_at = issued_at - $1 WHERE idle_ms IS NOT NULL", 59 * MINUTE_MS)
    drop_cached_tokens(world)
    assert root.get(SOMEBODY).status == 200


def test_session_expires_after_its_maximum_age(world: World, root: Keeper) -> None:
    """Requests extend a session's idle timeout, but not its maximum age of 12 hours."""
    for hours, ended in ((11, False), (1, True)):
        world.sql("UPDATE tokens SET access_expires = access_expires - $1 WHERE idle_ms IS NOT NULL", hours * HOUR_MS)
        drop_cached_tokens(world)
        assert is_sent_to_sign_in(root.get(SOMEBODY)) == ended


@pytest.mark.parametrize("headers", [{}, {"x-fragment": "yes", "x-place": f"{BOB}?before=9"}])
def test_form_after_the_session_ended_is_reported_as_lost(world: World, root: Keeper, headers: dict[str, str]) -> None:
    """A form sent after the session ended, with or without a script: the sign-in leads back to the form's page."""
    csrf, seen = root.csrf, len(world.ledger())
    world.sql("UPDATE tokens SET issued_at = issued_at - $1 WHERE idle_ms IS NOT NULL", 61 * MINUTE_MS)
    drop_cached_tokens(world)
    gift = {"method": "POST", "path": "/api/v1/players/Bob/items/give", "body.itemid": people.COIN.id}
    late = root.post(ACT, {**gift, "back": f"{BOB}?before=9"}, headers, csrf=csrf)
    assert is_sent_to_sign_in(late)
    page = root.page(late.headers["location"])
    assert UNSENT in page.text
    assert page.form(SIGN_IN).fields["next"] == f"{BOB}?before=9"
    assert len(world.ledger()) == seen


def test_sign_out_ends_the_session(world: World, root: Keeper) -> None:
    """After signing out, a copy of the session cookie is rejected too; other sessions stay."""
    other = open_session(world, "Root")
    answer = root.post("/console/sign-out")
    assert (answer.status, answer.headers["location"]) == (303, SIGN_IN)
    assert "gamekeeper=; Path=/console; Max-Age=0" in answer.headers["set-cookie"]
    assert is_sent_to_sign_in(root.get(SOMEBODY))
    assert not is_sent_to_sign_in(other.get(SOMEBODY))
    assert world.get("/api/v1/players").status == 200


@pytest.mark.parametrize(("ends", "programs"), [("sessions", 200), ("all", 401)])
def test_sign_out_everywhere_ends_the_chosen_tokens(world: World, root: Keeper, ends: str, programs: int) -> None:
    """Signing out everywhere ends by default only the account's sessions. Tokens of other accounts stay."""
    other, clerk = open_session(world, "Root"), open_session(world, "Clerk")
    page = root.page(root.page(SOMEBODY).links["Sign out everywhere"])
    form = page.form(SIGN_OUT, "Sign out everywhere")
    assert form.fields["ends"] == "sessions"
    assert world.get("/api/v1/players").status == 200  # loading the sign-out page ends no session
    answer = root.post(SIGN_OUT, {**form.fields, "ends": ends})
    assert "gamekeeper=; Path=/console; Max-Age=0" in answer.headers["set-cookie"]
    assert is_sent_to_sign_in(root.get(SOMEBODY))
    assert is_sent_to_sign_in(other.get(SOMEBODY))
    assert world.get("/api/v1/players").status == programs
    assert not is_sent_to_sign_in(clerk.get(SOMEBODY))


def test_revoked_role_takes_effect_at_once(world: World, root: Keeper) -> None:
    shop = open_session(world, "Shop")
    assert "Accounts" not in list_titles(shop)
    world.apply(partial(roles.set_powers, key="Shop", powers=people.ACCOUNTS["Clerk"]))
    drop_cached_tokens(world)
    assert "Accounts" in list_titles(shop)
    number = world.ledger()[-1].seq
    assert root.act("POST", f"/api/keeper/v1/changes/{number}/undo").status == 303
    assert "Accounts" not in list_titles(shop)
