"""CPU time of console pages, beside that of the API operations that return the same data (T12)."""

import time
from collections.abc import Collection, Sequence
from http import HTTPStatus
from statistics import median

import httpx

from benchmarks import machine, rounds, servers
from benchmarks.lists import NAMES
from benchmarks.results import Results, Sample, Verdict, compare
from benchmarks.rounds import Bench, Contest
from benchmarks.servers import Server
from benchmarks.worlds import ENGINES, PASSWORD
from gamekeeper.demo.world import API_ACCOUNT, COIN, make_numbered_name

PART = "T12"
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
SECONDS, TIMEOUT_SECONDS = 1, 60


def run(bench: Bench, _: Collection[str]) -> Results:
    found = Results(notes=[f"{PART}: one request at a time; CPU time of a page against the sum of its operations."])
    for engine in ENGINES:
        print(f"Console on {NAMES[engine]}, {bench.players:,} players", flush=True)
        world = bench.worlds.get(engine, bench.players)
        names = {page: [f"{page}, {side}, {NAMES[engine]}" for side in ("page", "operations")] for page in PAGES}
        with Contest(bench, PART) as contest:
            server = contest.serve(servers.gamekeeper(world))
            url = f"http://127.0.0.1:{server.port}"
            program, person = (
                contest.enter_context(httpx.Client(base_url=url, headers=headers, timeout=TIMEOUT_SECONDS))
                for headers in (world.bearer, {})
            )
            # API tokens do not open pages, and a session's cookie does not authenticate the API
            person.post("/console/sign-in", data={"name": API_ACCOUNT, "password": PASSWORD})
            for _gift in range(GIFTS):
                program.post(f"{WHO}/items/give", json={"itemid": COIN.id, "quantity": 1}).raise_for_status()
            asked = [
                each
                for page, operations in PAGES.items()
                for each in ((names[page][0], person, (page,)), (names[page][1], program, operations))
            ]
            for number in range(bench.rounds):
                for name, client, paths in rounds.order(asked, number):
                    found.samples.append(_measure(name, server, client, paths, number, world.players))
        for page, sides in names.items():
            # not latency: an account that mixes long reads with other requests has to pause, as only operations do
            what, ratio = f"{page} vs. its operations, {NAMES[engine]}", compare(found.samples, *sides)
            found.verdicts.append(Verdict(PART, what, ratio, LIMIT, GOAL, at_least=False))
    return found


def _measure(
    name: str, server: Server, client: httpx.Client, paths: Sequence[str], number: int, players: int
) -> Sample:
    """Request all paths in turn, again and again for a second."""
    before, took = machine.cpu_seconds(server.roots), list[float]()
    while sum(took) < SECONDS:
        began = time.perf_counter()
        for path in paths:
            answer = client.get(path)
            if answer.status_code != HTTPStatus.OK:
                raise machine.Stop(f"{name}: {path} was answered with {answer.status_code}: {answer.text[:200]}")
        took.append(time.perf_counter() - began)
    used = (machine.cpu_seconds(server.roots) - before) * 1e6 / len(took)
    milliseconds = [1000 * each for each in sorted(took)]
    print(f"  round {number + 1}  {name:60} {used:9.1f} µs", flush=True)
    latency = (median(milliseconds), milliseconds[(len(took) - 1) * 99 // 100])
    return Sample(PART, name, number, used, len(took) / sum(took), *latency, players)
