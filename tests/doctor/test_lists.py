"""The doctor checks the ordered lists, and recounts them while a server runs."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

import pytest

import people
from command_line import CommandLine
from findings import findings
from gamekeeper.doctor import lists as checked_lists
from gamekeeper.doctor.findings import ERROR, DoctorFinding
from gamekeeper.game.lists import ordered_lists
from gamekeeper.game.lists.ordered_lists import Lists
from gamekeeper.store.engine.interface import Reading
from listings import agrees
from world import MakeWorld, World

FIX = "gamekeeper doctor --fix"
DONE = "note: lists: Recounted: rank, names, users, emails, online, online_rank.\n"


class Interrupted:
    """A store that runs a given function after each read."""

    def __init__(self, world: World, then: Callable[[], Awaitable[object]]) -> None:
        self._store: Any = world.keeper.store
        self._then = then

    async def read(self, work: Callable[[Reading], Coroutine[Any, Any, Any]]) -> Any:
        result = await self._store.read(work)
        await self._then()
        return result

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


def found(world: World) -> list[DoctorFinding]:
    return findings(world, "lists")


async def put(world: World, number: int, level: int) -> None:
    player = {"Name": f"Lister{number}", "UserId": people.USER_IDS["Bob"], "Level": level}
    path = f"/api/link/v1/players/{people.guid(0x700 + number)}"
    assert (await world.send("PUT", path, by="Server", body=player)).status == 200


async def remove(world: World, number: int) -> None:
    path = f"/api/link/v1/players/{people.guid(0x700 + number)}"
    assert (await world.send("DELETE", path, by="Server")).status == 200


def put_some(world: World, count: int) -> None:
    for number in range(count):
        world.run(put(world, number, number % 4 + 1))


def lose_a_change(world: World) -> None:
    put_some(world, 2)
    assert world.sql("DELETE FROM list_changes WHERE list = 'rank' AND word = $1 RETURNING step", people.guid(0x700))


# --- doctor's findings about the ordered lists ------------------------------------------------------------------


def test_no_findings_after_every_kind_of_change(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checked_lists, "KEYS_PER_QUERY", 2)
    put_some(world, 5)
    assert found(world) == []
    world.run(put(world, 1, 9))
    world.run(remove(world, 2))
    server = "/api/link/v1/servers/s1"
    assert world.call("PUT", server, by="Server", body={"Lease": 60}).status == 200
    here = {"Players": [people.ANN.id, people.guid(0x701)]}
    assert world.call("POST", f"{server}/joined", by="Server", body=here).status == 200
    assert found(world) == []
    assert agrees(world)
    assert found(world) == []


def test_lost_list_change_is_found_and_fixed(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    lose_a_change(world)
    command = CommandLine(world.url)
    problem = f"error: lists: The list 'rank' is off by 1 rows: it counts 4, and there are 5. Recount them with: {FIX}"
    assert problem in command.says("doctor", code=1).splitlines()
    with monkeypatch.context() as patch:
        patch.setattr(ordered_lists, "MAX_ATTEMPTS", 0)
        said = command.says("doctor", "--fix", code=1)
    assert said.startswith("error: lists: The lists could not be recounted: ")
    assert "The list 'rank' is off by 1 rows" in said
    assert world.get("/api/v1/players/rank").json["Total"] == 4  # the server still has the wrong count in memory
    said = command.says("doctor", "--fix")
    assert said.startswith(DONE)
    assert said.endswith("No errors found.\n")
    assert "error" not in command.says("doctor").removesuffix("No errors found.\n")
    assert agrees(world)


def test_rows_in_wrong_bucket_are_found_despite_right_total(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checked_lists, "KEYS_PER_QUERY", 3)
    put_some(world, 4)
    buckets = '[["",4],["bob",1],["lister2",2]]'
    assert world.run(Lists(world.keeper.store).rebuild())
    world.sql(f"UPDATE list_blocks SET buckets = '{buckets}' WHERE list = 'names'")  # noqa: S608 - the test's own
    [finding] = found(world)
    assert (finding.level, finding.message.split(".")[0]) == (
        ERROR,
        "The list 'names' is off by 6 rows: it counts 7, and there are 7",
    )


def test_unreadable_counts_are_found_and_fixed(world: World) -> None:
    for damage in (
        "DELETE FROM list_blocks WHERE list = 'users'",
        "UPDATE list_blocks SET buckets = '[]' WHERE list = 'users'",
        "UPDATE list_blocks SET buckets = '{\"a\": 1}' WHERE list = 'rank'",
        "UPDATE list_blocks SET buckets = '[[[1, 2], 3]]' WHERE list = 'rank'",
    ):
        world.sql(damage)
        [finding] = found(world)
        assert finding.level == ERROR
        assert finding.message.startswith("The counts of the lists cannot be read: ")
        assert finding.message.endswith(FIX)
        findings(world, fix=True)
        assert found(world) == []
    world.sql("""UPDATE list_blocks SET buckets = '[["bob",3]]' WHERE list = 'names'""")
    assert "The list 'names' is off by 2 rows: it counts 3, and there are 3." in found(world)[0].message


# --- recounting the lists during writes ----------------------------------------------------------------------


@pytest.mark.both_engines
def test_recount_works_during_reads_and_writes(make_world: MakeWorld) -> None:
    serving, other = make_world(), make_world()
    lose_a_change(serving)
    assert serving.get("/api/v1/players/rank").json["Total"] == 4

    async def serve() -> None:
        for number in range(2, 40):
            await put(serving, number, number % 5 + 1)
            assert (await serving.send("GET", "/api/v1/players/rank?page=1")).status == 200
            if number % 3 == 0:
                await put(serving, number - 1, number)
                await remove(serving, number - 2)
            await serving.keeper.lists.maintain()

    async def both() -> list[bool]:
        writing = asyncio.create_task(serve())
        done: list[bool] = []
        while not writing.done():
            done.append(await other.keeper.lists.rebuild())
            await asyncio.sleep(0)
        await writing
        return done

    done = serving.run(both())
    assert len(done) > 1
    assert all(done)
    assert agrees(serving)
    assert found(other) == []


@pytest.mark.both_engines
def test_recount_survives_checkpoint_before_saving(make_world: MakeWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ordered_lists, "CHECKPOINT_ENTRIES", 1)
    serving, other = make_world(), make_world()
    waiting = [7]

    async def write_on() -> None:
        while waiting:
            await put(serving, waiting.pop(), 5)
            await serving.keeper.lists.maintain()

    store: Any = Interrupted(other, write_on)
    assert other.run(Lists(store).rebuild())
    assert not waiting
    assert found(other) == []
    assert agrees(serving)
