"""Token pairs without the HTTP layer: their form, their lifetime, and what the database stores."""

import hashlib

import pytest

import people
from gamekeeper.game.access import tokens
from gamekeeper.game.access.tokens import TokenPair
from gamekeeper.game.core import lookup
from gamekeeper.game.core.request import Origin
from gamekeeper.ground.instants import DAY_MS, HOUR_MS
from world import SENT, MakeWorld, World

STORED = "id, family_id, user_id, access_hash, refresh_hash, read_only, issued_at, access_expires, refresh_expires"


def log_in(world: World, name: str = "Root", sent: str = SENT, *, read_only: bool = False) -> TokenPair:
    return world.run(tokens.log_in(world.keeper, name, sent, Origin("192.0.2.1"), read_only=read_only))


def stored(world: World, pair: TokenPair) -> dict[str, object]:
    row = world.sql(f"SELECT {STORED} FROM tokens WHERE id = $1", pair.id)[0]  # noqa: S608 - our own columns
    return dict(zip(STORED.split(", "), row, strict=True))


def sha(text: str | None) -> str | None:
    return text and hashlib.sha256(text.encode()).hexdigest()


@pytest.mark.parametrize("read_only", [False, True])
def test_lifetime_of_a_pair_comes_from_the_settings(make_world: MakeWorld, read_only: bool) -> None:  # noqa: FBT001 - a case
    world = make_world(access_minutes=7, refresh_days=3)
    pair = log_in(world, read_only=read_only)
    row = stored(world, pair)
    assert pair.expires_at - pair.issued_at == 7 * 60_000
    assert abs(int(str(row["access_expires"])) - pair.expires_at) <= 1000
    assert abs(int(str(row["refresh_expires"])) - pair.issued_at - 3 * DAY_MS) <= 1000
    assert (row["access_hash"], row["refresh_hash"]) == (sha(pair.access), sha(pair.refresh))
    assert (row["user_id"], bool(row["read_only"])) == (people.USER_IDS["Root"], read_only)
    assert len({row["id"], row["family_id"], pair.refresh}) == 3


@pytest.mark.parametrize("read_only", [False, True])
def test_service_token_has_its_hours_and_no_refresh_token(world: World, read_only: bool) -> None:  # noqa: FBT001 - a case
    root = world.run(lookup.find_user(world.keeper.store, "Root"))
    pair = world.run(tokens.issue_for_service(world.keeper, root, 5, read_only=read_only))
    row = stored(world, pair)
    assert (pair.refresh, row["refresh_hash"]) == (None, None)
    assert pair.expires_at - pair.issued_at == 5 * HOUR_MS
    assert abs(int(str(row["access_expires"])) - pair.expires_at) <= 1000
    assert abs(int(str(row["refresh_expires"])) - int(str(row["issued_at"]))) <= 1000
    assert row["family_id"] == row["id"] == pair.id
    assert bool(row["read_only"]) is read_only
