"""The outbox's rows: kept through the migration that gave them their form, and looked at without reading them all."""

import asyncio
from typing import Any

import people
from gamekeeper import app, settings
from gamekeeper.game.keeper import Keeper
from gamekeeper.store import mails, postgres, sqlite
from gamekeeper.store.migrate import known, migrate
from gamekeeper.store.statements import Statement
from gamekeeper.store.table import as_table
from outbox import ask
from world import World

USER, OLD, NEW, OTHER = (people.guid(number) for number in range(1, 5))
NAMED = (
    "id, name, fold, email, email_fold, password, editor, ban, kick, mute, api, users_query, users_manage, game_link"
)
USER_SQL = f"INSERT INTO users ({NAMED}, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $7, $7, $7, $7, $7, $7, $7, 0)"  # noqa: S608 - a list of ours
RESET_SQL = "INSERT INTO resets (user_id, code, tries_left, expires_at) VALUES ($1, 'c0de', 5, 9999999999999)"
MAIL_SQL = "INSERT INTO mails (id, user_id, kind, queued_at, expires_at) VALUES ($1, $2, 'password_reset', $3, $4)"


async def execute(keeper: Keeper, text: str, *values: Any) -> None:
    async def work(tx: Any) -> None:
        await tx.returning(Statement("test", {"": text}), *values)

    await keeper.store.write(work)


async def migrated_with_mails(url: str) -> list[mails.Listed]:
    keeper = app.build_keeper(settings.load({}, database=url))
    await keeper.store.open()
    try:
        await migrate(keeper.store, known()[:2])
        await execute(keeper, USER_SQL, USER, "Ann", "ann", "ann@example.test", "ann@example.test", "!", False)
        await execute(keeper, RESET_SQL, USER)
        await execute(keeper, MAIL_SQL, OLD, USER, 1, 2)
        await execute(keeper, MAIL_SQL, NEW, USER, 5, 6)
        await migrate(keeper.store)
        return await mails.page(keeper.store, 10)
    finally:
        await keeper.store.close()
        keeper.passwords.close()


def test_mails_that_wait_are_kept_by_the_migration(empty_database: str) -> None:
    new, old = asyncio.run(migrated_with_mails(empty_database))
    assert (new.id, new.state, new.address, new.tries, new.code) == (NEW, "queued", "ann@example.test", 0, "c0de")
    assert (old.id, old.state, old.code) == (OLD, "expired", None)


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


def test_a_full_outbox_is_not_read_through(world: World) -> None:
    """However many mails were sent, looking for the next and counting the last hour's is a look into an index."""
    ask(world)
    world.sql(MANY_SQL, as_table({"id": people.guid(0x5000 + number)} for number in range(500)))
    world.sql("ANALYZE")
    engine = world.keeper.store.engine
    for name, values in LOOKS.items():
        text = mails.SQL.named[name].text(engine, {"sqlite": sqlite, "postgres": postgres}[engine].WORDS)
        for number, value in enumerate(values, 1):
            text = text.replace(f"${number}", value)
        plan = " ".join(str(column) for row in world.sql(PLANS[engine] + text) for column in row)
        assert "mails_" in plan, name
        assert "Seq Scan on mails" not in plan, name
        assert "SCAN m" not in plan, name
