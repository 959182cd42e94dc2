"""A wrong clock deletes nothing: the retention job first watches the database's clock for six hours."""

import time
from collections.abc import Generator
from contextlib import contextmanager

import pytest

from gamekeeper.game.audit.retention import DAY_MS, HOUR_MS, PROBATION_MS, RetentionJob
from gamekeeper.ground import log
from tidying import Clocks
from world import Answer, MakeWorld, World

WRONG_DAYS = 40
MINUTE_MS = HOUR_MS // 60
OLD_MS = 400 * DAY_MS  # milliseconds: age of rows beyond every retention time
# Tables from which the retention job deletes by age, except the table of password guesses
AGED = {
    "idempotency_keys": "at = at - $1",
    "ledger": "at = at - $1",
    "tokens": "refresh_expires = refresh_expires - $1, access_expires = access_expires - $1",
    "mails": "queued_at = queued_at - $1",
    "known_callers": "at = at - $1",
}


def give(world: World, key: str) -> Answer:
    return world.give("Bob", by="Shop", headers={"Idempotency-Key": key})


def counts(world: World) -> dict[str, int]:
    return {table: world.sql(f"SELECT COUNT(*) FROM {table}")[0][0] for table in AGED}  # noqa: S608 - names of this file


def make_old_rows(world: World) -> dict[str, int]:
    """Add old rows to each table, and return the number of rows by table."""
    for number in range(3):
        give(world, f"k{number}")
    world.get("/api/v1/users/Ann/password/reset")
    world.sql(
        "INSERT INTO known_callers (user_id, caller, at) SELECT id, '10.0.0.1', {now} FROM users WHERE fold = 'ann'"
    )
    for table, change in AGED.items():
        world.sql(f"UPDATE {table} SET {change}", OLD_MS)  # noqa: S608 - names of this file
    return counts(world)


def age_key(world: World, milliseconds: int) -> None:
    world.sql("UPDATE idempotency_keys SET at = at - $1", milliseconds)


@contextmanager
def move_clock(url: str, make_world: MakeWorld, days: int) -> Generator[None]:
    """Move the clock of instances opened in this block: the machine's for SQLite, the server's for PostgreSQL."""
    world = make_world()
    if url.startswith("sqlite"):
        right = time.time
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(time, "time", lambda: right() + days * DAY_MS / 1000)
            yield
        return
    name = world.sql("SELECT CAST(current_database() AS text)")[0][0]
    world.sql(
        "CREATE FUNCTION public.now() RETURNS timestamptz LANGUAGE sql AS "
        f"'SELECT pg_catalog.now() + INTERVAL ''{days} days'''"
    )
    world.sql(f'ALTER DATABASE "{name}" SET search_path = public, pg_catalog')
    yield
    world.sql(f'ALTER DATABASE "{name}" RESET search_path')


def test_every_kind_of_old_row_waits_six_hours(make_world: MakeWorld) -> None:
    world, clocks = make_world(ledger_days=30), Clocks()
    retention = clocks.of(world)
    before = make_old_rows(world)
    world.run(retention.tidy())
    clocks.advance(PROBATION_MS - 1000)
    world.run(retention.tidy())
    assert counts(world) == before
    clocks.advance(1000)
    world.run(retention.tidy())
    after = counts(world)
    assert {table for table in AGED if after[table] < before[table]} == {*AGED}


@pytest.mark.parametrize("jump", [WRONG_DAYS * DAY_MS, HOUR_MS + MINUTE_MS, -HOUR_MS - MINUTE_MS])
def test_a_jump_of_the_clock_starts_the_six_hours_again(
    world: World, jump: int, capsys: pytest.CaptureFixture[str]
) -> None:
    clocks = Clocks()
    retention = clocks.of(world)
    before = make_old_rows(world)
    world.run(retention.tidy())
    clocks.advance(PROBATION_MS, PROBATION_MS + jump)
    world.run(retention.tidy())
    clocks.advance(PROBATION_MS - 1000)
    world.run(retention.tidy())
    assert counts(world) == before
    log.flush()
    assert "The database's clock jumped by" in capsys.readouterr().err
    clocks.advance(1000)
    world.run(retention.tidy())
    assert counts(world)["idempotency_keys"] == 0


@pytest.mark.parametrize("drift", [59 * MINUTE_MS, -59 * MINUTE_MS])
def test_drifting_clock_is_trusted_up_to_the_slower_one(world: World, drift: int) -> None:
    clocks = Clocks()
    retention = clocks.of(world)
    give(world, "k")
    age_key(world, 30 * DAY_MS - min(0, drift) - MINUTE_MS)
    world.run(retention.tidy())
    clocks.advance(PROBATION_MS, PROBATION_MS + drift)
    world.run(retention.tidy())
    assert counts(world)["idempotency_keys"] == 1
    age_key(world, 2 * MINUTE_MS)
    world.run(retention.tidy())
    assert counts(world)["idempotency_keys"] == 0


def test_an_old_key_replays_after_serving_with_a_wrong_clock(database: str, make_world: MakeWorld) -> None:
    """Old idempotency keys still replay after a server has run and written under a wrong clock."""
    first = give(make_world(), "k").accepted()
    with move_clock(database, make_world, WRONG_DAYS):
        wrong = make_world(ledger_days=30)
        retention = RetentionJob(wrong.keeper)
        for number in range(3):
            assert give(wrong, f"wrong{number}").status == 200
            wrong.run(retention.tidy())
        assert give(wrong, "k").headers["idempotent-replay"] == "true"
    after = make_world(ledger_days=30)
    held = after.count_coins()
    again = give(after, "k")
    assert (again.raw, again.headers["idempotent-replay"], after.count_coins()) == (first.raw, "true", held)
