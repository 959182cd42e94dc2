"""Tokens: read-only tokens, the Authorization header, expiry, and what the database stores of them."""

from types import SimpleNamespace
from typing import NamedTuple

import pytest

import people
from expectations import everything
from gamekeeper.http import caller
from gamekeeper.store import tokens as stored
from proof import refused
from token_pairs import MINUTE, PLAYERS, TOKEN, exchange, log_in, require_oauth_error, works
from world import SENT, World


def public_ids(world: World, user: str) -> list[str]:
    """Return the public ids of the account's tokens, newest first."""
    return [token.id for token in world.run(stored.read_list(world.keeper.store, people.USER_IDS[user]))]


def age(world: World, token_id: str, milliseconds: int) -> None:
    world.sql("UPDATE tokens SET access_expires = access_expires - $1 WHERE id = $2", milliseconds, token_id)


def test_read_only_token_cannot_write_nor_its_successor(world: World) -> None:
    first = log_in(world, "Root", scope="read")
    second = exchange(world, first.json["refresh_token"])
    read_only = (first.json["access_token"], second.json["access_token"])
    for token in read_only:
        validate = world.post("/api/v1/users/Ann/password/validate", {"password": SENT}, token=token)
        assert validate.status == 200
    before = everything(world)
    for token in read_only:
        for method, path in (("GET", PLAYERS), ("POST", f"{PLAYERS}/online"), ("POST", "/api/v1/users")):
            assert world.call(method, path, token=token).status == 200, path
        for method, path in (
            ("GET", "/api/v1/users/Ann/password/reset"),
            ("POST", "/api/v1/users/register"),
            ("DELETE", f"{TOKEN}/Root"),
        ):
            message = "This token can only read. Use a token that can write."
            refused(world.call(method, path, token=token), 403, "read_only_token", message)
    assert everything(world) == before


def test_two_different_authorization_headers_are_400(world: World) -> None:
    """Two Authorization headers are refused, so that the caller never depends on the order of headers."""
    for by, other in (("Root", "Shop"), ("Shop", "Root")):
        added = [("Authorization", f"Bearer {world.tokens[other]}")]
        answer = world.get("/api/v1/users", by=by, added=added)
        refused(answer, 400, "repeated_field", "The field 'Authorization' occurs more than once; send it once.")
    assert world.get("/api/v1/users", added=[("Authorization", f"Bearer {world.tokens['Root']}")]).status == 200


def test_access_token_expires_in_time_also_in_the_cache(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    old, young = log_in(world), log_in(world)
    newest, older = public_ids(world, "Shop")[:2]
    age(world, older, 60 * MINUTE)
    age(world, newest, 59 * MINUTE)
    assert sorted((works(world, old), works(world, young))) == [False, True]
    clock = SimpleNamespace(monotonic=lambda: 1000.0)
    monkeypatch.setattr(caller, "time", clock)
    pair = log_in(world)
    age(world, public_ids(world, "Shop")[0], 60 * MINUTE - 1000)
    assert works(world, pair)  # the token is cached now, but only for the second until it expires
    world.sql("UPDATE tokens SET access_expires = 0")
    clock.monotonic = lambda: 1001.1
    assert not works(world, pair)


class Client(NamedTuple):
    address: str


def test_token_cache_is_keyed_by_digest(world: World) -> None:
    """The cache has one entry per token in any spelling of the header, and no token text in memory."""
    callers, token = caller.Callers(world.keeper.store), world.tokens["Shop"]
    client = Client("192.0.2.1")
    for header in (f"Bearer {token}", f"bearer {token}", f"BEARER   {token}", f" Bearer {token} "):
        assert world.run(callers.find_caller(header.encode(), client)).name == "Shop"
    assert callers.cached_tokens == 1
    assert token not in repr(vars(callers))


def test_database_contains_no_token_text(world: World) -> None:
    first = log_in(world)
    second = exchange(world, first.json["refresh_token"])
    third = log_in(world, "Root", scope="read")
    works(world, second)
    text = repr(everything(world)).lower()
    for pair in (first, second, third):
        access, refresh = pair.json["access_token"].lower(), pair.json["refresh_token"]
        assert all(each not in text for each in (access, access[4:], refresh, refresh.replace("-", "")))
    assert people.USER_IDS["Shop"] in text  # the account's id proves that the text is a dump of the database


def test_stolen_hash_is_not_a_token(world: World) -> None:
    log_in(world)
    access_hash, refresh_hash = world.sql(
        "SELECT access_hash, refresh_hash FROM tokens WHERE refresh_hash IS NOT NULL"
    )[0]
    refused(world.get(PLAYERS, token=access_hash), 401, "denied")
    refused(world.get(PLAYERS, token=f"gka_{access_hash}"), 401, "denied")
    require_oauth_error(exchange(world, refresh_hash), "invalid_grant")
