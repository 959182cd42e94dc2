"""The refresh grant: tokens rotate with a grace period, and reuse revokes the token family."""

import asyncio
from collections.abc import Callable

import pytest

import people
from proof import at_once
from token_pairs import BY_PASSWORD, DAY, FIELDS, TOKEN, exchange, log_in, require_oauth_error, works
from world import World


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


def test_exchanged_refresh_token_works_for_thirty_seconds_and_not_longer_by_reuse(world: World) -> None:
    token = log_in(world).json["refresh_token"]
    exchange(world, token)
    age_exchange(world, 25)
    assert works(world, exchange(world, token))
    token = log_in(world).json["refresh_token"]
    for _ in range(2):
        assert exchange(world, token).status == 200
        age_exchange(world, 20)
    require_oauth_error(exchange(world, token), "invalid_grant")


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


def test_grace_period_is_a_setting(make_world: Callable[..., World]) -> None:
    world = make_world(refresh_grace_seconds=0)
    token = log_in(world).json["refresh_token"]
    assert exchange(world, token).status == 200
    age_exchange(world, 1)
    require_oauth_error(exchange(world, token), "invalid_grant")


@pytest.mark.both_engines
def test_concurrent_refreshes_with_one_token_both_get_a_pair(make_world: Callable[..., World]) -> None:
    first, second = make_world(), make_world()
    body = {"grant_type": "refresh_token", "refresh_token": log_in(first).json["refresh_token"]}
    answers = at_once(first, [world.send("POST", TOKEN, body=body, by=None) for world in (first, second) * 2])
    assert [answer.status for answer in answers] == [200] * 4
    assert len({answer.json["access_token"] for answer in answers}) == 4


@pytest.mark.both_engines
def test_refresh_concurrent_with_a_revocation_leaves_no_active_token(make_world: Callable[..., World]) -> None:
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
