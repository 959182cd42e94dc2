"""The token of a console session: it expires after inactivity and after a maximum lifetime."""

from collections.abc import Callable

import pytest

from expectations import refused
from gamekeeper.game import tokens
from gamekeeper.game.security import CredentialUse, Origin
from gamekeeper.http import caller
from world import SENT, World

MINUTE, HOUR = 60_000, 3_600_000
ANN = "/api/v1/players/Ann"


@pytest.fixture(autouse=True)
def unbelieving(monkeypatch: pytest.MonkeyPatch) -> None:
    """Turn off the token cache, so that every request reads the token from the database."""
    monkeypatch.setattr(caller, "CACHE_SECONDS", 0.0)


def sign_in(world: World) -> str:
    return world.run(tokens.log_in(world.keeper, "Clerk", SENT, Origin("127.0.0.1"), session=True)).access


def later(world: World, milliseconds: int) -> None:
    """Make all tokens older by this many milliseconds."""
    for column in ("issued_at", "access_expires", "last_used"):
        world.sql(f"UPDATE tokens SET {column} = {column} - $1", milliseconds)  # noqa: S608 - a name of the test's own


def use(world: World) -> None:
    [(token_id, user_id)] = world.sql("SELECT id, user_id FROM tokens WHERE idle_ms IS NOT NULL")
    world.run(tokens.note_use(world.keeper.store, [CredentialUse(token_id, user_id, user_id, "127.0.0.1")]))


def test_session_expires_after_inactivity(make_world: Callable[..., World]) -> None:
    world = make_world(console_idle_minutes=10)
    token = sign_in(world)
    later(world, 9 * MINUTE)
    assert world.get(ANN, token=token).status == 200
    use(world)
    later(world, 9 * MINUTE)
    assert world.get(ANN, token=token).status == 200
    later(world, MINUTE)
    refused(world.get(ANN, token=token), 401, "denied")
    assert world.get(ANN, by="Root").status == 200  # the token of a program does not expire by inactivity


def test_session_expires_after_its_maximum_lifetime(make_world: Callable[..., World]) -> None:
    world = make_world(console_idle_minutes=60, console_hours=2)
    token = sign_in(world)
    for _ in range(2):
        later(world, HOUR - MINUTE)
        use(world)
        assert world.get(ANN, token=token).status == 200
    later(world, 2 * MINUTE)
    refused(world.get(ANN, token=token), 401, "denied")


def test_session_token_cannot_be_refreshed(world: World) -> None:
    pair = world.run(tokens.log_in(world.keeper, "Clerk", SENT, Origin("127.0.0.1"), session=True))
    assert pair.refresh is None
    assert pair.expires_at - pair.issued_at == 12 * HOUR
    sql = "SELECT refresh_hash, refresh_expires - issued_at, idle_ms FROM tokens WHERE id = $1"
    [(refresh, refreshable_ms, idle_ms)] = world.sql(sql, pair.id)
    assert (refresh, idle_ms) == (None, 60 * MINUTE)
    assert 0 <= refreshable_ms < MINUTE  # the clock is read twice
