"""What the tests stand on: a database that is handed out is a fresh copy, also when somebody had it before."""

from collections.abc import Callable

import pytest

from databases import Postgres
from world import World, opened

NAMES = ["Ann", "Bob", "Zoe"]


def used(databases: Postgres, use: Callable[[World], object]) -> str:
    """Handed out, used, and given back."""
    url = databases.fresh()
    with opened(url, databases.tokens) as world:
        use(world)
    databases.drop(url)
    return url


def names(world: World) -> None:
    assert [row[0] for row in world.sql("SELECT name FROM players ORDER BY name")] == NAMES


def test_one_that_was_only_read_is_handed_out_again(
    postgres_databases: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("databases.LEAVE_SECONDS", 60)  # whoever has read it may take long to leave
    assert used(postgres_databases, names) == used(postgres_databases, names)


@pytest.mark.parametrize("text", ["UPDATE players SET name = name", "DELETE FROM slots", "CREATE TABLE more (id int)"])
def test_one_that_was_written_to_is_not(postgres_databases: Postgres, text: str) -> None:
    written = used(postgres_databases, lambda world: world.sql(text))
    assert used(postgres_databases, names) != written


def test_nor_is_another_one_of_the_same_name(postgres_databases: Postgres) -> None:
    url = postgres_databases.fresh()
    postgres_databases.replace(url)
    postgres_databases.drop(url)
    assert used(postgres_databases, names) != url
