"""Query plans of pictures: no statement reads more rows with more items."""

from typing import Any

import pytest

from gamekeeper.demo.names import make_numbered_id
from gamekeeper.store import pictures
from gamekeeper.store.table import as_table
from plans import WORDS, find_growing
from world import World

pytestmark = pytest.mark.both_engines

FILL = (
    "INSERT INTO items (id, name, stackable, bag_slots) SELECT id, fold, 1 = 1, 0 FROM players",
    "INSERT INTO item_pictures SELECT id, fold, '' FROM players",
)


def test_statements_of_pictures_use_an_index(world: World) -> None:
    engine, item = world.keeper.store.engine, make_numbered_id("player", 7)
    for statement in FILL:
        world.sql(statement)
    if engine == "postgres":
        world.sql("ANALYZE")
    ids = as_table({"id": each} for each in (item, make_numbered_id("player", 8)))
    asked: list[tuple[Any, tuple[Any, ...]]] = [
        (pictures.SQL.hash, (item,)),
        (pictures.SQL.hashes, (ids,)),
        (pictures.SQL.content, ("0" * 64,)),
        (pictures.SQL.delete, (item,)),
    ]
    assert {
        statement.name: found
        for statement, values in asked
        if (found := list(find_growing(world, statement.render(engine, WORDS[engine]), values)))
    } == {}
