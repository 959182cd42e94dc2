"""What many tests expect: a refusal with the one error body, and a database in which nothing moved."""

import re
from pathlib import Path

from gamekeeper.store import statements
from world import Answer, World

JSON = "application/json; charset=utf-8"
SCHEMA = (Path(statements.__file__).parent / "schema.sql").read_text(encoding="utf-8")
TABLES = re.findall(r"^CREATE TABLE (\w+)", SCHEMA, re.MULTILINE)


def refused(answer: Answer, status: int, code: str, part: str = "") -> None:
    assert (answer.status, answer.code) == (status, code), answer.raw
    assert list(answer.json) == ["Message", "Code", "RequestId"]
    assert answer.json["RequestId"] == answer.headers["x-request-id"]
    assert answer.headers["content-type"] == JSON
    assert part in answer.message
    assert "\n" not in answer.message


def everything(world: World, *, without: str = "") -> dict[str, list[str]]:
    """Every row of every table: equal before and after means that nothing changed."""
    return {
        table: sorted(repr(row) for row in world.sql(f"SELECT * FROM {table}"))  # noqa: S608 - names out of schema.sql
        for table in TABLES
        if table != without
    }
