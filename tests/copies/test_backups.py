"""A backup is one snapshot, and is restored completely or not at all; the restored change feed has a new epoch (id)."""

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest
import state

import api_keys
import game_logs
import game_server
import outbox
import playing
from backups import back_up, give, restore
from copied import fill
from expectations import refused
from findings import errors, faults, unseen
from gamekeeper import app
from gamekeeper.copies import backups
from gamekeeper.copies.backups import Archive, BackupManifest
from gamekeeper.game.keeper import Keeper
from gamekeeper.ground import settings
from gamekeeper.store.engine.migrate import Migration, load_migrations, migrate
from gamekeeper.store.engine.statements import Statement
from people import ANN, BOB, USER_IDS, ZOE
from world import MakeWorld, OpenWorld, World, at_work

pytestmark = pytest.mark.both_engines

# Tables that a backup leaves out, or that a restore changes.
NOT_AS_IT_WAS = frozenset({"resets", "lists", "list_blocks", "list_changes", "epoch", "tokens", "api_keys"})
KEY = {"Idempotency-Key": "once"}
LATER = Migration(9000, "later", "ALTER TABLE maps ADD COLUMN later INTEGER NOT NULL DEFAULT 7;\n")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "game.backup"


@pytest.fixture
def restored(empty_database: str, opened: OpenWorld) -> MakeWorld:
    """Open a world on a database restored from the backup file."""

    def open_(file: Path, **more: bool) -> World:
        restore(file, empty_database, **more)
        return opened(empty_database)

    return open_


# --- data after a restore ------------------------------------------------------------------------------------------


def test_restore_brings_back_all_tables_revokes_tokens_and_suspends_api_keys(
    world: World, file: Path, restored: MakeWorld
) -> None:
    fill(world)
    key = api_keys.create(world)
    give(world)
    world.sql("UPDATE epoch SET trimmed = 3")
    before, last = state.fingerprint(world, NOT_AS_IT_WAS), world.ledger()[-1].seq
    manifest = back_up(world, file)
    give(world)  # this gift is made after the backup
    copy = restored(file)
    assert state.list_changed(before, state.fingerprint(copy, NOT_AS_IT_WAS)) == []
    assert manifest.ledger == last
    assert manifest.rows > 20
    assert copy.sql("SELECT trimmed FROM epoch") == [(3,)]
    assert errors(copy) == []
    assert copy.get("/api/v1/players/Ann").status == 401
    assert api_keys.use(copy, key["Key"]).status == 401
    active = "SELECT COUNT(*) FROM api_keys WHERE suspended_at IS NULL OR revoked_at IS NOT NULL"
    assert copy.sql(active) == [(0,)]


def test_every_table_is_copied_or_left_out_on_purpose(world: World, file: Path) -> None:
    copied = {table.name for table in back_up(world, file).tables}
    left_out = {"resets", "invitations", "invitation_links", "lists", "list_blocks", "list_changes", "erasures"} | {
        "log_counts"
    }
    assert copied == set(state.tables()) - left_out


def test_restored_logs_have_no_entry_of_an_erased_account_and_are_counted_again(
    world: World, file: Path, restored: MakeWorld
) -> None:
    game_logs.report(world)
    assert world.call("DELETE", "/api/v1/users/Ann").status == 200  # its entries are masked, not deleted yet
    back_up(world, file)
    copy = restored(file, keep_tokens=True)
    stored = str([copy.sql(f"SELECT * FROM {table}") for table in ("activity_log", "trade_log", "log_addresses")])  # noqa: S608 - names of the test's own
    assert game_logs.ADDRESSES["Bob"] in stored
    assert game_logs.ADDRESSES["Ann"] not in stored
    bob, nobody = USER_IDS["Bob"], "00000000-0000-0000-0000-000000000000"
    for path, total in ((f"user/{bob}/activity", 1), (f"user/{nobody}/activity", 0), (f"trade?userId={bob}", 1)):
        assert copy.get(f"/api/v1/logs/{path}").json["Total"] == total, path


def test_restored_database_with_kept_tokens_continues(world: World, file: Path, restored: MakeWorld) -> None:
    """Stored answers, tokens and API keys work; reset codes are gone, no mail is sent again, the epoch is new."""
    key, code = api_keys.create(world), outbox.ask(world)
    epoch = world.get("/api/link/v1/changes", by="Server").json["Epoch"]
    first = give(world, headers=KEY)
    last = world.ledger()[-1].seq
    back_up(world, file)
    with Archive(file) as archive:
        rows = [row for table in archive.manifest.tables for row in archive.read_rows(table.name, unseen)]
    assert code not in repr(rows)
    copy = restored(file, keep_tokens=True)
    assert outbox.only(copy).state == "expired"
    assert copy.sql("SELECT COUNT(*) FROM mails WHERE next_try_at IS NOT NULL") == [(0,)]
    assert copy.get("/api/v1/users/Ann").json["PasswordResetCode"] is None
    assert copy.get("/api/v1/players/Ann").status == 200
    assert api_keys.use(copy, key["Key"]).status == 200
    refused(copy.get(f"/api/link/v1/changes?epoch={epoch}", by="Server"), 409, "epoch_changed")
    assert give(copy, headers=KEY) == first  # the restored database replays the stored answer
    assert copy.ledger()[-1].seq == last
    give(copy)
    assert copy.ledger()[-1].seq == last + 1
    assert [each["Name"] for each in copy.get("/api/v1/players/rank").json["Values"]] == ["Zoe", "Ann", "Bob"]


def test_restore_sets_all_players_offline_and_ends_their_play_sessions(
    world: World, file: Path, restored: MakeWorld
) -> None:
    start = playing.find_midnight(world, 3)
    playing.play(world, [(ZOE.id, start, start + 5000)], days=5)
    playing.roll_up(world)
    game_server.heartbeat(world, lease=3600)
    game_server.join(world, ANN.id, BOB.id)
    counted = world.read_tables(playing.NUMBERS)
    made_at = back_up(world, file).made_at
    copy = restored(file, keep_tokens=True)
    assert game_server.online(copy) == []
    assert copy.sql("SELECT COUNT(*) FROM servers") == [(0,)]
    seen = copy.sql("SELECT name FROM players WHERE last_online = $1 ORDER BY name", made_at)
    assert [name for (name,) in seen] == ["Ann", "Bob"]
    ends = copy.sql("SELECT player_id, ended_at FROM play_sessions ORDER BY started_at, player_id")
    assert ends == [(ZOE.id, start + 5000), (ANN.id, made_at), (BOB.id, made_at)]
    assert copy.read_tables(playing.NUMBERS) == counted
    playing.roll_up(copy)
    assert errors(copy) == []
    game_server.heartbeat(copy)
    game_server.join(copy, BOB.id)
    assert game_server.online(copy) == ["Bob"]


def test_restore_migrates_an_older_schema(
    databases: Any, empty_database: str, file: Path, loop: asyncio.AbstractEventLoop, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def old(url: str) -> BackupManifest:
        store = app.open_store(settings.load({}, database=url))
        await store.open()
        await migrate(store)
        insert = Statement("insert", {"": "INSERT INTO maps (id, name) VALUES ($1, 'Meadow')"})
        await store.write(lambda tx: tx.returning(insert, ANN.id))
        made = await backups.create_backup(store, file, unseen)
        await store.close()
        return made

    async def look(keeper: Keeper) -> list[Any]:
        assert await faults(keeper) == []
        found = await keeper.store.all(Statement("maps", {"": "SELECT id, name, later FROM maps"}))
        return [tuple(row) for row in found]

    url = databases.empty()
    schema = load_migrations()
    assert loop.run_until_complete(old(url)).schema == schema[-1].number
    databases.drop(url)
    monkeypatch.setattr("gamekeeper.store.engine.migrate.load_migrations", lambda: [*schema, LATER])
    restore(file, empty_database)
    assert loop.run_until_complete(at_work(empty_database, look)) == [(ANN.id, "Meadow", 7)]


def test_restore_into_the_other_engine(
    world: World, engine: str, file: Path, request: pytest.FixtureRequest, loop: asyncio.AbstractEventLoop
) -> None:
    give(world)
    back_up(world, file)
    others: Any = request.getfixturevalue("postgres_databases" if engine == "sqlite" else "sqlite_databases")
    url = others.empty()
    restore(file, url, keep_tokens=True)
    copy = World(url, world.tokens, loop)
    for path in ("/api/v1/players/Ann/items", "/api/v1/players/Bob", "/api/v1/users/Mona"):
        assert copy.get(path).json == world.get(path).json
    assert errors(copy) == []
    copy.close()
    others.drop(url)


# --- the backup is one snapshot ------------------------------------------------------------------------------------


def test_backup_is_one_snapshot(world: World, file: Path, restored: MakeWorld, opened: OpenWorld) -> None:
    """Items are given while the tables are copied; no part of these changes is in the copy."""
    before = state.fingerprint(world, NOT_AS_IT_WAS)
    other = opened(world.url)
    names: set[str] = set()

    def meanwhile(what: str, _done: int, _total: int | None) -> None:
        if what not in names:
            names.add(what)
            giving = threading.Thread(
                target=give, args=(other,), kwargs={"headers": {"Idempotency-Key": str(len(names))}}
            )
            giving.start()
            giving.join()

    back_up(world, file, meanwhile)
    assert len(world.ledger()) > 20
    copy = restored(file)
    assert state.list_changed(before, state.fingerprint(copy, NOT_AS_IT_WAS)) == []
    assert errors(copy) == []
