"""Common expectations: a refusal with the standard error body, and an unchanged database."""

import re
from collections.abc import Generator
from contextlib import contextmanager

from gamekeeper.store.engine.schema import assemble
from world import Answer, World

JSON = "application/json; charset=utf-8"
ALL_TABLES = [each.name for each in assemble("sqlite") if each.kind == "TABLE"]
# sums that follow the audit log in the background, and before a read
FOLLOWING = [each for each in ALL_TABLES if re.match("economy|item_|holdings|ranked_|standing", each)]
TABLES = [each for each in ALL_TABLES if each not in FOLLOWING]


def refused(answer: Answer, status: int, code: str, part: str = "") -> None:
    assert (answer.status, answer.code) == (status, code), answer.raw
    assert list(answer.json) == ["Message", "Code", "RequestId"]
    assert answer.json["RequestId"] == answer.headers["x-request-id"]
    assert answer.headers["content-type"] == JSON
    assert part in answer.message
    assert "\n" not in answer.message


def everything(world: World, *, without: str = "") -> dict[str, list[str]]:
    """Return every row of every table, to compare the database before and after."""
    return world.read_tables(table for table in TABLES if table != without)


@contextmanager
def unchanged(world: World, *, without: str = "") -> Generator[None]:
    """Require that what is done meanwhile changes no row of any table."""
    before = everything(world, without=without)
    yield
    assert everything(world, without=without) == before
