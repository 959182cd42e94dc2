"""Queries of the mail outbox use indexes."""

import pytest

import people
from gamekeeper.store import mails, postgres_connection, sqlite
from gamekeeper.store.table import as_table
from outbox import ask
from world import World

pytestmark = pytest.mark.both_engines

OTHER = people.guid(4)
ENGINES = {"sqlite": sqlite, "postgres": postgres_connection}
PLANS = {"sqlite": "EXPLAIN QUERY PLAN ", "postgres": "EXPLAIN "}
MANY_SQL = """
INSERT INTO mails (id, user_id, caller_id, kind, address, queued_at, expires_at, tries, sent_at)
SELECT CAST(value->>'id' AS {guid}), u.id, u.id, 'password_reset', 'x', 1, 2, 1, 1
FROM json_each($1), users u WHERE u.name = 'Bob'"""
LOOKS: dict[str, list[str]] = {
    "any_due": [],
    "next_due": ["1"],
    "wait_of_user": [f"'{OTHER}'", "3", "3600000"],
    "wait_of_caller": [f"'{OTHER}'", "3", "3600000"],
}


def test_full_outbox_is_not_scanned(world: World) -> None:
    """With many sent mails, finding the next mail and counting the last hour's mails still use an index."""
    ask(world)
    world.sql(MANY_SQL, as_table({"id": people.guid(0x5000 + number)} for number in range(500)))
    world.sql("ANALYZE")
    engine = world.keeper.store.engine
    for name, values in LOOKS.items():
        text = mails.SQL.named[name].render(engine, ENGINES[engine].PLACEHOLDERS)
        for number, value in enumerate(values, 1):
            text = text.replace(f"${number}", value)
        plan = " ".join(str(column) for row in world.sql(PLANS[engine] + text) for column in row)
        assert "mails_" in plan, name
        assert "Seq Scan on mails" not in plan, name
        assert "SCAN m" not in plan, name
