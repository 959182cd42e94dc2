"""Conditional reads: which answers have a tag, who may keep them, and what If-None-Match gets."""

import pytest

import people
from gamekeeper.http import tags
from gamekeeper.http.operation import NO_STORE, READ
from gamekeeper.http.routes import ROUTES
from world import Answer, World

PLAYERS, USERS = "/api/v1/players", "/api/v1/users"
KEPT = [
    f"{PLAYERS}/Ann",
    f"{PLAYERS}/{people.ANN.id}",
    PLAYERS,
    f"{PLAYERS}/rank",
    f"{PLAYERS}/online",
    f"{PLAYERS}/Ann/items",
    f"{PLAYERS}/Ann/variables",
    f"{PLAYERS}/Ann/spells",
    f"{USERS}/Ann/players",
    "/api/openapi.json",
    "/api/docs",
    "/api/docs/docs.js",
]
SECRET = [(USERS, "Root"), (f"{USERS}/Ann", "Root"), (f"{USERS}/Ann/password/reset", "Clerk")]
TAG = b'"abc"'


def tag_of(answer: Answer) -> str:
    """Of an answer that its caller may keep and must ask about."""
    assert answer.headers["cache-control"] == "private, no-cache"
    assert answer.headers["vary"] == "authorization"
    return answer.headers["etag"]


def ask(world: World, path: str, tag: str, **more: str) -> Answer:
    return world.get(path, headers={"If-None-Match": tag}, **more)


def same(answer: Answer, tag: str) -> bool:
    if answer.status != 304:
        return False
    assert (answer.raw, tag_of(answer)) == (b"", tag)
    assert not {"content-type", "content-length"} & answer.headers.keys()
    return True


# --- answers ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", KEPT)
def test_an_answer_that_is_held_already_is_not_sent_again(world: World, path: str) -> None:
    first = world.get(path)
    assert first.status == 200
    assert same(ask(world, path, tag_of(first)), tag_of(first))
    other = ask(world, path, '"other"')
    assert (other.status, other.raw, tag_of(other)) == (200, first.raw, tag_of(first))


@pytest.mark.parametrize("path", [USERS, f"{USERS}/Ann"])
def test_an_account_is_kept_by_those_who_see_no_codes(world: World, path: str) -> None:
    tag = tag_of(world.get(path, by="Clerk"))
    assert same(ask(world, path, tag, by="Clerk"), tag)
    seen = ask(world, path, tag, by="Root")
    assert (seen.status, seen.headers["cache-control"], "etag" in seen.headers) == (200, "no-store", False)


@pytest.mark.parametrize(("path", "by"), SECRET)
def test_what_may_hold_a_secret_is_kept_by_nobody(world: World, path: str, by: str) -> None:
    world.get(f"{USERS}/Ann/password/reset")
    answer = ask(world, path, "*", by=by)
    assert (answer.status, answer.headers["cache-control"]) == (200, "no-store")
    assert not {"etag", "vary"} & answer.headers.keys()


def test_writes_and_refusals_are_kept_by_nobody(world: World) -> None:
    gift = {"itemid": people.COIN.id, "quantity": 1}
    written = world.post(f"{PLAYERS}/Ann/items/give", gift, headers={"If-None-Match": "*"})
    refused = [ask(world, f"{PLAYERS}/Nobody", "*"), world.get(f"{PLAYERS}/Ann", by=None), ask(world, "/nowhere", "*")]
    assert [each.status for each in (written, *refused)] == [200, 404, 401, 404]
    for each in (written, *refused):
        assert (each.headers["cache-control"], "etag" in each.headers) == ("no-store", False)


def test_only_what_is_got_and_only_reads_may_be_kept() -> None:
    assert {(each.method, each.access) for each in ROUTES if each.cache is not NO_STORE} == {("GET", READ)}


def test_a_change_of_the_record_or_its_tail_has_another_tag(world: World) -> None:
    path, seen = f"{PLAYERS}/Ann", list[str]()
    changes: list[tuple[str, str, object]] = [
        ("GET", path, None),
        ("PUT", f"/api/link/v1/players/{people.ANN.id}", {"Level": 13}),
        ("PUT", "/api/link/v1/catalogue/classes", [{"Id": people.WARRIOR.id, "Name": "Knight"}]),
        ("PUT", "/api/link/v1/servers/realm1", {"Lease": 60}),
        ("POST", "/api/link/v1/servers/realm1/joined", {"Players": [people.ANN.id]}),
    ]
    for method, target, body in changes:
        assert world.call(method, target, body=body).status == 200
        seen.append(tag_of(world.get(path)))
    assert len(set(seen)) == 4  # a lease alone changes nobody
    assert not same(ask(world, path, ", ".join(seen[:-2])), seen[-1])
    assert same(ask(world, path, ", ".join(seen)), seen[-1])


def test_the_tag_is_of_the_bytes_alone() -> None:
    """Every instance says the same, today and after a restart."""
    assert tags.of(b'{"status":"live"}') == b'"290f663cc2ed7fec14d831023497265d"'
    assert tags.of(b"") != tags.of(b"\0")


# --- If-None-Match ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "given",
    [
        b'"abc"',
        b'W/"abc"',
        b' \t"abc"\t ',
        b'"x", "abc"',
        b'"x","abc","y"',
        b', ,"x" , W/"abc",',
        b'"a,b", "abc"',
        b'"", "\xfc", "abc"',
        b"*",
        b" * ",
    ],
)
def test_a_tag_is_found_weak_or_strong_alone_or_in_a_list(given: bytes) -> None:
    assert tags.among(TAG, given)


@pytest.mark.parametrize(
    "given",
    [
        None,
        b"",
        b"abc",
        b'"ABC"',
        b'"x, "abc"',
        b'"abc',
        b'w/"abc"',
        b'W /"abc"',
        b'"abc", x',
        b'"abc" "x"',
        b'"abc""x"',
        b'"abc"; "x"',
        b'*, "abc"',
        b'"x", "abc" y',
        b'"a c", "abc"',
        b'"\x00", "abc"',
        b"," * 100_000 + b"x",
        b" " * 100_000 + b"x",
        b", " * 50_000 + b'"',
    ],
)
def test_another_tag_and_a_malformed_header_match_nothing(given: bytes | None) -> None:
    assert not tags.among(TAG, given)
