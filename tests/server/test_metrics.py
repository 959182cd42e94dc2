"""Metrics for Prometheus: token, format, and correct totals, also over several workers."""

import asyncio
import re
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx
import pytest

import game_server
import people
from gamekeeper.console.frame import static_files
from gamekeeper.ground import log
from gamekeeper.http.server.metrics import FAMILIES, WorkerSamples, list_room_metrics
from server import Server, free_port
from world import MakeWorld, World

Samples = dict[str, float]
TOKEN = "scrape-me"
DOCUMENT = Path(__file__).parents[2] / "docs" / "operating.md"
ALL_FAMILIES = dict(FAMILIES) | {name: each for room in list_room_metrics() for name, each in room.families.items()}
LINE = re.compile(r'(\w+(?:\{\w+="[^"\n]*"(?:,\w+="[^"\n]*")*\})?) (\d+(?:\.\d+)?(?:e[+-]?\d+)?)')
PLAYER = 'route="GET /api/v1/players/[lookupKey]"'
OVERDUE = 'gamekeeper_deliveries{state="overdue"}'


def parse_metrics(text: str) -> Samples:
    """Parse the Prometheus text format strictly: HELP and TYPE of each family come once, before its samples."""
    samples: Samples = {}
    family = ""
    for line in text.splitlines():
        if line.startswith("# HELP "):
            family = line.split(" ", 3)[2]
            assert not any(name.startswith(f"{family}{{") for name in samples)
        elif line.startswith("# TYPE "):
            assert line.split() == ["#", "TYPE", family, ALL_FAMILIES[family].kind]
        else:
            found = LINE.fullmatch(line)
            assert found, line
            assert re.match(rf"{family}(_bucket|_sum|_count)?\b", found[1])
            assert found[1] not in samples
            samples[found[1]] = float(found[2])
    return samples


def scrape(world: World) -> Samples:
    answer = world.get("/metrics", token=TOKEN)
    assert (answer.status, answer.headers["content-type"]) == (200, "text/plain; version=0.0.4; charset=utf-8")
    return parse_metrics(answer.raw.decode())


def requests(samples: Samples, route: str, status: int) -> float:
    return sum(value for name, value in samples.items() if f'_total{{{route},status="{status}"' in name)


def test_metrics_need_the_setting_and_its_token(shared_world: World, make_world: MakeWorld) -> None:
    assert shared_world.get("/metrics", token="").code == shared_world.get("/nothing", token="").code
    world = make_world(metrics_token=TOKEN)
    for sent in ["", "Bearer ", "Bearer wrong", f"Basic {TOKEN}", f"Bearer {TOKEN}x", "Bearer é"]:
        answer = world.get("/metrics", by=None, headers={"Authorization": sent})
        assert (answer.status, answer.headers["www-authenticate"].partition(" ")[0]) == (401, "Bearer")
    assert world.get("/metrics", by="Root").status == 401


def test_requests_are_counted_by_route_and_status_in_a_cumulative_histogram(make_world: MakeWorld) -> None:
    world = make_world(metrics_token=TOKEN)
    for name in ("Ann", "BOB", "Nobody"):
        world.get(f"/API/v1/Players/{name}")
    for number in range(3):
        world.call(f"INVENTED{number}", f"/no/such/{number}")
    samples = scrape(world)
    assert (requests(samples, PLAYER, 200), requests(samples, PLAYER, 404)) == (2, 1)
    assert requests(samples, 'route="none"', 404) == 3
    assert not any("INVENTED" in name or "API" in name for name in samples)
    name = f'gamekeeper_request_seconds_{{}}{{{{{PLAYER},worker="1"{{}}}}}}'
    buckets = [value for each, value in samples.items() if each.startswith(name.format("bucket", ',le="')[:-2])]
    assert buckets == sorted(buckets)
    assert buckets[-1] == samples[name.format("count", "")] == 3
    assert 0 < samples[name.format("sum", "")] < 60


def test_access_log_names_the_declared_path_and_leaves_out_files_that_were_sent(
    make_world: MakeWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = list[tuple[Any, ...]]()
    monkeypatch.setattr(log, "access", lambda *line: lines.append(line))  # pyright: ignore[reportUnknownLambdaType,reportUnknownArgumentType] - as log.access
    world = make_world(access_log=True)
    for path, status in (
        ("/API/V1/Players/BOB", 200),
        ("/console/static/console.css", 200),
        (f"/console/static/{static_files.VERSION}/console.css", 200),
        ("/api/docs/docs.js", 200),
        ("/console/static/missing.css", 404),
        ("/api/docs/missing.js", 404),
    ):
        assert world.get(path).status == status, path
    etag = world.get("/console/static/console.css").headers["etag"]
    assert world.get("/console/static/console.css", headers={"If-None-Match": etag}).status == 304
    assert [(line[2], line[3]) for line in lines] == [
        ("GET /api/v1/players/[lookupKey]", 200),
        ("GET /console/static/[file]", 404),
        ("GET /api/docs/[asset]", 404),
    ]


def test_database_gauges_show_its_contents(make_world: MakeWorld) -> None:
    world = make_world(metrics_token=TOKEN)
    before = scrape(world)
    game_server.heartbeat(world)
    game_server.join(world, people.ZOE.id)
    world.get("/api/v1/users/Ann/password/reset")
    assert world.post("/api/v1/players/Zoe/admin/kick", {}).status == 200
    after = scrape(world)
    names = ("gamekeeper_players_online", 'gamekeeper_outbox{state="waiting"}', "gamekeeper_database_up", OVERDUE)
    assert [before[name] for name in names] == [0, 0, 1, 0]
    assert [after[name] for name in names] == [1, 1, 1, 0]
    assert after["gamekeeper_ledger_position"] > before["gamekeeper_ledger_position"]
    assert after['gamekeeper_token_cache{worker="1"}'] == 2
    world.sql("UPDATE deliveries SET queued_at = queued_at - 31000")
    assert scrape(world)[OVERDUE] == 1


# PostgreSQL only: an SQLite file stays available, because this process holds it open
@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
def test_unreachable_database_is_reported_as_down(databases: Any, loop: asyncio.AbstractEventLoop) -> None:
    url = databases.fresh()
    world = World(url, databases.tokens, loop, metrics_token=TOKEN)
    databases.drop(url)
    samples = scrape(world)
    assert samples["gamekeeper_database_up"] == 0
    assert "gamekeeper_ledger_position" not in samples
    world.close()


def test_documentation_lists_exactly_the_metrics() -> None:
    rows = re.findall(r"^\| `(gamekeeper_\w+)` \| (\w+) \|", DOCUMENT.read_text(encoding="utf-8"), re.MULTILINE)
    assert dict(rows) == {name: family.kind for name, family in ALL_FAMILIES.items()}


def test_every_worker_reports_the_samples_of_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    workers = [WorkerSamples(2) for _ in range(2)]
    for each in workers:
        each.claim_number()
    assert [each.number for each in workers] == [1, 2]
    for value in ("1", "2"):
        for each in workers:
            each.publish([(f"requests of {each.number}", value)])
        told = [("requests of 1", value), ("requests of 2", value)]
        assert [sorted(each.read_all()) for each in workers] == [told, told]


@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
@pytest.mark.long_only
def test_workers_share_the_health_port_and_report_all_and_counters_never_fall(
    database: str, known_tokens: Mapping[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each request uses a new connection, so that both workers get some. They exchange their counts now and then."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    asked = {"Authorization": f"Bearer {known_tokens['Root']}"}
    number, before, give_up = 0, Samples(), time.monotonic() + 60

    def scrape_server() -> Samples:
        assert time.monotonic() < give_up
        text = httpx.get(f"{server.url}/metrics", headers={"Authorization": f"Bearer {TOKEN}"}).text
        found = parse_metrics(text)
        counts = {name: value for name, value in before.items() if "_total" in name or "_bucket" in name}
        assert [name for name, value in counts.items() if found[name] < value] == [], number
        return found

    health = free_port()
    with Server(database, workers=2, metrics_token=TOKEN, health_port=health) as server:
        ready = [httpx.get(f"http://127.0.0.1:{health}/health/ready", timeout=30).status_code for _ in range(10)]
        assert ready == [200] * 10
        lines = [f'gamekeeper_requests_total{{{PLAYER},status="200",worker="{each}"}}' for each in (1, 2)]
        while number < 12 or not all(before.get(each) for each in lines):
            number += 1
            httpx.get(f"{server.url}/api/v1/players/Ann", headers=asked).raise_for_status()
            before = scrape_server()
        while requests(before, PLAYER, 200) < number:
            before = scrape_server()
        assert requests(before, PLAYER, 200) == number
        assert server.stop() == 0
    assert list(tmp_path.iterdir()) == []  # after the shutdown no files of the workers' counts are left
