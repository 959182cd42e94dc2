"""Answers that never change: made and compressed once, with an ETag for each coding."""

import asyncio
import gzip
import time
from collections.abc import Callable

from gamekeeper.console import static_files
from gamekeeper.http import docs_files
from gamekeeper.http.docs_files import DocsFiles
from gamekeeper.http.encodings import Encoded, accepts_gzip
from loops import over
from world import Answer, World

PATHS = (
    "/api/openapi.json",
    "/api/docs",
    f"/api/docs/docs.js?v={docs_files.VERSION}",
    f"/console/static/{static_files.VERSION}/console.css",
)


def fetch(world: World, path: str, **headers: str) -> Answer:
    return world.get(path, by=None, headers={name.replace("_", "-"): text for name, text in headers.items()})


@over("path", PATHS)
def test_unchanging_answer_has_a_form_and_an_etag_per_coding(shared_world: World, path: str) -> None:
    plain, packed = fetch(shared_world, path), fetch(shared_world, path, accept_encoding="br, gzip")
    assert (plain.status, packed.status) == (200, 200)
    assert gzip.decompress(packed.raw) == plain.raw
    assert len(packed.raw) < len(plain.raw) / 1.5
    assert (plain.headers.get("content-encoding"), packed.headers.get("content-encoding")) == (None, "gzip")
    assert [each.headers["content-length"] for each in (plain, packed)] == [str(len(plain.raw)), str(len(packed.raw))]
    assert [each.headers["vary"] for each in (plain, packed)] == ["accept-encoding"] * 2
    assert packed.headers["cache-control"] == plain.headers["cache-control"]
    tags = {"": plain.headers["etag"], "gzip": packed.headers["etag"]}
    assert tags[""] != tags["gzip"]
    for coding, wanted in tags.items():
        for cached, tag in tags.items():
            again = fetch(shared_world, path, accept_encoding=coding, if_none_match=tag)
            known = coding == cached
            assert (again.status, again.headers["etag"]) == (304 if known else 200, wanted), (coding, cached)
            assert again.headers["vary"] == "accept-encoding"
            assert again.headers.get("content-encoding") == (None if known else coding or None)
            assert (again.raw == b"") == known


def test_origins_vary_beside_codings(make_world: Callable[..., World]) -> None:
    world = make_world(cors_origins="https://portal.example.com")
    for path in PATHS:
        assert fetch(world, path).headers["vary"] == "accept-encoding, origin"


def test_accepted_codings_are_read_as_rfc_9110_says() -> None:
    accepted = (
        "GZIP",
        "br;q=1.0, gzip;q=0.8, *;q=0.1",
        "*;q=0.5",
        "gzip ; q=0.001",
    )
    refused = (
        "",
        "br",
        "gzip;q=0.000",
        "*;q=0",
        "gzip;q=0, *",
        "gzipped",
        "gzip;q=x",
    )
    assert [each for each in accepted if not accepts_gzip(each.encode())] == []
    assert [each for each in refused if accepts_gzip(each.encode())] == []


def test_compressed_file_of_the_package_is_used_if_it_is_of_this_content() -> None:
    text = b"many words, " * 1000
    built = gzip.compress(text, 1)
    assert Encoded(text, built).choose(b"gzip").content is built
    for other in (gzip.compress(text[:-1]), gzip.compress(b"!" + text[1:]), b"", built[:-1]):
        assert gzip.decompress(Encoded(text, other).choose(b"gzip").content) == text


LONG_ENOUGH = 0.05  # seconds of making a document, in which all other requests for it arrive


def test_concurrent_first_requests_make_a_document_once() -> None:
    made: list[bool] = []

    def make(tolerant: bool) -> bytes:  # noqa: FBT001 - as DocsFiles calls it
        made.append(tolerant)
        time.sleep(LONG_ENOUGH)
        return b"tolerant" if tolerant else b"strict"

    async def load() -> list[bytes]:
        files = DocsFiles(make)
        assert made == []
        loaded = await asyncio.gather(*(files.load_document(tolerant=each) for each in (False, True) * 4))
        assert len({id(each) for each in loaded}) == 2  # with their ETags and compressed forms
        return [each.plain.content for each in loaded]

    assert asyncio.run(load()) == [b"strict", b"tolerant"] * 4
    assert sorted(made) == [False, True]
