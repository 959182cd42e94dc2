"""Conditional reads: which answers have an ETag, who may cache them, and how If-None-Match is matched."""

import re
from pathlib import Path

import pytest

import people
from gamekeeper.http import etags
from gamekeeper.http.operation import NO_STORE, READ
from gamekeeper.http.routes import ROUTES
from world import Answer, World

PLAYERS, USERS = "/api/v1/players", "/api/v1/users"
DECISIONS = Path(__file__).parents[2] / "docs" / "decisions" / "answers.md"
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
    """Return the ETag of an answer that may be cached privately and must be revalidated."""
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


# --- which answers have an ETag ------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", KEPT)
def test_matching_etag_is_answered_with_304(shared_world: World, path: str) -> None:
    first = shared_world.get(path)
    assert first.status == 200
    assert same(ask(shared_world, path, tag_of(first)), tag_of(first))
    other = ask(shared_world, path, '"other"')
    assert (other.status, other.raw, tag_of(other)) == (200, first.raw, tag_of(first))


@pytest.mark.parametrize("path", [USERS, f"{USERS}/Ann"])
def test_account_is_cacheable_for_callers_who_see_no_reset_codes(shared_world: World, path: str) -> None:
    tag = tag_of(shared_world.get(path, by="Clerk"))
    assert same(ask(shared_world, path, tag, by="Clerk"), tag)
    seen = ask(shared_world, path, tag, by="Root")
    assert (seen.status, seen.headers["cache-control"], "etag" in seen.headers) == (200, "no-store", False)


@pytest.mark.parametrize(("path", "by"), SECRET)
def test_answer_that_may_contain_a_secret_is_not_cacheable(world: World, path: str, by: str) -> None:
    world.get(f"{USERS}/Ann/password/reset")
    answer = ask(world, path, "*", by=by)
    assert (answer.status, answer.headers["cache-control"]) == (200, "no-store")
    assert not {"etag", "vary"} & answer.headers.keys()


def test_writes_and_refusals_are_not_cacheable(world: World) -> None:
    gift = {"itemid": people.COIN.id, "quantity": 1}
    written = world.post(f"{PLAYERS}/Ann/items/give", gift, headers={"If-None-Match": "*"})
    refused = [ask(world, f"{PLAYERS}/Nobody", "*"), world.get(f"{PLAYERS}/Ann", by=None), ask(world, "/nowhere", "*")]
    assert [each.status for each in (written, *refused)] == [200, 404, 401, 404]
    for each in (written, *refused):
        assert (each.headers["cache-control"], "etag" in each.headers) == ("no-store", False)


def test_only_get_reads_are_cacheable() -> None:
    assert {(each.method, each.access) for each in ROUTES if each.cache is not NO_STORE} == {("GET", READ)}


def test_documented_reads_are_those_with_an_etag() -> None:
    """The row has three sentences: a root with its exceptions, other paths, and the headers. It names none of ours."""
    row = next(line for line in DECISIONS.read_text("utf-8").splitlines() if line.startswith("| Cacheable reads |"))
    first, second = (re.findall(r"`(/api/[^`]*)`", each) for each in row.split(". ")[:2])
    root, *exceptions = first
    below = {each.path for each in ROUTES if each.method == "GET" and each.path.startswith(root)}
    cacheable = {path for path in below if not path.startswith(tuple(exceptions))} | {*second}
    found = {each.path for each in ROUTES if each.cache is not NO_STORE}
    assert {path for path in found if not path.startswith("/api/keeper/")} == cacheable


def test_changed_record_has_another_etag(world: World) -> None:
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
    assert len(set(seen)) == 4  # four ETags in five reads: the heartbeat of a game server changes no player's record
    assert not same(ask(world, path, ", ".join(seen[:-2])), seen[-1])
    assert same(ask(world, path, ", ".join(seen)), seen[-1])


def test_etag_depends_on_the_body_only() -> None:
    """Every instance must compute the same ETag, also after a restart."""
    assert etags.make_etag(b'{"status":"live"}') == b'"290f663cc2ed7fec14d831023497265d"'
    assert etags.make_etag(b"") != etags.make_etag(b"\0")


# --- If-None-Match in requests -------------------------------------------------------------------------------------


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
def test_if_none_match_accepts_weak_strong_and_listed_etags(given: bytes) -> None:
    assert etags.is_listed(TAG, given)


@pytest.mark.parametrize(
    "given",
    [
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
def test_other_etag_and_malformed_header_do_not_match(given: bytes) -> None:
    assert not etags.is_listed(TAG, given)
