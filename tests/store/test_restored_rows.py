"""A PostgreSQL database that tests use again has exactly the rows of a new one, or is dropped."""

from collections.abc import Mapping

import people
from databases import Postgres
from world import World

TABLES = "SELECT CAST(relname AS text) FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace"
GIFT = {"itemid": people.COIN.id, "quantity": 1}
NEXT = "SELECT last_value, is_called FROM ledger_seq"


def describe(world: World) -> tuple[Mapping[str, list[str]], list[object]]:
    """Return all rows, and the next number of a change."""
    return world.read_tables(name for (name,) in world.sql(TABLES)), world.sql(NEXT)


def open_world(databases: Postgres, url: str) -> World:
    return World(url, databases.tokens, databases.loop, databases.kept)


def change(world: World) -> None:
    """Insert, update and delete rows of many tables."""
    assert world.post(f"/api/v1/players/{people.ANN.id}/items/give", GIFT).status == 200
    assert world.post(f"/api/v1/players/{people.ANN.id}/level", {"level": 9}).status == 200
    assert world.call("DELETE", f"/api/v1/players/{people.BOB.id}").status == 200


def test_rows_and_sequences_are_restored(postgres_databases: Postgres) -> None:
    new = postgres_databases.fresh()
    world = open_world(postgres_databases, new)
    expected = describe(world)
    change(world)
    changed = describe(world)
    world.close_and_keep(postgres_databases.kept)
    postgres_databases.drop(new)
    again = postgres_databases.fresh(used=True)
    assert again == new
    world = open_world(postgres_databases, again)
    found = describe(world)
    world.close()
    postgres_databases.drop(again)
    assert changed != expected
    assert found == expected


def test_database_with_another_schema_is_dropped(postgres_databases: Postgres) -> None:
    url = postgres_databases.fresh()
    world = open_world(postgres_databases, url)
    world.sql("CREATE INDEX another ON players (level)")
    world.close_and_keep(postgres_databases.kept)
    postgres_databases.drop(url)
    other = postgres_databases.fresh(used=True)
    postgres_databases.drop(other)
    assert other != url
