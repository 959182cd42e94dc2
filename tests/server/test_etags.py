"""Conditional reads: which answers have an ETag, who may cache them, and how If-None-Match is matched."""

import people
from gamekeeper.http.contract.operation import NO_STORE, READ
from gamekeeper.http.routes import ROUTES
from gamekeeper.http.server import static_files
from loops import over
from world import PLAYERS, USERS, Answer, World

SECRET = [(f"{USERS}/Ann/password/reset", "Clerk"), (USERS, "Root"), (f"{USERS}/Ann", "Root")]
TAG = b'"abc"'


def tag_of(answer: Answer) -> str:
    """Return the ETag of an answer that may be cached privately and must be revalidated."""
    assert answer.headers["cache-control"] == "private, no-cache"
    assert answer.headers["vary"] in {"authorization", "accept-encoding"}  # the latter: the same for every caller
    return answer.headers["etag"]


def ask(world: World, path: str, tag: str, **more: str) -> Answer:
    return world.get(path, headers={"If-None-Match": tag}, **more)


def same(answer: Answer, tag: str) -> bool:
    if answer.status != 304:
        return False
    assert (answer.raw, tag_of(answer)) == (b"", tag)
    assert not {"content-type", "content-length"} & answer.headers.keys()
    return True


@over("path", USERS, f"{USERS}/Ann")
def test_account_is_cacheable_for_callers_who_see_no_reset_codes(shared_world: World, path: str) -> None:
    tag = tag_of(shared_world.get(path, by="Clerk"))
    assert same(ask(shared_world, path, tag, by="Clerk"), tag)
    seen = ask(shared_world, path, tag, by="Root")
    assert (seen.status, seen.headers["cache-control"], "etag" in seen.headers) == (200, "no-store", False)


def test_secrets_writes_and_refusals_are_not_cacheable(world: World) -> None:
    gift = {"itemid": people.COIN.id, "quantity": 1}
    written = world.post(f"{PLAYERS}/Ann/items/give", gift, headers={"If-None-Match": "*"})
    refused = [ask(world, f"{PLAYERS}/Nobody", "*"), world.get(f"{PLAYERS}/Ann", by=None), ask(world, "/nowhere", "*")]
    secret = [ask(world, path, "*", by=by) for path, by in SECRET]
    assert [each.status for each in (written, *refused, *secret)] == [200, 404, 401, 404, 200, 200, 200]
    for each in (written, *refused, *secret):
        assert (each.headers["cache-control"], "etag" in each.headers) == ("no-store", False)


def test_etag_depends_on_the_body_only_and_only_get_reads_have_one() -> None:
    assert {(each.method, each.access) for each in ROUTES if each.cache is not NO_STORE} == {("GET", READ)}
    assert static_files.make_etag(b'{"status":"live"}') == b'"290f663cc2ed7fec14d831023497265d"'
    assert static_files.make_etag(b"") != static_files.make_etag(b"\0")


def test_if_none_match_accepts_weak_strong_and_listed_etags() -> None:
    listed = [b'"x", "abc"', b', ,"x" , W/"abc",', b'"a,b", "abc"', b'"", "\xfc", "abc"']
    for given in (TAG, b'W/"abc"', b' \t"abc"\t ', *listed, b"*"):
        assert static_files.is_listed(TAG, given), given
    broken = [b'"x, "abc"', b'"abc', b'w/"abc"', b'"abc", x', b'"abc" "x"', b'*, "abc"', b'"\x00", "abc"']
    slow = [b"," * 100_000 + b"x", b" " * 100_000 + b"x", b", " * 50_000 + b'"']
    for given in (b"", b"abc", b'"ABC"', *broken, *slow):
        assert not static_files.is_listed(TAG, given), given[:20]
