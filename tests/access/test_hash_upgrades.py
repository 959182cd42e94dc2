"""Imported passwords: valid at once, and converted to argon2id by log-ins and a background job."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

import people
from gamekeeper import app
from gamekeeper.game.access import credentials, passwords
from gamekeeper.game.core import lookup
from gamekeeper.store.engine.interface import DatabaseUnavailable
from gamekeeper.store.engine.statements import Statement
from proof import refused
from world import NEW, PLAYERS, SENT, TOKEN, USERS, WRONG, Answer, MakeWorld, World

SALT = "5E884898DA28047151D0E56F8DC6292773603D0D6AABBDD62A11EF721D1542D8"
IMPORTED = f"intersect${SALT}${passwords.hash_as_intersect(SENT, SALT)}"
ACCOUNTS = ("Ann", "Bob", "Shop")
ARGON2 = "$argon2id$"


def bring_in(world: World, *names: str, stored: str = IMPORTED) -> None:
    for name in names:
        world.sql("UPDATE users SET password = $2 WHERE name = $1", name, stored)


def kept(world: World) -> Mapping[str, str]:
    return {name: stored for name, stored in world.sql("SELECT name, password FROM users") if name in ACCOUNTS}


def log_in(world: World, sent: str = SENT, name: str = "Shop") -> Answer:
    return world.post(TOKEN, {"grant_type": "password", "username": name, "password": sent}, by=None)


def validate(world: World, name: str, sent: str = SENT) -> Answer:
    return world.post(f"{USERS}/{name}/password/validate", {"password": sent})


def wrap(world: World) -> None:
    world.run(credentials.wrap_all(world.keeper))


def before_it_is_told(world: World, monkeypatch: pytest.MonkeyPatch, happens: Callable[[], Any]) -> None:
    """Run a function once, between the check of a password and the write that follows the check."""
    real = world.keeper.passwords.verify_and_upgrade
    left = [happens]

    async def slow(sent: str, stored: str | None) -> str | None:
        found = await real(sent, stored)
        if left:
            await left.pop()()
        return found

    monkeypatch.setattr(world.keeper.passwords, "verify_and_upgrade", slow)


@pytest.fixture(autouse=True)
def restless(monkeypatch: pytest.MonkeyPatch) -> None:
    """Set the pauses of the rehashing job to 0."""
    monkeypatch.setattr(credentials, "REST_FACTOR", 0)


# --- log-ins with imported passwords --------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["imported", "wrapped"])
def test_first_log_in_replaces_the_imported_hash_by_argon2(world: World, form: str) -> None:
    bring_in(world, "Shop")
    if form == "wrapped":
        wrap(world)
    ledger, earlier = world.ledger(), kept(world)["Shop"]
    assert earlier.startswith(passwords.WRAPPED if form == "wrapped" else passwords.IMPORTED)
    answer = log_in(world, WRONG)
    assert (answer.status, answer.json["error"]) == (400, "invalid_grant")
    assert kept(world)["Shop"] == earlier
    first = log_in(world, SENT.upper()).accepted()
    stored = kept(world)["Shop"]
    assert stored.startswith(ARGON2)
    assert log_in(world).status == 200
    assert kept(world)["Shop"] == stored
    for token in (first.json["access_token"], world.tokens["Shop"]):
        assert world.get(PLAYERS, token=token).status == 200
    assert world.ledger() == ledger


@pytest.mark.both_engines
def test_parallel_log_ins_on_two_instances_all_succeed(make_world: MakeWorld) -> None:
    """Each log-in makes its own hash and only one is stored, but all log-ins succeed."""
    one, other = make_world(), make_world()
    bring_in(one, "Shop")
    body = {"grant_type": "password", "username": "Shop", "password": SENT}
    answers = one.at_once([each.send("POST", TOKEN, body=body, by=None) for each in (one, other, one, other)])
    assert [answer.status for answer in answers] == [200] * 4
    for answer in answers:
        assert other.get(PLAYERS, token=answer.json["access_token"]).status == 200


@pytest.mark.both_engines
@pytest.mark.parametrize(
    ("path", "body"),
    [
        (TOKEN, {"grant_type": "password", "username": "Shop", "password": SENT}),
        (f"{USERS}/Shop/password/validate", {"password": SENT}),
        (f"{USERS}/Shop/email/change", {"new": "shop@new.test", "authorization": SENT}),
        (f"{USERS}/Shop/password/change", {"new": NEW, "authorization": SENT}),
    ],
)
def test_log_in_succeeds_when_the_hash_is_wrapped_meanwhile(
    world: World, monkeypatch: pytest.MonkeyPatch, path: str, body: dict[str, str]
) -> None:
    bring_in(world, "Shop")
    before_it_is_told(world, monkeypatch, lambda: credentials.wrap_all(world.keeper))
    world.post(path, body).accepted()
    assert kept(world)["Shop"].startswith(ARGON2)
    assert validate(world, "Shop", NEW if "password/change" in path else SENT).status == 200


@pytest.mark.both_engines
def test_log_in_fails_when_the_password_is_changed_meanwhile(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A log-in with the imported password fails, and its new hash does not overwrite that of the changed password."""
    bring_in(world, "Shop")
    change = {"new": NEW}
    before_it_is_told(
        world, monkeypatch, lambda: world.send("POST", f"{USERS}/Shop/manage/password/change", body=change)
    )
    answer = log_in(world)
    assert (answer.status, answer.json["error"]) == (400, "invalid_grant")
    assert log_in(world, NEW).status == 200


@pytest.mark.both_engines
def test_log_in_fails_when_the_account_is_deleted_meanwhile(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    bring_in(world, "Clerk")
    delete = Statement("delete", {"": "DELETE FROM users WHERE name = 'Clerk'"})
    before_it_is_told(world, monkeypatch, lambda: world.keeper.store.write(lambda tx: tx.returning(delete)))
    answer = log_in(world, name="Clerk")
    assert (answer.status, answer.json["error"]) == (400, "invalid_grant")


# --- the background job that wraps imported hashes ------------------------------------------------------------------


def test_job_wraps_all_hashes_and_changes_nothing_else(world: World) -> None:
    bring_in(world, "Ann", "Shop")
    before, ledger = kept(world), world.ledger()
    wrap(world)
    after = kept(world)
    assert [after[name].startswith(passwords.WRAPPED) for name in ACCOUNTS] == [True, False, True]
    assert after["Bob"] == before["Bob"]
    assert world.ledger() == ledger
    assert world.get(PLAYERS, by="Shop").status == 200
    wrap(world)
    assert kept(world) == after


def test_job_wraps_broken_hashes_too(world: World) -> None:
    """Otherwise the rehashing job would find a malformed imported hash again for ever."""
    for rest in ("", "$", "$$", "ion"):
        bring_in(world, "Ann", stored=f"intersect{rest}")
        wrap(world)
        assert kept(world)["Ann"].startswith(passwords.WRAPPED)
        refused(validate(world, "Ann"), 400, "wrong_password")


@pytest.mark.parametrize("batch", [1, 100])
def test_job_wraps_all_from_any_start(world: World, monkeypatch: pytest.MonkeyPatch, batch: int) -> None:
    monkeypatch.setattr(credentials, "BATCH_ACCOUNTS", batch)
    for start in (lookup.ZERO_GUID, people.USER_IDS["Bob"], "ffffffff-ffff-4fff-8fff-ffffffffffff"):
        monkeypatch.setattr(lookup, "new_guid", lambda start=start: start)
        bring_in(world, *ACCOUNTS)
        wrap(world)
        assert all(stored.startswith(passwords.WRAPPED) for stored in kept(world).values())


@pytest.mark.both_engines
def test_job_does_not_overwrite_a_password_changed_meanwhile(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    bring_in(world, "Ann")
    real = world.keeper.passwords.wrap_imported

    async def slow(imported: passwords.ImportedHash) -> str:
        found = await real(imported)
        await world.send("POST", f"{USERS}/Ann/manage/password/change", body={"new": NEW})
        return found

    monkeypatch.setattr(world.keeper.passwords, "wrap_imported", slow)
    wrap(world)
    assert kept(world)["Ann"].startswith(ARGON2)
    assert validate(world, "Ann", NEW).status == 200


def test_interrupted_job_continues_later(make_world: MakeWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    world, after_a_restart = make_world(), make_world()
    bring_in(world, *ACCOUNTS)
    real = world.keeper.passwords.wrap_imported
    made: list[str] = []

    async def dies(imported: passwords.ImportedHash) -> str:
        made.append(await real(imported))
        if len(made) == 2:
            raise DatabaseUnavailable("the power went")
        return made[-1]

    monkeypatch.setattr(world.keeper.passwords, "wrap_imported", dies)
    with pytest.raises(DatabaseUnavailable):
        wrap(world)
    assert sorted(stored.partition("$")[0] for stored in kept(world).values()) == ["intersect", "intersect", "wrapped"]
    for name in ACCOUNTS:
        assert validate(world, name).status == 200
    bring_in(world, "Ann", "Bob")
    wrap(after_a_restart)
    assert sorted(stored.partition("$")[0] for stored in kept(world).values()) == ["", "wrapped", "wrapped"]


def test_serving_process_runs_the_job(world: World) -> None:
    bring_in(world, "Ann")
    upkeep = app.BackgroundJobs(world.asgi.services)

    async def a_look() -> None:
        for seconds, work in upkeep.jobs:
            if seconds == credentials.POLL_SECONDS:
                await work()

    world.run(a_look())
    assert kept(world)["Ann"].startswith(passwords.WRAPPED)


@pytest.mark.both_engines
def test_two_instances_can_wrap_at_the_same_time(make_world: MakeWorld) -> None:
    one, other = make_world(), make_world()
    bring_in(one, *ACCOUNTS)
    one.at_once(credentials.wrap_all(each.keeper) for each in (one, other))
    assert all(stored.startswith(passwords.WRAPPED) for stored in kept(one).values())
    assert log_in(other).status == 200
