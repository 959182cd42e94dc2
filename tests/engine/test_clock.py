"""The system clock is set forward and back while a server runs, and between two runs."""

import time

import pytest

import people
from findings import findings
from gamekeeper.doctor.findings import NOTE
from gamekeeper.game.access.tokens import hash_token
from world import MakeWorld, World

pytestmark = pytest.mark.both_engines

MINUTE, DAY = 60, 24 * 60 * 60
PATH = "/api/v1/players/online/count"


def move(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    right = time.time
    monkeypatch.setattr(time, "time", lambda: right() + seconds)


def end_in(world: World, milliseconds: int) -> None:
    """Let the token of the account Root expire after this many milliseconds."""
    ends = world.now() + milliseconds
    world.sql("UPDATE tokens SET access_expires = $1 WHERE access_hash = $2", ends, hash_token(world.tokens["Root"]))


def test_time_is_the_database_servers_or_the_system_time_at_start(
    make_world: MakeWorld, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = make_world().now()
    move(monkeypatch, 365 * DAY)
    wanted = {"sqlite": 365 * DAY * 1000, "postgres": 0}[engine]
    assert 0 <= make_world().now() - before - wanted < 10_000


@pytest.mark.parametrize("seconds", [60 * MINUTE, 365 * DAY, -DAY, -30 * 365 * DAY])
def test_clock_jump_changes_neither_database_time_nor_which_tokens_are_valid(
    make_world: MakeWorld, monkeypatch: pytest.MonkeyPatch, seconds: int
) -> None:
    world, other = make_world(), make_world()  # a process remembers valid tokens for a moment
    before = world.now()
    end_in(world, MINUTE * 1000)
    move(monkeypatch, seconds)
    assert 0 <= world.now() - before < 10_000
    assert world.get(PATH).status == 200
    end_in(world, -1)
    assert other.get(PATH).status == 401


def test_clock_set_back_before_start_keeps_expired_token_expired(
    make_world: MakeWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = make_world()
    before = first.now()
    end_in(first, -1)
    assert first.post("/api/v1/players/Ann/spells/teach", {"spellid": people.HEAL.id}, by="Shop").status == 200
    move(monkeypatch, -DAY)
    again = make_world()
    assert again.get(PATH).status == 401
    assert again.now() >= before


def test_clock_set_back_after_token_use_keeps_expired_token_expired(
    make_world: MakeWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = make_world()
    before = first.now()
    first.sql("UPDATE tokens SET last_used = $1", before)
    move(monkeypatch, -DAY)
    assert make_world().now() >= before


def test_command_with_a_clock_in_the_future_moves_the_time_of_the_next_start_and_is_reported(
    make_world: MakeWorld, engine: str
) -> None:
    """The command runs beside a server, whose next change is earlier."""
    first = make_world()
    future = first.now() + 366 * DAY * 1000
    first.post("/api/v1/players/Ann/spells/teach", {"spellid": people.HEAL.id}, by="Shop")
    first.post("/api/v1/players/Ann/spells/forget", {"spellid": people.HEAL.id}, by="Shop")
    assert findings(first, "clock") == []
    first.sql("UPDATE ledger SET at = $1 WHERE seq = (SELECT MAX(seq) - 1 FROM ledger)", future)
    again = make_world()
    on_sqlite = engine == "sqlite"
    assert (again.now() >= future) == on_sqlite
    assert [each.level for each in findings(again, "clock")] == [NOTE] * on_sqlite


def test_views_use_the_steady_clock(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A view's SQL is stored in the file and calls SQLite's julianday(), which the store replaces."""
    world.get("/api/v1/users/Ann/password/reset")
    move(monkeypatch, 365 * DAY)
    assert world.get("/api/v1/users/Ann").json["PasswordResetCode"]
