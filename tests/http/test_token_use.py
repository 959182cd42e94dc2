"""The last use of a token: stored apart from the requests, at most once a minute, shown on the command line."""

import asyncio
from collections.abc import Callable, Sequence
from types import SimpleNamespace

import pytest

from gamekeeper import app
from gamekeeper.game import tokens
from gamekeeper.game.security import CredentialUse
from gamekeeper.http import caller
from gamekeeper.http.caller import Callers
from gamekeeper.store.engine import Store
from world import World

MINUTE = 60_000


def last_use(world: World, name: str) -> int | None:
    """Return the stored time of the last use of the account's test token."""
    found = world.sql("SELECT last_used FROM tokens WHERE access_hash = $1", tokens.hash_token(world.tokens[name]))
    return found[0][0]


def callers_of(world: World) -> Callers:
    return world.asgi.services.callers


def write_down(world: World) -> None:
    """Store the collected times of token uses, as the background job does every half minute."""
    world.run(app.BackgroundJobs(world.keeper, callers_of(world), []).note_use())


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
        assert is_stored_again(world, ago) is again


def is_stored_again(world: World, ago: int) -> bool:
    """Return whether a token's use is stored when the last one was stored `ago` milliseconds earlier."""
    write_down(world)
    world.sql(f"UPDATE tokens SET last_used = last_used - {ago} WHERE last_used IS NOT NULL")  # noqa: S608 - ours
    before = last_use(world, "Root")
    callers_of(world).clear_cache()
    assert world.get("/api/v1/players").status == 200
    write_down(world)
    return last_use(world, "Root") != before


def test_token_is_looked_up_and_its_use_collected_once_in_a_few_seconds(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(caller, "time", SimpleNamespace(monotonic=lambda: 1000.0))
    callers = callers_of(world)
    for _ in range(5):
        assert world.get("/api/v1/players").status == 200
    assert len(callers.take_uses()) == 1
    assert world.get("/api/v1/players").status == 200
    assert callers.take_uses() == []  # no use was collected: the request was answered from the token cache
    assert caller.CACHE_SECONDS < app.NOTE_USE_SECONDS


@pytest.mark.both_engines
def test_two_instances_store_uses_concurrently(make_world: Callable[..., World]) -> None:
    worlds = [make_world() for _ in range(2)]
    for name in ("Root", "Shop", "Clerk"):
        for world in worlds:
            assert world.get("/api/v1/players", by=name).status == 200

    async def both(stores: Sequence[Store], uses: Sequence[list[CredentialUse]]) -> None:
        await asyncio.gather(*(tokens.note_use(store, each) for store, each in zip(stores, uses, strict=True)))

    stores = [each.keeper.store for each in worlds]
    worlds[0].run(both(stores, [callers_of(each).take_uses() for each in worlds]))
    assert [last_use(worlds[0], name) is not None for name in ("Root", "Shop", "Clerk", "Server")] == [True] * 3 + [
        False
    ]


def test_shutdown_stores_collected_uses(world: World, loop: asyncio.AbstractEventLoop) -> None:
    assert world.get("/api/v1/players").status == 200
    keeper = app.build_keeper(world.keeper.settings)
    upkeep = app.BackgroundJobs(keeper, callers_of(world), [])
    loop.run_until_complete(upkeep.start())
    loop.run_until_complete(upkeep.stop())
    assert last_use(world, "Root") is not None
