"""Behaviour that both stores (SQLite and PostgreSQL) guarantee."""

import asyncio
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import pytest

import people
from gamekeeper.store.engine.interface import CommitUnknown, DatabaseUnavailable, DiskFull, Reading, Writing
from gamekeeper.store.engine.statements import Statement
from gamekeeper.store.players import items
from world import MakeWorld, World

pytestmark = pytest.mark.both_engines

COUNT = Statement("count", {"": "SELECT COUNT(*) FROM maps"})
INSERT = Statement("insert", {"": "INSERT INTO maps (id, name) VALUES ($1, $2)"})
FAIL = Statement("fail", {"": "INSERT INTO maps (id, name) VALUES ($1, NULL)"})


def insert(number: int) -> Callable[[Writing], Any]:
    async def work(tx: Writing) -> int:
        tx.defer(INSERT, people.guid(0x1000 + number), f"map {number}")
        return number

    return work


async def break_off(tx: Writing) -> None:
    tx.defer(INSERT, people.guid(0x2000), "never")
    await tx.flush()
    raise LookupError("no")


async def violate(tx: Writing) -> None:
    tx.defer(FAIL, people.guid(0x3000))


async def count(tx: Reading) -> int:
    row = await tx.one(COUNT)
    return row[0] if row else -1


def test_failed_write_does_not_affect_concurrent_writes(world: World) -> None:
    store = world.keeper.store

    works = [store.write(insert(number)) for number in range(40)]
    works[10:10] = [store.write(break_off)]
    works[20:20] = [store.write(violate)]
    answers = world.try_at_once(works)
    assert [each for each in answers if isinstance(each, int)] == list(range(40))
    assert isinstance(answers[10], LookupError)
    assert isinstance(answers[20], Exception)
    assert world.run(count(store)) == 41


def test_work_runs_again_after_unique_violation_and_sees_the_row(world: World) -> None:
    runs: list[int] = []

    async def work(tx: Writing) -> int:
        runs.append(await count(tx))
        tx.defer(INSERT, people.MEADOW.id if len(runs) == 1 else people.guid(0x1000), "new")
        return await count(tx)

    assert world.run(world.keeper.store.write(work)) == 2
    assert runs == [1, 1]


def test_reads_in_one_snapshot_see_the_same_state(world: World) -> None:
    store = world.keeper.store

    async def race() -> list[tuple[int, int]]:
        async def look(tx: Reading) -> tuple[int, int]:
            return await count(tx), await count(tx)

        pairs: list[tuple[int, int]] = []
        for number in range(30):
            writing = asyncio.ensure_future(store.write(insert(number)))
            pairs.append(await store.read(look))
            await writing
        return pairs

    pairs = world.run(race())
    assert all(first == second for first, second in pairs)
    assert pairs[0][0] < pairs[-1][0]


def test_read_inside_write_sees_deferred_statements(world: World) -> None:
    async def work(tx: Writing) -> tuple[int, int]:
        before = await count(tx)
        tx.defer(INSERT, people.guid(0x1000), "new")
        return before, await count(tx)

    assert world.run(world.keeper.store.write(work)) == (1, 2)


def test_writes_with_the_same_claim_never_overlap(make_world: MakeWorld) -> None:
    """Two instances add one to a number: without the claim (an advisory lock), updates would be lost."""
    one, two = make_world(), make_world()
    read = Statement("read", {"": "SELECT name FROM maps WHERE id = $1"})
    write = Statement("write", {"": "UPDATE maps SET name = $2 WHERE id = $1"})
    one.sql("UPDATE maps SET name = '0' WHERE id = $1", people.MEADOW.id)

    async def add(tx: Writing) -> None:
        row = await tx.one(read, people.MEADOW.id)
        assert row
        tx.defer(write, people.MEADOW.id, str(int(row[0]) + 1))

    one.at_once(each.keeper.store.write(add, 77) for each in (one, two) for _ in range(25))
    assert one.sql("SELECT name FROM maps WHERE id = $1", people.MEADOW.id) == [("50",)]


@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
def test_lost_connection_is_retried_without_error(world: World) -> None:
    """PostgreSQL only: SQLite has no network connection."""
    world.run(count(world.keeper.store))
    other = World(world.url, world.tokens, world.loop)
    other.sql(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
        "WHERE pid <> pg_backend_pid() AND datname = current_database()"
    )
    other.close()
    assert world.run(count(world.keeper.store)) == 1
    world.run(world.keeper.store.write(insert(1)))
    assert world.run(count(world.keeper.store)) == 2


def test_database_that_cannot_be_opened_is_unavailable(
    engine: str, tmp_path: Path, loop: asyncio.AbstractEventLoop
) -> None:
    url = f"sqlite:///{tmp_path}/none/x.db" if engine == "sqlite" else "postgresql://nobody@127.0.0.1:1/none"
    with pytest.raises(DatabaseUnavailable):
        World(url, {}, loop)


@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
def test_interrupted_commit_is_reported_as_unknown(world: World) -> None:
    """PostgreSQL only: a deferred trigger terminates the connection inside COMMIT."""
    world.sql(
        "CREATE FUNCTION hang_up() RETURNS trigger LANGUAGE plpgsql AS "
        "'BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END'"
    )
    world.sql(
        "CREATE CONSTRAINT TRIGGER hang_up AFTER INSERT ON maps DEFERRABLE INITIALLY DEFERRED "
        "FOR EACH ROW EXECUTE FUNCTION hang_up()"
    )
    with pytest.raises(CommitUnknown):
        world.run(world.keeper.store.write(insert(1)))
    entry = {"Id": people.guid(0x1001), "Name": "Moor"}
    answer = world.call("PUT", "/api/link/v1/catalogue/maps", body=[entry])
    assert (answer.status, answer.code) == (503, "outcome_unknown")
    assert world.run(count(world.keeper.store)) == 1


@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
def test_isolation_level_is_explicit_and_not_inherited(make_world: MakeWorld) -> None:
    """In repeatable read, a write that waited for a lock would check rows as they were before it got the lock."""
    first = make_world()
    name = first.sql("SELECT CAST(current_database() AS text)")[0][0]
    first.sql(f"ALTER DATABASE \"{name}\" SET default_transaction_isolation = 'repeatable read'")
    world = make_world()
    assert world.sql("SHOW transaction_isolation") == [("read committed",)]


def test_write_is_retried_when_its_player_was_deleted_meanwhile(make_world: MakeWorld) -> None:
    one, two = make_world(), make_world()
    one.call("PUT", "/api/link/v1/servers/realm", body={"Lease": 60})

    for number in range(20):
        player = f"/api/link/v1/players/{people.guid(0x900 + number)}"
        one.call("PUT", player, body={"Name": f"Racer{number}", "UserId": people.USER_IDS["Bob"]})
        joining = {"Players": [people.guid(0x900 + number)]}
        calls = [two.send("POST", "/api/link/v1/servers/realm/joined", body=joining), one.send("DELETE", player)]
        assert {answer.status for answer in one.at_once(calls)} <= {200, 404, 409}


def test_new_bag_reported_for_two_players_belongs_to_one(make_world: MakeWorld) -> None:
    one, two = make_world(), make_world()

    def race(number: int) -> list[int]:
        bag = people.guid(0x800 + number)
        body: dict[str, object] = {
            "Items": [{"Slot": number, "ItemId": people.POUCH.id, "Quantity": 1, "BagId": bag}],
            "Bags": [{"Id": bag, "SlotCount": 8, "Slots": []}],
        }
        paths = [f"/api/link/v1/players/{each.id}" for each in (people.BOB, people.ZOE)]
        calls = [each.send("PUT", path, body=body) for each, path in zip((one, two), paths, strict=True)]
        return sorted(answer.status for answer in one.at_once(calls))

    assert [race(number) for number in range(15)] == [[200, 400]] * 15
    assert one.run(items.find_stray_bags(one.keeper.store)) == []


def test_full_disk_differs_from_unavailable_database(world: World, engine: str) -> None:
    """Simulated on SQLite by a file size limit, on PostgreSQL by raising the server's error."""
    if engine == "sqlite":
        world.sql("PRAGMA max_page_count = 1")
    else:
        full = "RAISE disk_full USING MESSAGE = ''could not extend file''"
        world.sql(f"CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN {full}; END'")
        world.sql("CREATE TRIGGER full_disk BEFORE INSERT ON maps FOR EACH ROW EXECUTE FUNCTION full_disk()")
    with pytest.raises(DiskFull):
        world.sql("INSERT INTO maps (id, name) VALUES ($1, $2)", people.guid(0x1000), "x" * 1_000_000)
    assert world.run(count(world.keeper.store)) == 1


class Failing:
    """A SQLite connection on which one statement fails."""

    def __init__(self, db: Any, text: str, error: Exception) -> None:
        self._db, self._text, self._error = db, text, error

    def __getattr__(self, name: str) -> Any:
        return getattr(self._db, name)

    def execute(self, text: str, *values: Any) -> Any:
        if text == self._text:
            raise self._error
        return self._db.execute(text, *values)


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
@pytest.mark.parametrize("together", [1, 3])
@pytest.mark.parametrize(
    ("text", "error", "expected"),
    [
        ("COMMIT", apsw.IOError("disk I/O error"), CommitUnknown),  # the change may reappear after a crash
        ("COMMIT", MemoryError(), CommitUnknown),
        ("BEGIN IMMEDIATE", MemoryError(), MemoryError),
    ],
)
def test_error_of_transaction_answers_all_its_writes_and_later_ones_succeed(
    world: World, monkeypatch: pytest.MonkeyPatch, together: int, text: str, error: Exception, expected: type[Exception]
) -> None:
    store: Any = world.keeper.store

    connection: Any = getattr(getattr(store, "_writer"), "_connection")  # noqa: B009 - private attributes
    monkeypatch.setattr(connection, "db", Failing(connection.db, text, error))
    answers = world.try_at_once(store.write(insert(number)) for number in range(together))
    assert [type(each) for each in answers] == [expected] * together
    monkeypatch.undo()
    assert world.run(store.write(insert(0))) is not None


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
def test_change_whose_returned_row_cannot_be_read_is_undone(world: World) -> None:
    returning = Statement("x", {"": "INSERT INTO maps (id, name) VALUES ($1, 'x') RETURNING CAST(x'ff' AS TEXT)"})
    before = world.run(world.keeper.store.one(COUNT))
    with pytest.raises(DatabaseUnavailable):
        world.run(world.keeper.store.write(lambda tx: tx.returning(returning, people.guid(0x3000))))
    assert world.run(world.keeper.store.one(COUNT)) == before


class Overtaken:
    """The cursor of a reader's second statements; another connection commits a new map before each of them."""

    def __init__(self, cursor: apsw.Cursor, path: Path) -> None:
        self._cursor, self._path = cursor, path
        self._statements = 0

    def execute(self, text: str, values: Any) -> Any:
        with closing(apsw.Connection(str(self._path))) as other:
            row = people.guid(0x4000 + self._statements), "new"
            other.execute("INSERT INTO maps (id, name) VALUES (?, ?)", row)
        self._statements += 1
        return self._cursor.execute(text, values)


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
def test_two_statements_read_together_see_the_same_state(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    store: Any = world.keeper.store
    reader = getattr(store, "_reader")  # noqa: B009 - a private attribute
    others = Statement("others", {"": "SELECT COUNT(*) FROM maps WHERE id <> $1"})
    broken = Statement("broken", {"": "SELECT json(name) FROM maps"})
    monkeypatch.setattr(reader, "cursor", Overtaken(reader.cursor, store.path))
    assert world.run(store.fetch_both(others, "", COUNT)) == ((1,), [(1,)])
    with pytest.raises(DatabaseUnavailable):
        world.run(store.fetch_both(others, "", broken))
    monkeypatch.undo()
    # neither read keeps its snapshot: the maps of both second statements are there
    assert world.run(store.fetch_both(others, "", COUNT)) == ((3,), [(3,)])


# --- bulk loads -------------------------------------------------------------------------------------------------------

RENAME = Statement("rename", {"": "UPDATE maps SET name = $1 WHERE id = $2"})
NAMES = Statement("names", {"": "SELECT name FROM maps WHERE id <> $1 ORDER BY name"})
ROWS = [(people.guid(0x1000 + number), f"map {number:04}") for number in range(500)]


async def names(tx: Writing) -> list[str]:
    return [row[0] for row in await tx.all(NAMES, people.MEADOW.id)]


def test_loaded_rows_are_visible_at_once_and_after_commit(world: World) -> None:
    async def work(tx: Writing) -> list[str]:
        tx.load(INSERT, ROWS)
        return await names(tx)

    wanted = [name for _, name in ROWS]
    assert world.run(world.keeper.store.write(work)) == wanted
    assert world.run(world.keeper.store.write(names)) == wanted


def test_deferred_statement_sees_loaded_rows(world: World) -> None:
    async def work(tx: Writing) -> None:
        tx.load(INSERT, ROWS[:1])
        tx.defer(RENAME, "renamed", ROWS[0][0])

    world.run(world.keeper.store.write(work))
    assert world.run(world.keeper.store.write(names)) == ["renamed"]
