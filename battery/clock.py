"""Test i: the machine's clock jumps under load. No token lives too long, no limit ends early, no request fails.

The server process reads its clock from a file (libfaketime); PostgreSQL and this process keep the real clock.
In the test `keys` the clock that decides about expiry is wrong: the machine's on SQLite, the database server's on
PostgreSQL.
"""

import os
import random
import tempfile
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from battery import realm
from battery.cases import POSTGRES, SQLITE, Case, Figure, NotRun, Run, Timed
from battery.givers import Givers
from battery.realm import Realm
from battery.served import AS_IT_IS, FREQUENT_RETENTION, HASTY_RETENTION, WALL_CLOCK, Served
from gamekeeper.game.keeper import Keeper
from gamekeeper.store.core import ledger
from pair import open_node

LIBRARIES = ("/usr/lib", "/usr/local/lib")
JUMPS = ("+1h", "+1y", "-1d", "-30y")
RIGHT, SOON = "+0", "+5m"
WRONG_PASSWORD = "0" * 64
GUESSES, MAILS = 10, 3  # numbers of password guesses and of reset mails that are allowed before the answer is 429
OVER = 429
LIFE_MS = 700
BESIDE_MS = 2_000  # milliseconds: lifetime of a token that is sent to two servers
LOCKED_SECONDS = 240  # seconds after which the account must still be locked; guesses count for five minutes
SEEDED_GIVE_UP = 1.0  # seconds that a give is retried after the test with the fault, when it may never succeed
LATE_SECONDS = 0.5  # seconds by which a token may expire late on a busy machine
GRACE_SECONDS = 1  # seconds during which an exchanged refresh token still works
WRONG = "+40d"  # libfaketime's offset of the wrong clock: longer than KEPT_DAYS, so all old keys seem to have expired
KEPT_DAYS = 30
TOKEN_MS = 60 * 24 * 60 * 60 * 1000  # milliseconds: lifetime of a token, 60 days: more than the wrong clock is ahead
OLD_KEYS = 20
WRONG_SECONDS = 4  # seconds of serving with the wrong clock: about twenty runs of the retention job


@dataclass
class ClockFindings:
    jumps: int = 0
    failures: int = 0  # number of requests without an answer or with a 5xx
    unlocked: int = 0
    alive_again: int = 0
    late: float = 0.0
    apart: float = 0.0
    ended_early: int = 0
    gives: int = 0
    failed_gives: int = 0


def run(run: Run) -> list[Figure]:
    library = _library()
    world = realm.prepare(run.database, 4)
    found = ClockFindings()
    with ExitStack() as stack:
        clock = _Clock(run.folder / "clock", library)
        server = _start(stack, run, clock)
        caller = stack.enter_context(httpx.Client(base_url=server.url, headers=world.headers, timeout=10))
        ended = _end_some(caller, world)
        givers = Givers(server.url, world.token, world.players, run.seed, clients=1)
        if run.fault:
            givers.give_up = SEEDED_GIVE_UP
        locked = time.monotonic()
        with givers.at_work():
            for jump in _jumps(run):
                if time.monotonic() > locked + LOCKED_SECONDS:
                    realm.at_work(run.database, realm.forget_guesses)
                    locked = _lock(caller)
                found.jumps += 1
                _jump(found, clock, jump, world, caller, ended)
        found.gives, found.failed_gives = len(givers.answers), sum(not each.good for each in givers.answers)
        _begin_again(found, server, caller, clock, ended)
        if run.engine == POSTGRES:
            _beside(found, run, caller, world)
    return _figures(run, found)


class _Clock:
    """Clock of the processes that are started inside `over`; `move` changes it while they run."""

    def __init__(self, file: Path, library: str) -> None:
        self._file, self._library = file, library
        self.move(RIGHT)

    def move(self, by: str) -> None:
        written = self._file.with_suffix(".new")
        written.write_text(by, encoding="ascii")
        written.replace(self._file)

    @contextmanager
    def over(self) -> Generator[None]:
        """Let processes that are started inside this block use the movable clock."""
        given = {
            "LD_PRELOAD": self._library,
            "FAKETIME_TIMESTAMP_FILE": str(self._file),
            # CLOCK_MONOTONIC is not faked, because it cannot jump on a real machine either
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            "FAKETIME_NO_CACHE": "1",
        }
        os.environ.update(given)
        try:
            yield
        finally:
            for name in given:
                del os.environ[name]


@dataclass(frozen=True)
class _Ended:
    """Credentials and limits that must stay expired or exhausted, whatever the clock says."""

    token: str
    refresh: str


def _start(stack: ExitStack, run: Run, clock: _Clock) -> Served:
    server = Served(WALL_CLOCK if run.fault else AS_IT_IS, run.database, refresh_grace_seconds=GRACE_SECONDS)
    with clock.over():
        return stack.enter_context(server)


def _end_some(caller: httpx.Client, world: Realm) -> _Ended:
    """Guess at Root's password until it is locked, request three mails, and exchange a token pair."""
    pair = _log_in(caller, grant_type="password", username=realm.ROOT, password=realm.PASSWORD).json()
    _log_in(caller, grant_type="refresh_token", refresh_token=pair["refresh_token"]).raise_for_status()
    _lock(caller)
    for _ in range(MAILS):
        _mail(caller).raise_for_status()
    ended = _Ended(world.short_token(1), pair["refresh_token"])
    time.sleep(GRACE_SECONDS + 0.1)
    return ended


def _lock(caller: httpx.Client) -> float:
    """Guess an account's password until the account is locked, and return the time of the lock."""
    for _ in range(GUESSES):
        _guess(caller)
    return time.monotonic()


def _jump(found: ClockFindings, clock: _Clock, jump: str, world: Realm, caller: httpx.Client, ended: _Ended) -> None:
    code = world.short_code(LIFE_MS)  # the reset code is made before the token, so it has expired when the token has
    ending, ends = world.short_token(LIFE_MS), time.monotonic() + LIFE_MS / 1000
    clock.move(jump)
    locked = [_guess(caller), _mail(caller)]
    found.unlocked += sum(each.status_code != OVER for each in locked)
    dead = [_with(caller, ended.token), _redeem(caller, "no code at all")]
    found.late = max(found.late, _seconds_after([caller], ending, ends)[0])
    dead += [_redeem(caller, code), _with(caller, ending)]
    found.alive_again += sum(each.is_success for each in dead)
    found.failures += sum(each.is_server_error for each in locked + dead)


def _begin_again(found: ClockFindings, server: Served, caller: httpx.Client, clock: _Clock, ended: _Ended) -> None:
    """Restart the server with the wrong clock, which is the only clock that SQLite has."""
    server.stop()
    with clock.over():
        server.start()
    refresh = _log_in(caller, grant_type="refresh_token", refresh_token=ended.refresh)
    found.alive_again += sum(each.is_success for each in (refresh, _with(caller, ended.token)))


def _beside(found: ClockFindings, run: Run, caller: httpx.Client, world: Realm) -> None:
    """Use an expiring token at two Gamekeeper instances whose machines' clocks are wrong in different ways."""
    clock = _Clock(run.folder / "another", _library())
    clock.move(SOON)
    with ExitStack() as stack:
        other = _start(stack, run, clock)
        callers = [caller, stack.enter_context(httpx.Client(base_url=other.url, headers=world.headers, timeout=10))]
        ending, ends = world.short_token(BESIDE_MS), time.monotonic() + BESIDE_MS / 1000
        found.ended_early += sum(not _with(each, ending).is_success for each in callers)
        seconds = _seconds_after(callers, ending, ends)
    found.late, found.apart = max(found.late, *seconds), max(seconds) - min(seconds)


def _seconds_after(callers: Sequence[httpx.Client], token: str, ends: float) -> list[float]:
    """Return for how many seconds after its expiry, at most 2 * LATE_SECONDS, each server still accepted the token."""
    waiting, last = set(callers), dict.fromkeys(callers, 0.0)
    while waiting and time.monotonic() < ends + 2 * LATE_SECONDS:
        for each in list(waiting):
            asked = time.monotonic()
            if _with(each, token).is_success:
                last[each] = max(0.0, asked - ends)
            else:
                waiting.discard(each)
        time.sleep(0.01)
    return [last[each] for each in callers]


def _with(caller: httpx.Client, token: str) -> httpx.Response:
    return caller.get("/api/v1/players/online/count", headers={"Authorization": f"Bearer {token}"})


def _log_in(caller: httpx.Client, **fields: str) -> httpx.Response:
    return caller.post("/api/oauth/token", json=fields)


def _guess(caller: httpx.Client) -> httpx.Response:
    return caller.post(f"/api/v1/users/{realm.ROOT}/password/validate", json={"password": WRONG_PASSWORD})


def _mail(caller: httpx.Client) -> httpx.Response:
    return caller.get(f"/api/v1/users/{realm.ROOT}/password/reset")


def _redeem(caller: httpx.Client, code: str) -> httpx.Response:
    return caller.post(f"/api/v1/users/{realm.ROOT}/password/reset", json={"code": code, "new": realm.PASSWORD})


def _jumps(run: Run) -> Iterator[str]:
    """Yield each clock jump once, or random ones in the long form; with the seeded fault, the jump that shows it."""
    if run.fault:
        yield JUMPS[-1]
        return
    if run.seconds is None:
        yield from JUMPS
        return
    chance, until = random.Random(run.seed), time.monotonic() + run.seconds
    while time.monotonic() < until:
        yield chance.choice((*JUMPS, RIGHT))
    yield JUMPS[-1]


def _library() -> str:
    for folder in LIBRARIES:
        for path in sorted(Path(folder).glob("**/faketime/libfaketime.so.1")):
            return str(path)
    raise NotRun("libfaketime is missing; it moves the clock of a server. On Debian and Ubuntu: apt install faketime")


def _figures(run: Run, found: ClockFindings) -> list[Figure]:
    gives = f"{found.failed_gives} of {found.gives}"
    figures = [
        Figure.none(f"failed gives during {found.jumps} clock jumps", found.failed_gives, gives),
        Figure.none("other failed requests", found.failures),
        Figure.none("limits on guesses and mails that ended early", found.unlocked),
        Figure.none("expired tokens and codes that work again", found.alive_again),
        Timed.within("longest use of a token after its expiry", found.late, LATE_SECONDS),
    ]
    if run.engine == POSTGRES:
        figures += [
            Figure.none("two instances, clocks 30 years apart: tokens expired early", found.ended_early),
            Timed.within("two instances: time between their last answers", found.apart, LATE_SECONDS),
        ]
    return figures


def keys(run: Run) -> list[Figure]:
    """Serve and write with the deciding clock 40 days ahead; then repeat earlier requests with their keys."""
    with ExitStack() as stack:
        clock = _Clock(_open_folder(stack) / "clock", _library())
        database = run.database if run.engine == SQLITE else _start_postgres(stack, clock)
        world = realm.prepare(database, 2)
        token = world.short_token(TOKEN_MS)
        way = run.fault or FREQUENT_RETENTION
        server = Served(way, database, ledger_days=KEPT_DAYS, key_days=KEPT_DAYS)
        stack.callback(server.stop)
        with clock.over():
            server.start()
            before = _give_with_old_keys(server, token, world)
            server.stop()
            clock.move(WRONG)
            server.start()
        givers = Givers(server.url, token, world.players, run.seed, clients=1)
        with givers.at_work():
            time.sleep(WRONG_SECONDS)
        server.stop()
        clock.move(RIGHT)
        server.start()
        after = _give_with_old_keys(server, token, world)
        trimmed = realm.at_work(database, _count_trimmed)
    replayed = sum(_is_replay(*both) for both in zip(before, after, strict=True))
    gives = sum(each.good for each in givers.answers)
    return [
        Figure("gives with the clock 40 days ahead", str(gives), "> 0", gives > 0),
        Figure("older keys that replay afterwards", f"{replayed} of {OLD_KEYS}", "all", replayed == OLD_KEYS),
        Figure.none("changes trimmed", trimmed),
    ]


def _open_folder(stack: ExitStack) -> Path:
    """Make a folder that PostgreSQL, which does not run as root, can read its clock from."""
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="gk-clock-", ignore_cleanup_errors=True)))
    folder.chmod(0o755)
    return folder


def _start_postgres(stack: ExitStack, clock: _Clock) -> str:
    """Start a PostgreSQL server whose clock can be moved."""
    node = stack.enter_context(open_node())
    with clock.over():
        node.start()
    return node.url


def _give_with_old_keys(server: Served, token: str, world: Realm) -> list[httpx.Response]:
    path, body = f"/api/v1/players/{world.players[0]}/items/give", {"itemid": realm.ITEM, "quantity": 1}
    with httpx.Client(base_url=server.url, headers={"Authorization": f"Bearer {token}"}, timeout=10) as caller:
        keys = [{"Idempotency-Key": f"old-{number}"} for number in range(OLD_KEYS)]
        return [caller.post(path, json=body, headers=key) for key in keys]


def _is_replay(before: httpx.Response, after: httpx.Response) -> bool:
    replayed = after.headers.get("Idempotent-Replay") == "true"
    return before.is_success and replayed and after.content == before.content


async def _count_trimmed(keeper: Keeper) -> int:
    return await ledger.read_trimmed(keeper.store)


CASES = (
    Case("i", "clock", run, faults=(WALL_CLOCK,), fault_engines=(SQLITE,)),
    Case("i", "keys", keys, faults=(HASTY_RETENTION,)),
)
