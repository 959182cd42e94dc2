"""Test i: the machine's clock jumps under load. No token lives too long, no limit ends early, no request fails.

The server process reads its clock from a file (libfaketime); PostgreSQL and this process keep the real clock.
"""

import os
import random
import time
from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from battery import realm
from battery.cases import POSTGRES, SQLITE, Case, Figure, NotRun, Run, Timed
from battery.givers import Givers
from battery.realm import Realm
from battery.served import AS_IT_IS, WALL_CLOCK, Served

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


@dataclass
class ClockFindings:
    failures: int = 0  # number of requests without an answer or with a 5xx
    unlocked: int = 0
    alive_again: int = 0
    late: float = 0.0
    apart: float = 0.0
    ended_early: int = 0


def jump(run: Run) -> list[Figure]:
    world = realm.prepare(run.database)
    found, chance = ClockFindings(), random.Random(run.seed)
    with ExitStack() as stack:
        clock = _Clock(run.folder / "clock")
        server, caller = _start(stack, run, clock, world)
        pair = _log_in(caller, grant_type="password", username=realm.ROOT, password=realm.PASSWORD).json()
        refresh = pair["refresh_token"]  # from here on it is exchanged, and must stay so
        _log_in(caller, grant_type="refresh_token", refresh_token=refresh).raise_for_status()
        ended = world.short_token(1)
        locked = _lock(caller)
        for _ in range(MAILS):
            _mail(caller).raise_for_status()
        time.sleep(GRACE_SECONDS + 0.1)
        givers = Givers([server.url], world, run.seed, clients=1)
        givers.give_up = SEEDED_GIVE_UP if run.fault else givers.give_up
        with givers.at_work():
            for number in run.rounds(1 if run.fault else len(JUMPS)):
                if time.monotonic() > locked + LOCKED_SECONDS:
                    realm.forget_guesses(run.database)
                    locked = _lock(caller)
                by = JUMPS[-1 - number] if number < len(JUMPS) else chance.choice((*JUMPS, RIGHT))
                _jump(found, clock, by, world, caller, ended)
            clock.move(JUMPS[-1])
        # Restart the server with the wrong clock, which is the only clock that SQLite has.
        server.stop()
        with clock.over():
            server.start()
        again = [_log_in(caller, grant_type="refresh_token", refresh_token=refresh), _with(caller, ended)]
        found.alive_again += sum(each.is_success for each in again)
        if run.engine == POSTGRES:
            _use_beside(stack, found, run, caller, world)
    return _figures(run, found, givers)


class _Clock:
    """Clock of the processes that are started inside `over`; `move` changes it while they run."""

    def __init__(self, file: Path) -> None:
        self._file, self._library = file, _find_library()
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


def _start(stack: ExitStack, run: Run, clock: _Clock, world: Realm) -> tuple[Served, httpx.Client]:
    """Start a server with a movable clock, and a client of it."""
    server = Served(run.fault or AS_IT_IS, run.database, refresh_grace_seconds=GRACE_SECONDS)
    with clock.over():
        stack.enter_context(server)
    return server, stack.enter_context(httpx.Client(base_url=server.url, headers=world.headers, timeout=10))


def _lock(caller: httpx.Client) -> float:
    """Guess an account's password until the account is locked, and return the time of the lock."""
    for _ in range(GUESSES):
        _guess(caller)
    return time.monotonic()


def _jump(found: ClockFindings, clock: _Clock, by: str, world: Realm, caller: httpx.Client, ended: str) -> None:
    """Move the clock. A limit and an ended token must stay as they are, and a new token must end as soon as before."""
    code = world.short_code(LIFE_MS)  # the reset code is made before the token, so it has expired when the token has
    ending, ends = world.short_token(LIFE_MS), time.monotonic() + LIFE_MS / 1000
    clock.move(by)
    locked = [_guess(caller), _mail(caller)]
    found.unlocked += sum(each.status_code != OVER for each in locked)
    dead = [_with(caller, ended), _redeem(caller, "no code at all")]
    found.late = max(found.late, _seconds_after([caller], ending, ends)[0])
    dead += [_redeem(caller, code), _with(caller, ending)]
    found.alive_again += sum(each.is_success for each in dead)
    found.failures += sum(each.is_server_error for each in locked + dead)


def _use_beside(stack: ExitStack, found: ClockFindings, run: Run, caller: httpx.Client, world: Realm) -> None:
    """Use an expiring token at two Gamekeeper instances whose machines' clocks are wrong in different ways."""
    clock = _Clock(run.folder / "another")
    clock.move(SOON)
    callers = [caller, _start(stack, run, clock, world)[1]]
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


def _find_library() -> str:
    for folder in LIBRARIES:
        for path in sorted(Path(folder).glob("**/faketime/libfaketime.so.1")):
            return str(path)
    raise NotRun("libfaketime is missing; it moves the clock of a server. On Debian and Ubuntu: apt install faketime")


def _figures(run: Run, found: ClockFindings, givers: Givers) -> list[Figure]:
    failed = sum(not each.good for each in givers.answers)
    figures = [
        Figure.none("failed gives during clock jumps", failed, f"{failed} of {len(givers.answers)}"),
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


CASES = (Case("i", "clock", jump, faults=(WALL_CLOCK,), fault_engines=(SQLITE,)),)
