"""The OpenAPI documents are made, encoded and compressed at the first request for them, each once."""

import asyncio
import time

from gamekeeper.http.docs_files import DocsFiles

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
