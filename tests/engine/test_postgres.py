"""The PostgreSQL store: errors that need several connections, round trips, locks, and the durability of commits."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable, Generator
from itertools import product
from urllib.parse import quote, urlsplit

import pytest

import people
import pgbouncer
from gamekeeper import app
from gamekeeper.game.core import lookup, writes
from gamekeeper.ground import settings
from gamekeeper.store.core import ordered_lists
from gamekeeper.store.engine import postgres_pool
from gamekeeper.store.engine.interface import CommitUnknown, Store, Writing
from gamekeeper.store.engine.statements import Statement
from gamekeeper.store.players import players
from postgres_sessions import connected
from postgres_wire import PostgresWire
from world import Answer, OpenWorld, World

pytestmark = pytest.mark.parametrize("engine", ["postgres"], indirect=True)
MOST_STEPS = 40


def test_cancelled_prepare_leaves_connection_usable(world: World) -> None:
    store = world.keeper.store

    async def hang_up(after: int) -> None:
        asking = asyncio.create_task(players.count(store))
        for _ in range(after):
            await asyncio.sleep(0)
        asking.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await asking

    async def ask(store: Store) -> None:
        for after in range(MOST_STEPS):
            await store.close()  # close the pool: the next connection has no prepared statements
            await hang_up(after)
            await players.count(store)
            await ordered_lists.read_checkpoint(store)

    world.run(ask(store))


def test_commit_with_warning_is_reported_as_unknown(world: World) -> None:
    """If the wait for a standby is cancelled, PostgreSQL reports COMMIT as successful, with a warning."""
    warn = "BEGIN RAISE WARNING 'The transaction has already committed locally'; RETURN NULL; END"
    world.sql(f"CREATE FUNCTION warn() RETURNS trigger LANGUAGE plpgsql AS '{warn.replace(chr(39), chr(39) * 2)}'")
    world.sql(
        "CREATE CONSTRAINT TRIGGER warned AFTER UPDATE ON epoch DEFERRABLE INITIALLY DEFERRED "
        "FOR EACH ROW EXECUTE FUNCTION warn()"
    )
    with pytest.raises(CommitUnknown, match="already committed locally"):
        world.sql("UPDATE epoch SET trimmed = 0")


def test_replayed_request_waits_for_standby_like_the_first(world: World) -> None:
    """A replayed request writes a row, so its COMMIT waits until the standby has the first request's change."""
    give, key = {"itemid": people.COIN.id, "quantity": 1}, {"Idempotency-Key": "k"}
    written: list[str] = []
    for replayed in (False, True):
        answer = world.post("/api/v1/players/Bob/items/give", give, headers=key)
        assert (answer.status, "idempotent-replay" in answer.headers) == (200, replayed)
        written += [row[0] for row in world.sql("SELECT CAST(xmin AS text) FROM idempotency_keys")]
    assert written[0] != written[1]


@pytest.fixture
def wired(world: World, opened: OpenWorld) -> Generator[tuple[World, PostgresWire]]:
    """Return a world that reaches its database through a proxy."""
    with PostgresWire(world.url) as wire:
        yield opened(wire.database), wire


GIVE = "/api/v1/players/Bob/items/give"
GIFT = {"itemid": people.COIN.id, "quantity": 1}
KEY = {"Idempotency-Key": "k"}
ROUND_TRIPS = 4  # BEGIN with the player's lock; item and slots; all writes; COMMIT


@pytest.mark.parametrize("verb", ["give", "take"])
def test_change_of_items_takes_four_round_trips(wired: tuple[World, PostgresWire], verb: str) -> None:
    world, wire = wired
    for key, keyed in product(("Ann", people.ANN.id), (False, True)):
        taken: list[int] = []
        for number in range(3):
            headers = {"Idempotency-Key": f"{key}{number}"} if keyed else {}
            before = wire.round_trips
            world.run(world.send("POST", f"/api/v1/players/{key}/items/{verb}", body=GIFT, headers=headers)).accepted()
            taken.append(wire.round_trips - before)
        assert taken[1:] == [ROUND_TRIPS, ROUND_TRIPS]  # the first request also connects and prepares its statements


def test_change_is_applied_once_when_the_answer_to_commit_is_lost(wired: tuple[World, PostgresWire]) -> None:
    world, wire = wired
    world.post("/api/v1/players/Bob/items/give", GIFT)
    wire.lost_commits = 1
    answer = world.post("/api/v1/players/Bob/items/give", GIFT)
    assert (answer.status, answer.code) == (503, "outcome_unknown")
    assert world.sql("SELECT quantity FROM slots WHERE player_id = $1", people.BOB.id) == [(2,)]


def test_lock_sent_with_begin_is_of_the_named_player_only(world: World) -> None:
    """Names are escaped in the message of BEGIN, which takes no parameters."""
    for name in ("Nobody", "'; DROP TABLE players; --", "\\'", "$1"):
        answer = world.post(f"/api/v1/players/{quote(name, safe='')}/items/give", GIFT)
        assert (answer.status, answer.code) == (404, "no_such_player"), name


def test_texts_in_the_message_of_begin_keep_every_character(world: World) -> None:
    name = "Zoë😀 O'Neil\\U0041$1"
    world.sql("UPDATE players SET name = $1, fold = $2 WHERE id = $3", name, lookup.fold(name), people.BOB.id)
    path = f"/api/v1/players/{quote(name, safe='')}/items/give"
    replays: list[str | None] = []
    for key in ("it's\\", "it's\\\\", "it's\\"):
        answer = world.run(world.send("POST", path, body=GIFT, headers={"Idempotency-Key": key})).accepted()
        replays.append(answer.headers.get("idempotent-replay"))
    assert replays == [None, None, "true"]


def test_second_lock_of_a_transaction_finds_no_other_player(world: World) -> None:
    async def lock_two(tx: Writing) -> list[str | None]:
        found: list[str | None] = []
        for name in ("ann", "nobody"):
            locked = await players.read_locked(tx, await players.hold_by_fold(tx, name, name))
            found.append(locked.id if locked else None)
        return found

    assert world.run(world.keeper.store.write(lock_two)) == [people.ANN.id, None]


@contextlib.asynccontextmanager
async def beside(world: World, text: str) -> AsyncGenerator[None]:
    """Run SQL in a transaction of another session, which stays open meanwhile."""
    async with connected(world.url) as db:
        await db.execute(f"BEGIN; {text}")
        yield


CLAIM = writes._find_claim(writes.Intent("test", actor_id=people.USER_IDS["Root"], key="k"))  # noqa: SLF001 - the number of PostgreSQL's advisory lock  # pyright: ignore[reportPrivateUsage] - the same
LOCK_BOB = f"SELECT FROM players WHERE id = '{people.BOB.id}' FOR UPDATE"


def test_replay_does_not_wait_for_the_lock_of_its_player(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres_pool, "LOCK_SECONDS", 1)

    async def ask() -> list[Answer]:
        await world.keeper.store.close()  # close the pool: the next connection has the shorter timeout
        first = await world.send("POST", GIVE, body=GIFT, headers=KEY)
        async with beside(world, LOCK_BOB):
            again = await world.send("POST", GIVE, body=GIFT, headers=KEY)
            other = await world.send("POST", GIVE, body=GIFT, headers={"Idempotency-Key": "l"})
        return [first, again, other]

    first, again, other = world.run(ask())
    assert (again.raw, again.headers.get("idempotent-replay")) == (first.raw, "true")
    assert other.status == 503


@pytest.mark.parametrize(
    ("held", "status", "code"),
    [(f"SELECT pg_advisory_xact_lock({CLAIM})", 409, "idempotency_in_progress"), (LOCK_BOB, 503, "database_away")],
)
def test_timeout_of_begin_tells_the_claim_from_the_lock(
    world: World, monkeypatch: pytest.MonkeyPatch, held: str, status: int, code: str
) -> None:
    """The claim and the player's lock are sent in one message; another session holds one of them for too long."""
    monkeypatch.setattr(postgres_pool, "LOCK_SECONDS", 1)

    async def ask() -> Answer:
        await world.keeper.store.close()
        async with beside(world, held):
            return await world.send("POST", GIVE, body=GIFT, headers=KEY)

    answer = world.run(ask())
    assert (answer.status, answer.code) == (status, code)


# --- a weak `synchronous_commit` of the database does not make commits less durable -----------------------------------

WEAK = ("off", "local", "remote_write")
SHOW = Statement("show", {"": "SELECT current_setting('synchronous_commit')"})


@pytest.fixture
def set_level(world: World) -> Generator[Callable[[str], None]]:
    """Set synchronous_commit for new sessions of this database."""
    name = urlsplit(world.url).path[1:]

    def set_level(level: str) -> None:
        world.sql(f'ALTER DATABASE "{name}" SET synchronous_commit = {level}')
        world.run(world.keeper.store.close())

    yield set_level
    world.sql(f'ALTER DATABASE "{name}" RESET synchronous_commit')


async def level_in_write(url: str) -> str:
    store = app.open_store(settings.load({}, database=url, connections=1))

    async def ask(tx: Writing) -> str:
        return (await tx.returning(SHOW))[0][0]

    await store.open()
    try:
        outside = await store.all(SHOW)
        inside = await store.write(ask)
        # the store raises synchronous_commit only within its write, not for later reads on the same connection
        assert await store.all(SHOW) == outside
        return inside
    finally:
        await store.close()


def test_write_raises_weak_synchronous_commit_also_behind_pgbouncer(
    world: World, set_level: Callable[[str], None]
) -> None:
    for level, wanted in [*((weak, "on") for weak in WEAK), ("on", "on"), ("remote_apply", "remote_apply")]:
        set_level(level)
        assert asyncio.run(level_in_write(world.url)) == wanted
    for level, wanted in (("off", "on"), ("remote_apply", "remote_apply")):
        set_level(level)
        with pgbouncer.running(world.url) as url:
            assert asyncio.run(level_in_write(url)) == wanted
