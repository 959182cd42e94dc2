"""The assembled schema is what the migrations build on both engines, and refusals are complete."""

import asyncio
from collections.abc import Iterator
from typing import Any

import catalogues
import pytest

from gamekeeper import app
from gamekeeper.game.core.refusals import Refusal
from gamekeeper.ground import settings
from gamekeeper.http.server.errors import find_status
from gamekeeper.store.engine.interface import Store, Writing
from gamekeeper.store.engine.migrate import migrate
from gamekeeper.store.engine.schema import assemble
from gamekeeper.store.engine.statements import Statement


async def build_from_schema(store: Store) -> None:
    async def apply(tx: Writing) -> None:
        for each in assemble(store.engine):
            await tx.returning(Statement("schema", {"": each.text}))

    await store.write(apply)


async def build_schema(url: str, *, by_migrations: bool) -> None:
    store = app.open_store(settings.load({}, database=url))
    await store.open()
    try:
        await (migrate(store) if by_migrations else build_from_schema(store))
    finally:
        await store.close()


@pytest.fixture
def two_schemas(databases: Any) -> Iterator[tuple[str, str]]:
    """Return the URLs of a database made by the migrations and of one made from the assembled schema."""
    urls = databases.empty(), databases.empty()
    for url, by_migrations in zip(urls, (True, False), strict=True):
        asyncio.run(build_schema(url, by_migrations=by_migrations))
    yield urls
    for url in urls:
        databases.drop(url)


@pytest.mark.both_engines
def test_assembled_schema_is_what_the_migrations_build(two_schemas: tuple[str, str]) -> None:
    ours, theirs = (catalogues.read_schema(url) for url in two_schemas)
    assert len(ours) > 20
    assert catalogues.differences(ours, theirs) == []


def list_refusals(root: type[Any] = Refusal) -> Iterator[type[Any]]:
    for kind in root.__subclasses__():
        if kind.__module__.startswith("gamekeeper."):
            yield kind
        yield from list_refusals(kind)


def test_every_refusal_has_a_status_a_message_and_a_unique_code() -> None:
    codes: dict[str, type[Any]] = {}
    for kind in list_refusals():
        assert (vars(kind).get("__doc__") or "").strip(), kind
        assert find_status(kind) >= 400, kind
        code: str = Exception.__new__(kind).code  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType] - any kind of refusal
        assert codes.setdefault(code, kind) is kind, code
    assert len(codes) > 35
