"""CPU time per request of every numbered operation of the specification, on both engines."""

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from http.client import HTTPConnection
from random import Random
from statistics import median
from typing import NamedTuple

from benchmarks import copies, load, machine, rounds, servers
from benchmarks.lists import NAMES
from benchmarks.load import Load
from benchmarks.results import Results, Sample
from benchmarks.rounds import Bench
from benchmarks.servers import Server
from benchmarks.worlds import ENGINES, PASSWORD, POSTGRES, SMALL, SQLITE, BenchWorld
from gamekeeper.demo import players, world
from gamekeeper.demo.world import make_numbered_id, make_numbered_name
from gamekeeper.game.access.passwords import hash_for_wire
from gamekeeper.http.routes import ROUTES

PART = "operations"
HEAD = ("number", "operation", "SQLite", "PostgreSQL")
READS = 5_000  # number of different requests of an operation that reads
HASHING_SECONDS = 5  # how much longer the operations with passwords are measured, since each hash takes long
WRITES = 50_000  # number of different requests of an operation that writes; more than a run sends
ONLINE = 1_000  # number of players online
SPELL_PLAYERS = 5_000  # players whose spells are taught and forgotten, each spell once
RICH = 200  # players with enough coins to take from
MANY = 100_000  # coins of a rich player before the first take
WORKING = [name for name in world.ACCOUNTS if name not in world.BANNED]  # accounts with the password
# a limit is not a cost: without these, requests after the first hundreds would be refused
UNLIMITED = {
    f"GAMEKEEPER_{name}": "1000000"
    for name in (
        *("RESETS_PER_ACCOUNT", "RESETS_PER_CALLER", "REGISTRATIONS_PER_CALLER"),
        *("GUESSES_PER_CALLER", "GUESSES_PER_ACCOUNT", "GUESSES_PER_ADDRESS"),
    )
}
Maker = Callable[[Random], str]


@dataclass(frozen=True)
class Driven:
    """How an operation is driven: its requests, and the options of the load."""

    make: Callable[[Random], Iterable[str]]
    once: bool = False  # each request once and in order, since a repeated write would change nothing
    connections: int = 32
    expected: int = 0


class Row(NamedTuple):
    number: str
    operation: str
    sqlite: float
    postgres: float


def run(bench: Bench, parts: Collection[str]) -> Results:
    (part,) = parts
    found = Results()
    for engine in ENGINES:
        print(f"Every operation on {NAMES[engine]}, {SMALL:,} players", flush=True)
        with ExitStack() as stack:
            copy = stack.enter_context(copies.open_copy(bench.worlds.get(engine, SMALL), part))
            program = servers.gamekeeper(copy)
            server = stack.enter_context(servers.running(replace(program, environment=UNLIMITED)))
            _prepare(server, copy)
            found.samples += _measure(bench, server, copy)
    return found


def rows(samples: Iterable[Sample]) -> list[Row]:
    """Return the medians of the rounds as rows of the document's table, the slowest on SQLite first."""
    figures: dict[str, list[float]] = {}
    for each in samples:
        if each.scenario == PART:
            figures.setdefault(each.candidate, []).append(each.cpu_us)
    found: list[Row] = []
    for route in ROUTES:
        name = f"{route.method} {route.path}"
        sides = [figures.get(_name(name, engine)) for engine in (SQLITE, POSTGRES)]
        if route.number and all(sides):
            found.append(Row(str(route.number), name, *(median(each) for each in sides if each)))
    return sorted(found, key=lambda row: -row.sqlite)


def _name(operation: str, engine: str) -> str:
    return f"{operation}, {NAMES[engine]}"


def _measure(bench: Bench, server: Server, copy: BenchWorld) -> list[Sample]:
    """Measure all operations in each round. Requests that can be sent once continue where the last ones stopped."""
    samples: list[Sample] = []
    driven = {route: _load(copy, route.number, DRIVEN[route.number]) for route in ROUTES if route.number}
    for number in range(bench.rounds + 1):
        for route, each in rounds.order([*driven.items()], number):
            rounds.quiet(server.roots)
            before = machine.cpu_seconds(server.roots)
            outcome = load.drive(server.port, each, bench.seconds * (HASHING_SECONDS if each.connections == 1 else 1))
            used = machine.cpu_seconds(server.roots) - before
            if each.first:
                driven[route] = replace(each, first=each.first + outcome.requests + each.connections)
            if not number:
                continue  # the first round is the warm-up
            name, cpu_us = _name(f"{route.method} {route.path}", copy.engine), used * 1e6 / outcome.requests
            print(f"  round {number}  {name:75} {cpu_us:9.1f} µs", flush=True)
            latency = (outcome.p50_ms, outcome.p99_ms)
            samples.append(Sample(PART, name, number - 1, cpu_us, outcome.per_second, *latency, SMALL))
    return samples


def _load(copy: BenchWorld, number: int, driven: Driven) -> Load:
    path = copy.requests(f"operation-{number}", lambda dice: [*driven.make(dice)])
    return Load(path, copy.tokens, driven.connections, driven.expected, first=1 if driven.once else 0)


def _prepare(server: Server, copy: BenchWorld) -> None:
    """Bring players online, make some rich, and teach spells to those who will forget them."""
    token = copy.tokens.read_text(encoding="utf-8").split()[0]
    connection = HTTPConnection("127.0.0.1", server.port, timeout=load.TIMEOUT_SECONDS)
    spells = [{"Slot": slot, "SpellId": each.id} for slot, each in enumerate(world.SPELLS)]
    online = [make_numbered_id("player", number) for number in range(ONLINE)]
    sent = [
        ("PUT", "/api/link/v1/servers/bench", {"Lease": 3600}),
        ("POST", "/api/link/v1/servers/bench/joined", {"Players": online}),
        *(
            ("POST", f"{_player(number)}/items/give", {"itemid": world.COIN.id, "quantity": MANY})
            for number in range(RICH)
        ),
        *(("PUT", f"/api/link/v1/players/{each}", {"Spells": spells}) for each in _forgetting()),
    ]
    for method, path, body in sent:
        connection.request(method, path, json.dumps(body), {"Authorization": f"Bearer {token}"})
        answer = connection.getresponse()
        said = answer.read()
        if answer.status >= 300:  # noqa: PLR2004 - not a success
            raise machine.Stop(f"{method} {path} was answered with {answer.status}: {said.decode()}")
    connection.close()


# --- the requests --------------------------------------------------------------------------------------------------


def _teaching() -> Sequence[str]:
    return [make_numbered_id("player", number) for number in range(SPELL_PLAYERS)]


def _forgetting() -> Sequence[str]:
    return [make_numbered_id("player", number) for number in range(SPELL_PLAYERS, SPELL_PLAYERS + 2_000)]


def _player(number: int) -> str:
    return f"/api/v1/players/{make_numbered_id('player', number) if number % 2 else make_numbered_name(number)}"


def _any_player(dice: Random) -> str:
    return _player(dice.randrange(SMALL))


def _rich_player(dice: Random) -> str:
    return _player(dice.randrange(RICH))


def _any_user(dice: Random) -> str:
    number = dice.randrange(SMALL)
    return f"/api/v1/users/{make_numbered_id('user', number) if number % 2 else make_numbered_name(number)}"


def _read(make: Maker) -> Driven:
    return Driven(lambda dice: [make(dice) for _ in range(READS)])


def _write(make: Maker, connections: int = 32) -> Driven:
    return Driven(lambda dice: [make(dice) for _ in range(WRITES)], once=True, connections=connections)


def _get(path: Maker, ending: str = "") -> Driven:
    return _read(lambda dice: f"GET {path(dice)}{ending}")


def _post(path: Maker, ending: str, body: Callable[[Random], Mapping[str, object]], connections: int = 32) -> Driven:
    return _write(lambda dice: f"POST {path(dice)}{ending} {json.dumps(body(dice))}", connections)


def _page_of(path: str, count: int) -> Driven:
    return _read(lambda dice: f"GET {path}?page={dice.randrange(count // 5)}")


def _legacy_page_of(path: str, count: int) -> Driven:
    return _read(lambda dice: f"POST {path} {json.dumps({'page': dice.randrange(count // 5), 'count': 5})}")


def _spells_of(act: str, players: Sequence[str], spells: Sequence[str]) -> Driven:
    pairs = [(spell, player) for spell in spells for player in players]
    lines = [f'POST /api/v1/players/{player}/spells/{act} {{"spellid":"{spell}"}}' for spell, player in pairs]
    return Driven(lambda _: lines, once=True)


_SAMPLE = players.build_sample()
_RIGHT, _WRONG = hash_for_wire(PASSWORD), hash_for_wire("wrong")
_FIRST_SPELLS = {kind.spells[0].id for kind in world.CLASSES}  # known to the numbered players
_VARIABLE = f"/variables/{world.DRAGONS.id}"


def _person(dice: Random) -> str:
    """Choose an account that has the password, except the first one, whose email is changed."""
    return f"/api/v1/users/{dice.choice(WORKING[1:])}"


def _first_person(_: Random) -> str:
    return f"/api/v1/users/{WORKING[0]}"


def _email(dice: Random) -> str:
    return f"new{dice.randrange(10**12)}@example.test"


def _register(dice: Random) -> str:
    name = "N" + "".join(dice.choices("abcdefghijklmnopqrstuvwxyz", k=15))
    body = {"username": name, "password": _RIGHT, "email": f"{name}@example.test"}
    return f"POST /api/v1/users/register {json.dumps(body)}"


def _own_player(dice: Random) -> str:
    number = dice.randrange(SMALL)
    return f"GET /api/v1/users/{make_numbered_name(number)}/players/{make_numbered_name(number)}"


# by number in the specification; one connection for those that check or hash a password
DRIVEN: Mapping[int, Driven] = {
    1: _page_of("/api/v1/players", SMALL),
    2: _page_of("/api/v1/players/rank", SMALL),
    3: _legacy_page_of("/api/v1/players/online", ONLINE),
    4: _read(lambda _: "GET /api/v1/players/online/count"),
    5: _get(_any_player),
    6: _get(_any_player, "/variables"),
    7: _get(_any_player, _VARIABLE),
    8: _get(_any_player, f"{_VARIABLE}/value"),
    9: _post(_any_player, _VARIABLE, lambda dice: {"value": dice.randrange(10**9)}),
    10: _get(_any_player, "/items"),
    11: _get(_any_player, "/items/inventory"),
    12: _get(_any_player, "/items/bank"),
    13: _read(lambda _: f"GET /api/v1/players/bag/{_SAMPLE.bag_id}"),
    14: _post(_any_player, "/items/give", lambda _: {"itemid": world.COIN.id, "quantity": 1}),
    15: _post(_rich_player, "/items/take", lambda _: {"itemid": world.COIN.id, "quantity": 1}),
    16: _get(_any_player, "/spells"),
    17: _spells_of("teach", _teaching(), [each.id for each in world.SPELLS if each.id not in _FIRST_SPELLS]),
    18: _spells_of("forget", _forgetting(), [each.id for each in world.SPELLS]),
    19: _legacy_page_of("/api/v1/players", SMALL),
    20: _page_of("/api/v1/users", SMALL),
    21: _get(_any_user),
    22: _write(_register, connections=1),
    23: replace(_post(_any_user, "/password/validate", lambda _: {"password": _WRONG}, 1), expected=400),
    24: _post(_first_person, "/email/change", lambda dice: {"new": _email(dice), "authorization": _RIGHT}, 1),
    25: _post(_person, "/password/change", lambda _: {"new": _RIGHT, "authorization": _RIGHT}, 1),
    26: _write(lambda dice: f"GET {_any_user(dice)}/password/reset"),
    27: _get(_any_user, "/players"),
    28: _read(_own_player),
    29: _post(_any_user, "/manage/email/change", lambda dice: {"new": _email(dice)}),
    30: _post(_any_user, "/manage/password/change", lambda _: {"new": _RIGHT}, 1),
    31: _legacy_page_of("/api/v1/users", SMALL),
}
