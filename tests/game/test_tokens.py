"""Token pairs without the HTTP layer: their form, their lifetime, and what the database stores."""

import hashlib
import re
from collections.abc import Callable

import pytest

import people
from gamekeeper.game.access import tokens
from gamekeeper.game.access.security_log import Origin
from gamekeeper.game.access.tokens import TokenPair
from gamekeeper.game.core.refusals import AccountBanned, InvalidGrant, UnauthorizedClient
from gamekeeper.store.accounts import users
from gamekeeper.store.accounts.users import User
from proof import rows
from world import SENT, World

HOUR_MS, DAY_MS = 3_600_000, 86_400_000
STORED = "id, family_id, user_id, access_hash, refresh_hash, read_only, issued_at, access_expires, refresh_expires"


def user(world: World, name: str) -> User:
    found = world.run(users.find_by_fold(world.keeper.store, name.lower()))
    assert found
    return found


def log_in(world: World, name: str = "Root", sent: str = SENT, *, read_only: bool = False) -> TokenPair:
    return world.run(tokens.log_in(world.keeper, name, sent, Origin("192.0.2.1"), read_only=read_only))


def refresh(world: World, token: str) -> tuple[TokenPair | None, int]:
    """Refresh a token; return the new pair, if any, and how often the revocation of its token family was reported."""
    told: list[None] = []
    try:
        return world.run(tokens.refresh(world.keeper, token, lambda: told.append(None))), len(told)
    except InvalidGrant:
        return None, len(told)


def stored(world: World, pair: TokenPair) -> dict[str, object]:
    row = world.sql(f"SELECT {STORED} FROM tokens WHERE id = $1", pair.id)[0]  # noqa: S608 - our own columns
    return dict(zip(STORED.split(", "), row, strict=True))


def sha(text: str | None) -> str | None:
    return text and hashlib.sha256(text.encode()).hexdigest()


def test_access_tokens_are_long_and_differ(world: World) -> None:
    texts = {log_in(world).access for _ in range(3)}
    assert len(texts) == 3
    assert all(re.fullmatch(r"gka_[A-Za-z0-9_-]{43}", text) for text in texts)


@pytest.mark.parametrize("read_only", [False, True])
def test_lifetime_of_a_pair_comes_from_the_settings(make_world: Callable[..., World], read_only: bool) -> None:  # noqa: FBT001 - a case
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
    pair = world.run(tokens.issue_for_service(world.keeper, user(world, "Root"), 5, read_only=read_only))
    row = stored(world, pair)
    assert (pair.refresh, row["refresh_hash"]) == (None, None)
    assert pair.expires_at - pair.issued_at == 5 * HOUR_MS
    assert abs(int(str(row["access_expires"])) - pair.expires_at) <= 1000
    assert abs(int(str(row["refresh_expires"])) - int(str(row["issued_at"]))) <= 1000
    assert row["family_id"] == row["id"] == pair.id
    assert bool(row["read_only"]) is read_only


def test_right_password_costs_no_guess_and_a_wrong_one_costs_one(world: World) -> None:
    log_in(world)
    assert rows(world, "guesses") == []
    for name in ("Root", "Nobody", "no name at all"):
        before = len(rows(world, "guesses"))
        with pytest.raises(InvalidGrant):
            log_in(world, name, "ab" * 32)
        assert len(rows(world, "guesses")) == before + 1


def test_right_password_makes_the_address_known_to_the_account(world: World) -> None:
    log_in(world)
    assert world.sql("SELECT user_id, caller FROM known_callers") == [(people.USER_IDS["Root"], "192.0.2.1")]


def test_account_without_api_access_gets_no_pair(world: World) -> None:
    kept = rows(world, "tokens")
    with pytest.raises(UnauthorizedClient, match="Ann"):
        log_in(world, "Ann")
    assert rows(world, "tokens") == kept


def test_refreshed_pair_has_the_same_family_and_account(world: World) -> None:
    first = log_in(world, read_only=True)
    second, told = refresh(world, first.refresh or "")
    assert second
    assert told == 0
    ours, theirs = stored(world, first), stored(world, second)
    for name in ("family_id", "user_id", "read_only"):
        assert ours[name] == theirs[name]
    assert len({first.access, second.access, first.refresh, second.refresh, first.id, second.id}) == 6


def test_grace_period_ends_at_its_last_millisecond(world: World) -> None:
    pair = log_in(world)
    assert refresh(world, pair.refresh or "")[0]
    for more, good in ((25_000, True), (5_001, False)):
        world.sql("UPDATE tokens SET exchanged_at = exchanged_at - $1 WHERE id = $2", more, pair.id)
        again, told = refresh(world, pair.refresh or "")
        assert (again is not None, told) == ((True, 0) if good else (False, 1))
    family = stored(world, pair)["family_id"]
    assert world.sql("SELECT COUNT(*) FROM tokens WHERE family_id = $1 AND revoked_at IS NULL", family)[0][0] == 0


def test_refresh_without_api_access_names_the_account(world: World) -> None:
    pair = log_in(world)
    world.sql("UPDATE users SET api = $1 WHERE id = $2", False, people.USER_IDS["Root"])
    with pytest.raises(UnauthorizedClient, match="Root"):
        refresh(world, pair.refresh or "")


@pytest.mark.parametrize("token", ["", "no guid", people.NOBODY_ID])
def test_invalid_refresh_token_revokes_nothing(world: World, token: str) -> None:
    log_in(world)
    kept = rows(world, "tokens")
    assert refresh(world, token) == (None, 0)
    assert rows(world, "tokens") == kept


def test_banned_account_gets_no_token_of_any_kind(world: World) -> None:
    pair, shop = log_in(world, "Shop"), user(world, "Shop")
    world.post("/api/v1/users/Shop/admin/ban", {"reason": "spam"})
    with pytest.raises(AccountBanned):
        log_in(world, "Shop")
    with pytest.raises(AccountBanned):
        world.run(tokens.issue_for_service(world.keeper, shop, 1, read_only=True))
    assert refresh(world, pair.refresh or "") == (None, 0)
