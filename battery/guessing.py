"""Test g: password guessing. Few guesses are hashed, other callers are not locked out, no answer reveals a name."""

import asyncio
import random
import statistics
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx

from battery import realm, storm
from battery.cases import POSTGRES, Case, Figure, Run, Timed
from battery.overload import UNGUARDED, percentile
from battery.realm import PASSWORD, ROOT, Realm
from battery.served import AS_IT_IS, COUNTED_AFTER, NO_DUMMY_HASH, Served
from gamekeeper.game.access.passwords import hash_for_wire
from server import Server

WRONG = hash_for_wire("not the battery's")
ATTACKER, OWNER, CURIOUS, TIMER, TIMER_AGAIN = (f"127.0.0.{number}" for number in range(1, 6))
NEIGHBOUR = "Neighbour"
KNOWN = tuple(f"Known{number}" for number in range(6))
GUESSES, PER_CALLER = 200, 10
PAIRS_EACH = 7  # pairs of log-ins per client address, which may guess at most 10 times
# relative difference of log-in times with known and unknown names: the most that passes; too large to be noise
CLOSE, CLEAR = 0.05, 0.5
TRIES, READS, SLOWER = 4, 250, 3.0
GUESSERS, GUESSING_SECONDS, WARM_SECONDS = 48, 12, 1.0  # so many clients keep the queue of password hashes full
OK, INVALID, WAIT = 200, 400, 429


def guess(run: Run) -> list[Figure]:
    world = realm.prepare(run.database, 1, (NEIGHBOUR, *KNOWN))
    figures, hashes = list[Figure](), run.folder / "hashed"
    with ExitStack() as stack:
        count = 2 if run.engine == POSTGRES else 1
        servers = [
            stack.enter_context(Served(run.fault or AS_IT_IS, run.database, hashes=hashes)) for _ in range(count)
        ]
        urls = [each.url for each in servers]
        # each seeded fault shows in one measurement only
        if run.fault != NO_DUMMY_HASH:
            figures += asyncio.run(_guess_at_once(urls, hashes))
        if run.fault != COUNTED_AFTER:
            figures += asyncio.run(_compare_answers(urls[0], random.Random(run.seed)))
    return figures if run.fault else [*figures, _measure_slowdown(run, world)]


def _open_client(address: str) -> httpx.AsyncClient:
    """Return an HTTP client that calls from this loopback address."""
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=None)
    transport = httpx.AsyncHTTPTransport(local_address=address, limits=limits)
    return httpx.AsyncClient(transport=transport, timeout=60)


async def _log_in(client: httpx.AsyncClient, url: str, name: str, password: str = WRONG) -> httpx.Response:
    body = {"grant_type": "password", "username": name, "password": password}
    return await client.post(f"{url}/api/oauth/token", json=body)


async def _guess_at_once(urls: Sequence[str], hashes: Path) -> list[Figure]:
    """Guess one account's password concurrently over all instances."""
    async with _open_client(ATTACKER) as attacker, _open_client(OWNER) as owner:
        places = [*urls] * (GUESSES // len(urls))
        answers = await asyncio.gather(*[_log_in(attacker, url, ROOT) for url in places])
        hashed = len(hashes.read_bytes())  # noqa: ASYNC240 - nothing else is waiting
        rejected = sum(each.status_code != INVALID for each in answers)
        neighbour = await _log_in(attacker, urls[0], NEIGHBOUR, PASSWORD)
        shut = await _log_in(attacker, urls[-1], ROOT, PASSWORD)
        own = await _log_in(owner, urls[-1], ROOT, PASSWORD)
    what = f"of {GUESSES} guesses at once at one password over {len(urls)} process(es)"
    return [
        Figure(f"{what}: hashed", str(hashed), f"1 to {PER_CALLER}", 0 < hashed <= PER_CALLER),
        Figure.above(f"{what}: rejected", rejected, GUESSES - PER_CALLER),
        Figure.equal("another account from the guesser's address", neighbour.status_code, OK),
        Figure.equal("the right password from the guesser's address", shut.status_code, WAIT),
        Figure.equal("the right password from the owner's address", own.status_code, OK),
    ]


async def _compare_answers(url: str, chance: random.Random) -> list[Figure]:
    """Compare the answers to log-ins with an existing and an unknown account name."""
    async with _open_client(CURIOUS) as curious:
        known, unknown = [_comparable(await _log_in(curious, url, name)) for name in (KNOWN[0], "Nobody")]
    apart = 0.0
    for address in (TIMER, TIMER_AGAIN):
        async with _open_client(address) as timer:
            apart = abs(await _compare_times(url, timer, chance))
        if not CLOSE < apart < CLEAR:  # between them, other load may have disturbed the measurement: repeat it
            break
    what = f"known and unknown names: difference of the median times, {PAIRS_EACH * len(KNOWN)} pairs"
    return [
        Figure.none("known and unknown names: answers differ", known != unknown),
        Timed(what, f"{apart:.1%}", f"{CLOSE:.0%}", apart <= CLOSE),
    ]


def _comparable(answer: httpx.Response) -> tuple[int, list[str], dict[str, Any]]:
    """Return the parts of an answer that must be equal for known and unknown names."""
    body = {name: value for name, value in answer.json().items() if name != "RequestId"}
    return answer.status_code, sorted(answer.headers), body


async def _compare_times(url: str, client: httpx.AsyncClient, chance: random.Random) -> float:
    """Return how much longer a log-in with a known name takes, relative to an unknown one."""
    took: dict[bool, list[float]] = {True: [], False: []}
    for name in KNOWN * PAIRS_EACH:
        for known in chance.sample([True, False], 2):
            started = time.perf_counter()
            answer = await _log_in(client, url, name if known else f"Un{name}")
            took[known].append(time.perf_counter() - started)
            if answer.status_code != INVALID:
                raise RuntimeError(f"a guess at {name}: {answer.status_code} {answer.text}")
    differences = [known - unknown for known, unknown in zip(took[True], took[False], strict=True)]
    return statistics.median(differences) / statistics.median(took[True])


def _measure_slowdown(run: Run, world: Realm) -> Figure:
    """Measure other requests while the queue of password hashes is never empty."""
    ratio = idle = busy = 0.0
    with Server(run.database, **UNGUARDED) as server:
        for number in range(TRIES):  # other load may disturb the measurement: repeat it
            idle = _measure_p99(server.url, world)
            guesses = storm.start(server.url, run.seed + number, GUESSING_SECONDS, "clients", GUESSERS)
            time.sleep(WARM_SECONDS)
            busy = _measure_p99(server.url, world)
            if guesses.poll() is not None:
                raise RuntimeError("the guesses ended before the measurement")
            guesses.kill()
            guesses.communicate()
            ratio = busy / idle
            if ratio <= SLOWER:
                break
    found = f"{ratio:.1f} times ({idle * 1000:.1f} and {busy * 1000:.1f} ms)"
    return Timed("p99 of a lookup during guessing, compared with idle", found, f"{SLOWER:.0f} times", ratio <= SLOWER)


def _measure_p99(url: str, world: Realm) -> float:
    took: list[float] = []
    with httpx.Client(base_url=url, headers=world.headers, timeout=60) as client:
        for _ in range(READS):
            started = time.perf_counter()
            client.get(f"/api/v1/players/{world.players[0]}").raise_for_status()
            took.append(time.perf_counter() - started)
    return percentile(took, 99)


FAULTS = NO_DUMMY_HASH, COUNTED_AFTER
CASES = (Case("g", "guessing", guess, FAULTS, fault_engines=(POSTGRES,), timed_faults=(NO_DUMMY_HASH,)),)
