"""Password hashing: argon2id in threads, a cache for a minute, and the same work for unknown accounts."""

import asyncio
import os
import sys
import threading
from collections.abc import Coroutine
from types import SimpleNamespace
from typing import Any, TypeVar

import pytest
from argon2 import PasswordHasher, Type, extract_parameters

from gamekeeper.game.access import passwords
from gamekeeper.game.access.passwords import Passwords, hash_for_wire, require_wire_hash
from gamekeeper.game.core.refusals import BadPassword, Overloaded
from loops import over
from proof import refused, rows
from world import SENT, TOKEN, WRONG, Answer, MakeWorld, World

T = TypeVar("T")
pytestmark = pytest.mark.usefixtures("argon2_at_full_cost")


class Checks:
    """All argon2 checks: the stored hashes, and the threads that checked them."""

    def __init__(self) -> None:
        self.against: list[str] = []
        self.threads: set[int] = set()

    def at_work(self) -> list[threading.Thread]:
        """Return the password-checking threads that are still running."""
        return [thread for thread in threading.enumerate() if thread.ident in self.threads]


@pytest.fixture
def make_world(make_world: MakeWorld, argon2_at_full_cost: str) -> MakeWorld:
    def make(**changed: object) -> World:
        world = make_world(**changed)
        world.sql("UPDATE users SET password = $1", argon2_at_full_cost)
        return world

    return make


@pytest.fixture
def checks(monkeypatch: pytest.MonkeyPatch) -> Checks:
    found = Checks()
    real = PasswordHasher.verify

    def counted(hasher: PasswordHasher, stored: str, sent: str) -> bool:
        found.against.append(stored)
        found.threads.add(threading.get_ident())
        return real(hasher, stored, sent)

    monkeypatch.setattr(PasswordHasher, "verify", counted)
    return found


@pytest.fixture
def go_on(checks: Checks, monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Return an event; no password is checked before the test sets it."""
    del checks  # requested so that `checks` wraps PasswordHasher.verify first, and counts delayed checks too
    event, real = threading.Event(), PasswordHasher.verify

    def later(hasher: PasswordHasher, stored: str, sent: str) -> bool:
        return event.wait(60) and real(hasher, stored, sent)

    monkeypatch.setattr(PasswordHasher, "verify", later)
    return event


def run(work: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(work)


# --- stored password hashes ---------------------------------------------------------------------------------------


def test_password_is_stored_as_argon2id_with_its_own_salt(world: World) -> None:
    for name in ("Twin1", "Twin2"):
        body = {"username": name, "password": SENT, "email": f"{name}@example.test"}
        assert world.post("/api/v1/users/register", body).status == 200
    stored = [row[0] for row in world.sql("SELECT password FROM users WHERE name LIKE 'Twin%'")]
    assert len(set(stored)) == 2
    for text in stored:
        found = extract_parameters(text)
        assert (found.type, found.version, found.memory_cost, found.time_cost) == (Type.ID, 19, 19 * 1024, 2)
        assert (found.parallelism, found.salt_len, found.hash_len) == (1, 16, 32)
        assert SENT not in text


def test_only_sha256_in_hex_is_accepted() -> None:
    assert require_wire_hash(SENT.upper()) == SENT == hash_for_wire("correct horse battery staple")
    for bad in ("", "a" * 63, "a" * 65, "g" * 64, "１" * 64, SENT + "\n"):  # noqa: RUF001 - full-width digits on purpose
        with pytest.raises(BadPassword, match="Did not receive a valid password"):
            require_wire_hash(bad)


# --- right and wrong passwords ------------------------------------------------------------------------------------


# stored hash of an account without a password; "!" is literal, because databases contain it
@pytest.mark.parametrize("stored", [None, "!"])
def test_unknown_account_costs_a_real_check(checking: Passwords, checks: Checks, stored: str | None) -> None:
    assert run(checking.is_right(SENT, stored)) is False
    assert len(checks.against) == 1
    found = extract_parameters(checks.against[0])
    assert (found.memory_cost, found.time_cost, found.parallelism) == (19 * 1024, 2, 1)


@over("stored", "", "nonsense", "$argon2id$v=19$m=1")
def test_broken_stored_hash_matches_no_password(checking: Passwords, stored: str) -> None:
    assert run(checking.is_right(SENT, stored)) is False


# --- cache of checked passwords -----------------------------------------------------------------------------------


def test_right_password_is_cached_for_a_minute(
    checking: Passwords, checks: Checks, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = SimpleNamespace(monotonic=lambda: 1000.0)
    monkeypatch.setattr(passwords, "time", clock)
    stored = run(checking.hash_password(SENT))
    for now, expected in ((1000.0, 1), (1059.9, 1), (1060.0, 2), (1119.9, 2)):
        clock.monotonic = lambda now=now: now
        assert run(checking.is_right(SENT, stored))
        assert len(checks.against) == expected, now


def test_only_right_passwords_are_cached(checking: Passwords, checks: Checks) -> None:
    stored = run(checking.hash_password(SENT))
    assert run(checking.is_right(SENT, stored))
    for number in range(2):
        assert not run(checking.is_right(WRONG, stored))
        assert len(checks.against) == 2 + number


def test_cache_key_includes_the_stored_hash(checking: Passwords, checks: Checks) -> None:
    """Another account with the same password, or the same account later, has another hash and is checked again."""
    for expected in (1, 2):
        stored = run(checking.hash_password(SENT))
        assert run(checking.is_right(SENT, stored))
        assert len(checks.against) == expected


def test_cache_has_a_maximum_size(checking: Passwords, checks: Checks, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passwords, "CACHE_ENTRIES", 2)
    first, second, third = (run(checking.hash_password(SENT)) for _ in range(3))
    for stored, expected in ((first, 1), (second, 2), (first, 2), (third, 3), (third, 3), (first, 4)):
        assert run(checking.is_right(SENT, stored))
        assert len(checks.against) == expected


# --- threads that hash passwords ----------------------------------------------------------------------------------


def test_hashing_does_not_block_the_event_loop(checking: Passwords, checks: Checks, go_on: threading.Event) -> None:
    async def turns_meanwhile() -> None:
        stored = await checking.hash_password(SENT)
        under_way = asyncio.gather(*(checking.is_right(wrong * 64, stored) for wrong in "abc"))
        for _ in range(10):
            await asyncio.sleep(0.001)
        assert not under_way.done()
        go_on.set()
        await under_way

    run(turns_meanwhile())
    assert len(checks.against) == 3
    assert threading.get_ident() not in checks.threads


def test_full_queue_is_an_overload(checking: Passwords) -> None:
    async def crowd() -> list[object]:
        crowding = (checking.hash_password(SENT) for _ in range(8))
        return list(await asyncio.gather(*crowding, return_exceptions=True))

    outcomes = run(crowd())
    assert [isinstance(outcome, Overloaded) for outcome in outcomes] == [False] * 3 + [True] * 5
    # after its refusals the hashing queue accepts passwords again
    assert isinstance(run(checking.hash_password(SENT)), str)


def test_full_queue_refuses_cached_passwords_too(checking: Passwords, checks: Checks) -> None:
    async def crowd(stored: str) -> list[object]:
        sent = [WRONG, WRONG, WRONG, SENT]
        crowding = (checking.is_right(each, stored) for each in sent)
        return list(await asyncio.gather(*crowding, return_exceptions=True))

    stored = run(checking.hash_password(SENT))
    assert run(checking.is_right(SENT, stored))
    *wrong, remembered = run(crowd(stored))
    assert wrong == [False] * 3
    assert isinstance(remembered, Overloaded)
    assert run(checking.is_right(SENT, stored))
    assert len(checks.against) == 4


def test_queue_length_counts_waiting_checks(checking: Passwords) -> None:
    async def counts() -> list[int]:
        found = [checking.queue_length]
        crowding = asyncio.gather(*(checking.hash_password(SENT) for _ in range(2)))
        await asyncio.sleep(0)
        found.append(checking.queue_length)
        await crowding
        return [*found, checking.queue_length]

    assert run(counts()) == [0, 2, 0]


@pytest.mark.parametrize(("cores", "threads"), [(None, 1), (1, 1), (4, 3)])
def test_one_core_is_not_used_for_hashing(
    checks: Checks, monkeypatch: pytest.MonkeyPatch, cores: int | None, threads: int
) -> None:
    monkeypatch.setattr(passwords.os, "cpu_count", lambda: cores)
    on_such_a_machine = Passwords(queue=5)

    async def crowd() -> None:
        await asyncio.gather(*(on_such_a_machine.is_right(WRONG, None) for _ in range(5)))

    try:
        run(crowd())
    finally:
        on_such_a_machine.close()
    assert len(checks.against) == 5
    assert len(checks.threads) == threads


def test_close_cancels_waiting_checks_and_ends_the_threads(
    checks: Checks, go_on: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(passwords.os, "cpu_count", lambda: 1)
    closing = Passwords(queue=12)

    async def crowd() -> list[object]:
        crowding = asyncio.gather(*(closing.is_right(WRONG, None) for _ in range(12)), return_exceptions=True)
        await asyncio.sleep(0)
        closing.close()
        go_on.set()
        return list(await crowding)

    away = [outcome for outcome in run(crowd()) if isinstance(outcome, asyncio.CancelledError)]
    assert len(away) == 12 - len(checks.against) > 0
    for thread in checks.at_work():
        thread.join(60)
    assert checks.at_work() == []


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a thread has no priority of its own")
def test_hashing_threads_have_low_priority(checking: Passwords, checks: Checks) -> None:
    assert not run(checking.is_right(WRONG, None))
    niceness = [os.getpriority(os.PRIO_PROCESS, thread.native_id or 0) for thread in checks.at_work()]
    assert niceness == [10]


def test_overload_is_a_503_and_costs_no_guess(make_world: MakeWorld, go_on: threading.Event) -> None:
    world = make_world(hash_queue=1)
    body = {"grant_type": "password", "username": "Root", "password": WRONG}
    # different client addresses, because log-ins from one address would queue up
    places = [f"10.0.0.{number}" for number in range(6)]

    async def crowd() -> list[Answer]:
        """Let one log-in occupy the only place for password checks until all other log-ins were refused."""
        calls = (world.send("POST", TOKEN, body=body, by=None, address=place) for place in places)
        coming = [asyncio.ensure_future(call) for call in calls]
        async with asyncio.timeout(30):
            while sum(each.done() for each in coming) < 5:  # noqa: ASYNC110 - polling is enough here
                await asyncio.sleep(0.001)
        go_on.set()
        return await asyncio.gather(*coming)

    answers = world.run(crowd())
    away = [answer for answer in answers if answer.status != 400]
    assert len(away) == 5
    for answer in away:
        refused(answer, 503, "overloaded")
        assert answer.headers["retry-after"] == "1"
    assert len(rows(world, "guesses")) == len(answers) - len(away)


def test_hashing_works_where_threads_have_no_priority(monkeypatch: pytest.MonkeyPatch) -> None:
    """On macOS a thread has no priority of its own: setting it would fail, and break the pool and all log-ins."""

    def nobody(*_: object) -> None:
        raise ProcessLookupError

    monkeypatch.setattr(passwords.os, "setpriority", nobody)
    monkeypatch.setattr(passwords.sys, "platform", "darwin")
    elsewhere = Passwords(4)
    try:
        assert asyncio.run(elsewhere.hash_password(SENT)).startswith("$argon2id$")
    finally:
        elsewhere.close()
