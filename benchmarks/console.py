"""CPU time of console pages, beside that of the API operations that return the same data (T12).

Part T12-home compares the home page of a big database with that of a small one.
"""

import http.client
import json
from collections.abc import Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from itertools import product
from urllib.parse import urlencode

from benchmarks import altered, machine, rounds, servers
from benchmarks.latencies import TimedRequests, measure
from benchmarks.load import TIMEOUT_SECONDS
from benchmarks.results import Results, Sample, Verdict, ratio
from benchmarks.rounds import Bench
from benchmarks.servers import Server
from benchmarks.worlds import ENGINES, MIDDLE, PASSWORD, POSTGRES, SMALL, SQLITE
from gamekeeper.demo.world import API_ACCOUNT, make_numbered_name

PART, HOME = "T12", "T12-home"
NAMES = {SQLITE: "SQLite", POSTGRES: "PostgreSQL"}
WHO = f"/api/v1/players/{make_numbered_name(0)}"
KEPT = "/api/keeper/v1"
# Each console page, and the API requests that a program would need to show the same data
PAGES = {
    "/console": (
        *("/api/v1/players/online/count", "/api/v1/info/stats", "/health/ready", f"{KEPT}/changes?limit=10"),
        *("/api/v1/players?pageSize=1", "/api/v1/users?pageSize=1"),
    ),
    f"/console/players/{make_numbered_name(0)}": (
        *(WHO, f"{WHO}/rank", f"{KEPT}/players/{make_numbered_name(0)}/items", f"{WHO}/spells", f"{WHO}/variables"),
        *(f"{KEPT}/changes?limit=20", "/api/v1/gameobjects/item?pageSize=100"),
    ),
    "/console/changes": (f"{KEPT}/changes?limit=50",),
    "/console/changes?kind=player_created": (f"{KEPT}/changes?limit=50&kind=player_created",),
}
# number of gives before the measurement, so that the newest changes are gives and not the long creations of players
GIFTS = 50
LIMIT, GOAL = 2.0, 1.3
HOME_LIMIT, HOME_GOAL = 1.5, 1.1
SHARED, UNSHARED = "home page", "home page, nothing shared with other viewers"
HOME_ABOUT = (
    "one request at a time. Viewers share most numbers of the home page for a second or longer. A server where "
    "nothing is shared reads all of them for each request."
)


def run(bench: Bench, parts: Collection[str]) -> Results:
    del parts  # the argument is unused: this scenario has one part only
    found = Results(notes=[f"{PART}: one request at a time; CPU time of a page against the sum of its operations."])
    for engine in ENGINES:
        print(f"Console on {NAMES[engine]}, {bench.players:,} players", flush=True)
        with ExitStack() as stack:
            asked = _list_pages(bench, stack, engine)
            for number in range(bench.rounds):
                found.samples += [measure(each, number) for each in rounds.order(asked, number)]
        found.verdicts += [_verdict(found.samples, page, engine) for page in PAGES]
    return found


def run_home(bench: Bench, _: Collection[str]) -> Results:
    found = Results(notes=[f"{HOME}: {HOME_ABOUT}"])
    for engine in ENGINES:
        print(f"Home page on {NAMES[engine]}, {MIDDLE:,} players and {SMALL:,}", flush=True)
        with ExitStack() as stack:
            asked = [_open_home(bench, stack, engine, *each) for each in product((SMALL, MIDDLE), (SHARED, UNSHARED))]
            for each in asked:
                measure(each, 0)  # the first requests load code and templates
            for number in range(bench.rounds):
                found.samples += [measure(each, number) for each in rounds.order(asked, number)]
        found.verdicts += [_compare_homes(found.samples, engine, way) for way in (SHARED, UNSHARED)]
    return found


def _open_home(bench: Bench, stack: ExitStack, engine: str, players: int, way: str) -> TimedRequests:
    world = bench.worlds.get(engine, players)
    program = servers.gamekeeper(world)
    if way == UNSHARED:
        program = servers.altered(world, altered.UNSHARED)
    name = f"home-{engine}-{players}{'-unshared' if way == UNSHARED else ''}"
    server = stack.enter_context(servers.running(replace(program, name=name)))
    cookie = {"Cookie": _sign_in(server)}
    return TimedRequests(HOME, _name_home(engine, players, way), server, ("/console",), cookie, players)


def _compare_homes(samples: Sequence[Sample], engine: str, way: str) -> Verdict:
    sides = (rounds.of(samples, _name_home(engine, each, way), "cpu_us") for each in (MIDDLE, SMALL))
    what = f"{way}, {NAMES[engine]}, {MIDDLE:,} players vs. {SMALL:,}"
    return Verdict(HOME, what, ratio(*sides), HOME_LIMIT, HOME_GOAL, at_least=False)


def _name_home(engine: str, players: int, way: str) -> str:
    return f"{way}, {NAMES[engine]}, {players:,}"


def _list_pages(bench: Bench, stack: ExitStack, engine: str) -> list[TimedRequests]:
    world = bench.worlds.get(engine, bench.players)
    server = stack.enter_context(servers.running(servers.gamekeeper(world)))
    token = world.tokens.read_text(encoding="utf-8").split()[0]
    cookie, bearer = {"Cookie": _sign_in(server)}, {"Authorization": f"Bearer {token}"}
    _give(server, bearer)
    found: list[TimedRequests] = []
    for page, operations in PAGES.items():
        found.append(TimedRequests(PART, _name(page, engine, "page"), server, (page,), cookie, world.players))
        found.append(TimedRequests(PART, _name(page, engine, "operations"), server, operations, bearer, world.players))
    return found


def _sign_in(server: Server) -> str:
    """Sign in to the console and return the session cookie, since API tokens do not open pages."""
    form = urlencode({"name": API_ACCOUNT, "password": PASSWORD})
    answer, _ = _send(server, "POST", "/console/sign-in", form, {})
    cookie = answer.getheader("Set-Cookie", "").partition(";")[0]
    if not cookie:
        raise machine.Stop(f"The console answered the sign-in with {answer.status}.")
    return cookie


def _give(server: Server, bearer: Mapping[str, str]) -> None:
    """Give a stackable item to a player GIFTS times."""
    _, listed = _send(server, "GET", "/api/v1/gameobjects/item?pageSize=100", "", bearer)
    stackable = next(each["Id"] for each in json.loads(listed)["Values"] if each["Stackable"])
    body = json.dumps({"itemid": stackable, "quantity": 1})
    for _ in range(GIFTS):
        answer, said = _send(server, "POST", f"{WHO}/items/give", body, {**bearer, "Content-Type": "application/json"})
        if answer.status != http.client.OK:
            raise machine.Stop(f"A gift was answered with {answer.status}: {said[:200]!r}")


def _send(
    server: Server, method: str, path: str, body: str, headers: Mapping[str, str]
) -> tuple[http.client.HTTPResponse, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=TIMEOUT_SECONDS)
    try:
        connection.request(method, path, body, dict(headers))
        answer = connection.getresponse()
        return answer, answer.read()
    finally:
        connection.close()


def _verdict(samples: Sequence[Sample], page: str, engine: str) -> Verdict:
    # not latency: an account that mixes long reads with other requests has to pause, and only the operations do that
    sides = (rounds.of(samples, _name(page, engine, side), "cpu_us") for side in ("page", "operations"))
    return Verdict(PART, f"{page} vs. its operations, {NAMES[engine]}", ratio(*sides), LIMIT, GOAL, at_least=False)


def _name(page: str, engine: str, side: str) -> str:
    return f"{page}, {side}, {NAMES[engine]}"
