"""SQLite looks up each row that a statement gets as JSON, instead of reading a table and looking into the JSON."""

import importlib
import pkgutil
import re
from collections.abc import Iterator

import pytest

from gamekeeper import store
from gamekeeper.store import sqlite
from gamekeeper.store.statements import Statement
from world import World

# statements that read a table outside of the JSON, but search it by the values of the JSON, too; or that read a range
# of the audit log and look into the JSON for each change
SEARCHED_BY_VALUE = {"acknowledge", "reported_of_others"}


def list_statements() -> Iterator[Statement]:
    for module in pkgutil.iter_modules(store.__path__):
        texts: object = getattr(importlib.import_module(f"gamekeeper.store.{module.name}"), "SQL", None)
        yield from (each for name in dir(texts) if isinstance(each := getattr(texts, name, None), Statement))


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
def test_tables_are_not_read_around_given_rows(world: World) -> None:
    faults: list[str] = []
    seen = 0
    for statement in list_statements():
        text = vars(sqlite)["_render"](statement)
        if "json_each" not in text or statement.name in SEARCHED_BY_VALUE:
            continue
        seen += 1
        values = [None] * len({*re.findall(r"\?(\d+)", text)})
        plan = world.sql(f"EXPLAIN QUERY PLAN {text}", *values)
        for number, (_, parent, _, what) in enumerate(plan):
            around = [step for _, other, _, step in plan[:number] if other == parent and "VIRTUAL TABLE" not in step]
            if "VIRTUAL TABLE" in what and any(step.startswith(("SEARCH", "SCAN")) for step in around):
                faults.append(f"{statement.name}: {around}")
    assert faults == []
    assert seen > 150
