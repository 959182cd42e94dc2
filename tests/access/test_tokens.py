"""Tokens: read-only ones, refresh, expiry, sessions of the console, the record of their use, and what is stored."""

import asyncio
from collections.abc import Sequence
from types import SimpleNamespace

import pytest

import people
from expectations import everything, unchanged
from gamekeeper import app
from gamekeeper.game.access import tokens
from gamekeeper.game.access.security_log import CredentialUse
from gamekeeper.game.access.tokens import TokenPair
from gamekeeper.game.core.request import Origin
from gamekeeper.http.server import caller
from gamekeeper.store.access import tokens as stored
from gamekeeper.store.engine.interface import Store
from keepers import get_callers
from proof import refused
from token_pairs import BY_PASSWORD, DAY, FIELDS, MINUTE, exchange, log_in, require_oauth_error, works
from world import PLAYERS, SENT, TOKEN, MakeWorld, World

HOUR = 60 * MINUTE


def stored_ids(world: World, user: str) -> list[str]:
    """Return the public ids of the account's tokens, newest first."""
    return [token.id for token in world.run(stored.read_list(world.keeper.store, people.USER_IDS[user]))]


def test_successor_of_a_read_only_token_cannot_write(world: World) -> None:
    first = log_in(world, "Root", scope="read")
    second = exchange(world, first.json["refresh_token"])
    for token in (first.json["access_token"], second.json["access_token"]):
        assert world.post("/api/v1/users/Ann/password/validate", {"password": SENT}, token=token).status == 200
        with unchanged(world):
            refused(world.call("DELETE", f"{TOKEN}/Root", token=token), 403, "read_only_token")


def test_two_different_authorization_headers_are_400(world: World) -> None:
    """Two Authorization headers are refused, so that the caller never depends on the order of headers."""
    for by, other in (("Root", "Shop"), ("Shop", "Root")):
        added = [("Authorization", f"Bearer {world.tokens[other]}")]
        answer = world.get("/api/v1/users", by=by, added=added)
        refused(answer, 400, "repeated_field")
    assert world.get("/api/v1/users", added=[("Authorization", f"Bearer {world.tokens['Root']}")]).status == 200


def test_access_token_expires_in_time_also_in_the_cache(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = SimpleNamespace(monotonic=lambda: 1000.0)
    monkeypatch.setattr(caller, "time", clock)
    for milliseconds, active in ((HOUR, False), (HOUR - 1000, True)):
        pair = log_in(world)
        sql = "UPDATE tokens SET access_expires = access_expires - $1 WHERE id = $2"
        world.sql(sql, milliseconds, stored_ids(world, "Shop")[0])
        assert works(world, pair) is active  # the second one is cached now, but only for the second until it expires
    world.sql("UPDATE tokens SET access_expires = 0")
    clock.monotonic = lambda: 1001.1
    assert not works(world, pair)


def test_database_contains_no_token_text_and_a_stolen_hash_is_no_token(world: World) -> None:
    first = log_in(world)
    second = exchange(world, first.json["refresh_token"])
    third = log_in(world, "Root", scope="read")
    works(world, second)
    text = repr(everything(world)).lower()
    for pair in (first, second, third):
        access, refresh = pair.json["access_token"].lower(), pair.json["refresh_token"]
        assert all(each not in text for each in (access, access[4:], refresh, refresh.replace("-", "")))
    assert people.USER_IDS["Shop"] in text  # the account's id proves that the text is a dump of the database
    for (stolen,) in world.sql("SELECT refresh_hash FROM tokens WHERE refresh_hash IS NOT NULL"):
        require_oauth_error(exchange(world, stolen), "invalid_grant")


# --- refresh -------------------------------------------------------------------------------------------------------


def age_exchange(world: World, seconds: int) -> None:
    world.sql("UPDATE tokens SET exchanged_at = exchanged_at - $1", seconds * 1000)


def test_refresh_issues_a_new_pair_and_expires(world: World) -> None:
    first = log_in(world)
    second = exchange(world, first.json["refresh_token"])
    assert (second.status, list(second.json)) == (200, FIELDS)
    assert second.json["refresh_token"] != first.json["refresh_token"]
    assert second.json["access_token"] != first.json["access_token"]
    assert works(world, second)
    assert works(world, first)
    assert exchange(world, second.json["refresh_token"]).status == 200
    token = log_in(world).json["refresh_token"]
    assert exchange(world, token.upper().replace("-", "")).status == 200
    token = log_in(world).json["refresh_token"]
    world.sql("UPDATE tokens SET refresh_expires = refresh_expires - $1", 7 * DAY)
    require_oauth_error(exchange(world, token), "invalid_grant")


@pytest.mark.both_engines
@pytest.mark.parametrize(("setting", "seconds"), [({}, 20), ({"refresh_grace_seconds": 9}, 6)])
def test_exchanged_refresh_token_works_in_the_grace_period_and_not_longer_by_reuse(
    make_world: MakeWorld, setting: dict[str, int], seconds: int
) -> None:
    world = make_world(**setting)
    token = log_in(world).json["refresh_token"]
    for _ in range(2):
        assert exchange(world, token).status == 200
        age_exchange(world, seconds)
    require_oauth_error(exchange(world, token), "invalid_grant")


@pytest.mark.both_engines
def test_reuse_after_the_grace_period_revokes_the_family(world: World) -> None:
    first, stranger = log_in(world), log_in(world)
    second = exchange(world, first.json["refresh_token"])
    third = exchange(world, second.json["refresh_token"])
    assert all(works(world, each) for each in (first, second, third))
    age_exchange(world, 31)
    require_oauth_error(exchange(world, first.json["refresh_token"]), "invalid_grant")
    assert not any(works(world, each) for each in (first, second, third))
    require_oauth_error(exchange(world, third.json["refresh_token"]), "invalid_grant")
    assert works(world, stranger)


@pytest.mark.both_engines
def test_concurrent_refreshes_with_one_token_both_get_a_pair(make_world: MakeWorld) -> None:
    first, second = make_world(), make_world()
    body = {"grant_type": "refresh_token", "refresh_token": log_in(first).json["refresh_token"]}
    answers = first.at_once([world.send("POST", TOKEN, body=body, by=None) for world in (first, second) * 2])
    assert [answer.status for answer in answers] == [200] * 4
    assert len({answer.json["access_token"] for answer in answers}) == 4


@pytest.mark.both_engines
def test_refresh_concurrent_with_a_revocation_leaves_no_active_token(make_world: MakeWorld) -> None:
    one, two = make_world(), make_world()

    async def race() -> None:
        pair = (await one.send("POST", TOKEN, by=None, body=BY_PASSWORD)).json
        refresh = {"grant_type": "refresh_token", "refresh_token": pair["refresh_token"]}
        refreshing = one.send("POST", TOKEN, by=None, body=refresh)
        await asyncio.gather(refreshing, two.send("DELETE", f"{TOKEN}/Shop"))

    for _ in range(15):
        one.run(race())
        issued = one.sql(
            "SELECT COUNT(*) FROM tokens t WHERE t.user_id = $1 AND t.revoked_at IS NULL "
            "AND EXISTS (SELECT 1 FROM tokens o WHERE o.family_id = t.family_id AND o.revoked_at IS NOT NULL)",
            people.USER_IDS["Shop"],
        )
        assert issued == [(0,)]


# --- sessions of the console ---------------------------------------------------------------------------------------


def sign_in(world: World) -> TokenPair:
    return world.run(tokens.log_in(world.keeper, "Clerk", SENT, Origin("127.0.0.1"), session=True))


def works_later(world: World, session: TokenPair, milliseconds: int) -> bool:
    """Make the session older, and use it if it is still active."""
    for column in ("issued_at", "access_expires", "last_used"):
        world.sql(f"UPDATE tokens SET {column} = {column} - $1 WHERE id = $2", milliseconds, session.id)  # noqa: S608 - ours
    get_callers(world).clear_cache()
    answer = world.get(PLAYERS, token=session.access)
    assert answer.status in {200, 401}
    write_down(world)
    return answer.status == 200


def test_session_expires_after_inactivity_or_its_maximum_lifetime(make_world: MakeWorld) -> None:
    for idle_minutes, hours, waits in ((10, 12, (9, 9, 10)), (60, 2, (59, 59, 2))):
        world = make_world(console_idle_minutes=idle_minutes, console_hours=hours)
        session = sign_in(world)
        assert [works_later(world, session, minutes * MINUTE) for minutes in waits] == [True, True, False]


def test_session_token_cannot_be_refreshed(world: World) -> None:
    pair = sign_in(world)
    assert (pair.refresh, pair.expires_at - pair.issued_at) == (None, 12 * HOUR)
    sql = "SELECT refresh_hash, refresh_expires - issued_at, idle_ms FROM tokens WHERE id = $1"
    [(refresh, refreshable_ms, idle_ms)] = world.sql(sql, pair.id)
    assert (refresh, idle_ms) == (None, HOUR)
    assert 0 <= refreshable_ms < MINUTE  # the clock is read twice


# --- record of the last use ----------------------------------------------------------------------------------------


def last_use(world: World, name: str) -> int | None:
    """Return the stored time of the last use of the account's test token."""
    return world.sql("SELECT last_used FROM tokens WHERE access_hash = $1", tokens.hash_token(world.tokens[name]))[0][0]


def write_down(world: World) -> None:
    """Store the collected times of token uses, as the background job does every half minute."""
    world.run(get_callers(world).note_use())


def test_token_use_is_stored_later_also_of_a_refused_request(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(world.keeper.store, "write", None)  # no use, no write
        write_down(world)
    assert world.get("/api/v1/players").status == 200
    assert world.get("/api/v1/users", by="Shop").status == 403
    assert world.get("/api/v1/users", token="gka_wrong").status == 401
    assert world.sql("SELECT id FROM tokens WHERE last_used IS NOT NULL") == []
    write_down(world)
    assert None not in {last_use(world, "Root"), last_use(world, "Shop")}
    assert world.sql("SELECT COUNT(*) FROM tokens WHERE last_used IS NOT NULL") == [(2,)]
    for ago, again in ((MINUTE // 2, False), (MINUTE + 1, True)):  # at most once a minute
        world.sql("UPDATE tokens SET last_used = last_used - $1 WHERE last_used IS NOT NULL", ago)
        before = last_use(world, "Root")
        get_callers(world).clear_cache()
        assert world.get("/api/v1/players").status == 200
        write_down(world)
        assert (last_use(world, "Root") != before) is again


@pytest.mark.both_engines
def test_two_instances_store_uses_concurrently(make_world: MakeWorld) -> None:
    worlds = [make_world() for _ in range(2)]
    for name in ("Root", "Shop", "Clerk"):
        for world in worlds:
            assert world.get("/api/v1/players", by=name).status == 200

    async def both(stores: Sequence[Store], uses: Sequence[list[CredentialUse]]) -> None:
        await asyncio.gather(*(tokens.note_use(store, each) for store, each in zip(stores, uses, strict=True)))

    worlds[0].run(both([each.keeper.store for each in worlds], [get_callers(each).take_uses() for each in worlds]))
    used = {name for name in ("Root", "Shop", "Clerk", "Server") if last_use(worlds[0], name) is not None}
    assert used == {"Root", "Shop", "Clerk"}


def test_shutdown_stores_collected_uses(world: World, loop: asyncio.AbstractEventLoop) -> None:
    assert world.get("/api/v1/players").status == 200
    keeper = app.build_keeper(world.keeper.settings)
    upkeep = app.BackgroundJobs(app.build_services(keeper, get_callers(world)))
    loop.run_until_complete(upkeep.start())
    loop.run_until_complete(upkeep.stop())
    assert last_use(world, "Root") is not None
