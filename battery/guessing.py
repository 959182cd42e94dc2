"""Test g: password guessing. Few guesses are hashed, other callers are not locked out, no answer reveals a name."""

import asyncio
import multiprocessing
import random
import statistics
import time
from collections.abc import AsyncGenerator, Generator, Sequence
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import httpx

from battery import realm
from battery.cases import POSTGRES, Case, Figure, Run, Timed
from battery.counted import COUNTED_AFTER, NO_DUMMY_HASH, Counted
from battery.realm import PASSWORD, ROOT, Realm
from gamekeeper.game.access.passwords import hash_for_wire
from gamekeeper.game.accounts import accounts
from gamekeeper.game.core.writes import Decision, Intent
from gamekeeper.game.keeper import Keeper
from gamekeeper.store.access.roles import Powers
from gamekeeper.store.engine.interface import Reading

WRONG = hash_for_wire("not the battery's")
ATTACKER, OWNER, CURIOUS, TIMER = "127.0.0.1", "127.0.0.2", "127.0.0.3", "127.0.0.4"
NEIGHBOUR = "Neighbour"
KNOWN = tuple(f"Known{number}" for number in range(6))
GUESSES, PER_CALLER, PER_ACCOUNT, PER_ADDRESS = 200, 10, 50, 200
PAIRS_EACH = 7  # pairs of log-ins per client address, which may guess at most 10 times
# relative difference of log-in times with known and unknown names: the most that passes; too large to be noise
CLOSE, CLEAR = 0.05, 0.5
BLOCKS, READS, SLOWER = 4, 250, 3.0
STARTED_SECONDS = 120
# parallel guesses per address, and number of addresses: together 48, which keep the queue of password hashes full
BUSY_LANES, BUSY_PLACES = 6, 8
OK, INVALID, WAIT = 200, 400, 429
SPRAYED = 260  # account names tried per time window in the long form


class Site:
    """All server instances on one database, and the file that counts their password hashes."""

    def __init__(self, realm: Realm, urls: list[str], file: Path) -> None:
        self.realm, self.urls, self._file = realm, urls, file

    def count_hashed(self) -> int:
        return self._file.stat().st_size if self._file.exists() else 0


def guessing(run: Run) -> list[Figure]:
    with _site(run) as site:
        figures = list[Figure]()
        # each seeded fault shows in one measurement only: COUNTED_AFTER in _burst, NO_DUMMY_HASH in _answers
        if run.fault != NO_DUMMY_HASH:
            figures += asyncio.run(_burst(site))
        if run.fault != COUNTED_AFTER:
            figures += asyncio.run(_answers(site, random.Random(run.seed)))
        if run.fault:
            return figures
        figures.append(_load(site))
        return figures + asyncio.run(_days(site, run, run.seconds)) if run.seconds else figures


@contextmanager
def _site(run: Run) -> Generator[Site]:
    world = realm.prepare(run.database, 1)
    realm.at_work(run.database, _register)
    file = run.folder / "hashed"
    with ExitStack() as stack:
        count = 2 if run.engine == POSTGRES else 1
        servers = [stack.enter_context(Counted(run.fault, run.database, file)) for _ in range(count)]
        yield Site(world, [each.url for each in servers], file)


async def _register(keeper: Keeper) -> None:
    password = await keeper.passwords.hash_password(PASSWORD)

    async def decide(tx: Reading) -> Decision[None]:
        made = [
            await accounts.register(tx, name, f"{name}@example.test", password, Powers(api=True))
            for name in (NEIGHBOUR, *KNOWN)
        ]
        return Decision([change for each in made for change in each.changes], None)

    await keeper.changes.apply(Intent("battery"), decide, lambda _: b"null")


def _client(address: str) -> httpx.AsyncClient:
    """Return an HTTP client that calls from this loopback address."""
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=None)
    transport = httpx.AsyncHTTPTransport(local_address=address, limits=limits)
    return httpx.AsyncClient(transport=transport, timeout=60)


async def _log_in(client: httpx.AsyncClient, url: str, name: str, password: str = WRONG) -> httpx.Response:
    body = {"grant_type": "password", "username": name, "password": password}
    return await client.post(f"{url}/api/oauth/token", json=body)


async def _burst(site: Site) -> list[Figure]:
    """Guess one account's password concurrently over all instances."""
    async with _client(ATTACKER) as attacker, _client(OWNER) as owner:
        places = site.urls * (GUESSES // len(site.urls))
        answers = await asyncio.gather(*[_log_in(attacker, url, ROOT) for url in places])
        hashed = site.count_hashed()
        turned_away = sum(each.status_code != INVALID for each in answers)
        neighbour = await _log_in(attacker, site.urls[0], NEIGHBOUR, PASSWORD)
        shut = await _log_in(attacker, site.urls[-1], ROOT, PASSWORD)
        own = await _log_in(owner, site.urls[-1], ROOT, PASSWORD)
    what = f"of {GUESSES} guesses at once at one password over {len(site.urls)} process(es)"
    return [
        Figure(f"{what}: hashed", str(hashed), f"1 to {PER_CALLER}", 0 < hashed <= PER_CALLER),
        Figure(f"{what}: rejected", str(turned_away), f"{GUESSES - PER_CALLER}", turned_away >= GUESSES - PER_CALLER),
        _status("another account from the guesser's address", neighbour, OK),
        _status("the right password from the guesser's address", shut, WAIT),
        _status("the right password from the owner's address", own, OK),
    ]


def _status(what: str, answer: httpx.Response, wanted: int) -> Figure:
    return Figure.equal(what, answer.status_code, wanted)


async def _answers(site: Site, chance: random.Random) -> list[Figure]:
    """Compare the answers to log-ins with an existing and an unknown account name."""
    async with _client(CURIOUS) as curious, _client(TIMER) as timer:
        known, unknown = [_comparable(await _log_in(curious, site.urls[0], name)) for name in (KNOWN[0], "Nobody")]
        apart, pairs = await _apart(site, timer, chance)
    if CLOSE < abs(apart) < CLEAR:  # other load may have disturbed the measurement: repeat it
        async with _client("127.0.0.5") as again:
            apart, pairs = await _apart(site, again, chance)
    return [
        Figure(
            "known and unknown names: answers", "equal" if known == unknown else "differ", "equal", known == unknown
        ),
        Timed(
            f"known and unknown names: difference of the median times, {pairs} pairs",
            f"{abs(apart):.1%}",
            f"{CLOSE:.0%}",
            abs(apart) <= CLOSE,
        ),
    ]


def _comparable(answer: httpx.Response) -> tuple[int, list[str], dict[str, Any]]:
    """Return the parts of an answer that must be equal for known and unknown names."""
    body = {name: value for name, value in answer.json().items() if name != "RequestId"}
    return answer.status_code, sorted(answer.headers), body


async def _apart(site: Site, client: httpx.AsyncClient, chance: random.Random) -> tuple[float, int]:
    """Return how much longer a log-in with a known name takes, relative to an unknown one."""
    took: dict[bool, list[float]] = {True: [], False: []}
    for number in range(PAIRS_EACH):
        for name in KNOWN:
            for known in chance.sample([True, False], 2):
                started = time.perf_counter()
                answer = await _log_in(client, site.urls[0], name if known else f"Un{name}")
                took[known].append(time.perf_counter() - started)
                if answer.status_code != INVALID:
                    raise RuntimeError(f"guess {number} at {name}: {answer.status_code} {answer.text}")
    differences = [known - unknown for known, unknown in zip(took[True], took[False], strict=True)]
    return statistics.median(differences) / statistics.median(took[True]), len(differences)


def _load(site: Site) -> Figure:
    """Measure other requests while the queue of password hashes is never empty."""
    ratio, idle, busy = _measure_slowdown(site)
    for _ in range(BLOCKS - 1):
        if ratio > SLOWER:  # other load may have disturbed the measurement: repeat it
            ratio, idle, busy = min((ratio, idle, busy), _measure_slowdown(site))
    found = f"{ratio:.1f} times ({idle * 1000:.1f} and {busy * 1000:.1f} ms)"
    return Timed("p99 of a lookup during guessing, compared with idle", found, f"{SLOWER:.0f} times", ratio <= SLOWER)


def _measure_slowdown(site: Site) -> tuple[float, float, float]:
    idle = _p99(site)
    context = multiprocessing.get_context("spawn")
    stop = context.Event()
    one = list(site.urls[:1])  # send guesses to one instance only: another would need its own CPU core
    guesser = context.Process(target=_keep_guessing, args=(one, stop), daemon=True)
    before = site.count_hashed()
    guesser.start()
    try:
        deadline = time.monotonic() + STARTED_SECONDS
        while site.count_hashed() < before + 2 * BUSY_LANES:
            if not guesser.is_alive() or time.monotonic() > deadline:
                raise RuntimeError(f"no password was guessed within {STARTED_SECONDS} seconds")
            time.sleep(0.05)
        busy = _p99(site)
    finally:
        stop.set()
        guesser.join(STARTED_SECONDS)
        guesser.kill()
    return busy / idle, idle, busy


def _p99(site: Site) -> float:
    took: list[float] = []
    with httpx.Client(base_url=site.urls[0], headers=site.realm.headers, timeout=60) as client:
        for _ in range(READS):
            started = time.perf_counter()
            client.get(f"/api/v1/players/{site.realm.players[0]}").raise_for_status()
            took.append(time.perf_counter() - started)
    return sorted(took)[READS * 99 // 100]


def _keep_guessing(urls: list[str], stop: Any) -> None:  # noqa: ANN401 - an event of whichever context
    """Guess passwords in a separate process, so that it does not delay the measuring process."""
    asyncio.run(_guess_on(urls, stop))


async def _guess_on(urls: list[str], stop: Any) -> None:  # noqa: ANN401 - see above
    first = time.time_ns() % 200

    async def lane(client: httpx.AsyncClient, name: str) -> None:
        number = 0
        while not stop.is_set():
            answer = await _log_in(client, urls[number % len(urls)], f"{name}x{number}")
            number += 1
            if answer.status_code != INVALID:
                await asyncio.sleep(0.05)

    async with _clients([f"127.{first + 1}.0.{place + 1}" for place in range(BUSY_PLACES)]) as clients:
        lanes = [(client, f"{place}a{each}") for place, client in enumerate(clients) for each in range(BUSY_LANES)]
        await asyncio.gather(*[lane(client, name) for client, name in lanes])


@asynccontextmanager
async def _clients(addresses: Sequence[str]) -> AsyncGenerator[list[httpx.AsyncClient]]:
    async with AsyncExitStack() as stack:
        yield [await stack.enter_async_context(_client(address)) for address in addresses]


async def _days(site: Site, run: Run, seconds: int) -> list[Figure]:
    """Guess over many time windows, at one account and from one address at many; old guesses are deleted."""
    chance = random.Random(run.seed)
    at_one, from_one, owner_in, windows = 0, 0, 0, 0
    until = time.monotonic() + seconds
    async with _client(OWNER) as owner:
        await _log_in(owner, site.urls[0], ROOT, PASSWORD)  # this log-in makes the owner's address a known caller
        while time.monotonic() < until:
            windows += 1
            at_one = max(at_one, await _at_one(site, chance))
            owner_in += (await _log_in(owner, site.urls[-1], ROOT, PASSWORD)).status_code == OK
            await asyncio.to_thread(realm.at_work, run.database, realm.forget_guesses)
            from_one = max(from_one, await _from_one(site, chance))
            await asyncio.to_thread(realm.at_work, run.database, realm.forget_guesses)
    what = f"in {windows} windows of five minutes"
    return [
        Figure(f"most hashed at one account, {what}", str(at_one), f"1 to {PER_ACCOUNT}", 0 < at_one <= PER_ACCOUNT),
        Figure(
            f"most hashed from one address, {what}", str(from_one), f"1 to {PER_ADDRESS}", 0 < from_one <= PER_ADDRESS
        ),
        Figure.equal(f"successful log-ins of the owner meanwhile, {what}", owner_in, windows),
    ]


async def _at_one(site: Site, chance: random.Random) -> int:
    """Guess at one account from ten addresses, above the account's limit; return how many guesses are hashed."""
    before = site.count_hashed()
    addresses = [f"127.{chance.randrange(1, 255)}.{chance.randrange(256)}.{place + 1}" for place in range(10)]
    async with _clients(addresses) as clients:
        tries = [(client, url) for client in clients for url in site.urls * 8]
        await asyncio.gather(*[_log_in(client, url, ROOT) for client, url in tries])
    return site.count_hashed() - before


async def _from_one(site: Site, chance: random.Random) -> int:
    """Guess at many names from one address; return how many guesses are hashed."""
    before = site.count_hashed()
    names = [*KNOWN, *(f"Spray{chance.randrange(100_000)}" for _ in range(SPRAYED))]
    lanes = asyncio.Semaphore(BUSY_LANES * BUSY_PLACES)

    async def one(client: httpx.AsyncClient, name: str) -> None:
        async with lanes:
            await _log_in(client, chance.choice(site.urls), name)

    async with _client(f"127.0.1.{chance.randrange(1, 255)}") as client:
        await asyncio.gather(*[one(client, name) for name in names])
    return site.count_hashed() - before


FAULTS = NO_DUMMY_HASH, COUNTED_AFTER
CASES = (Case("g", "guessing", guessing, FAULTS, fault_engines=(POSTGRES,), timed_faults=(NO_DUMMY_HASH,)),)
