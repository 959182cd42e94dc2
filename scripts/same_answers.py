"""Send the same requests to a server on SQLite and one on PostgreSQL, and compare every answer and every row.

    .venv/bin/python scripts/same_answers.py --sqlite sqlite:///same.db --postgres postgresql://…/empty

Both databases must be empty: they are filled with the demo world. Every operation of the API and of the game link is
called, those under /api/v1 by id and by name, with valid and invalid input. Exit code 0: same statuses, bodies and
rows; 1: differences, printed.
"""

import argparse
import asyncio
import json
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple, cast

import httpx
import msgspec

from gamekeeper import app
from gamekeeper.demo import loader, players
from gamekeeper.demo.world import API_ACCOUNT, make_stable_id
from gamekeeper.game.access.passwords import hash_for_wire
from gamekeeper.game.accounts import erasures
from gamekeeper.game.insight import activity
from gamekeeper.game.keeper import Keeper
from gamekeeper.ground import settings
from gamekeeper.http.contract import examples
from gamekeeper.http.contract.operation import Operation
from gamekeeper.http.contract.path_parameters import find_parameter
from gamekeeper.http.routes import ROUTES
from gamekeeper.http.server.router import Router
from gamekeeper.store.engine import copies
from gamekeeper.store.engine.interface import Writing
from gamekeeper.store.engine.migrate import migrate
from server import Server

PASSWORD = "the same on both sides"  # noqa: S105 - a throw-away database's
NEW = hash_for_wire("something else")
VOLATILE = {
    "RequestId",
    "ActorId",
    "PasswordResetCode",
    "LastOnline",
    "RegistrationDate",
    "Since",
    "Key",
    "uptime",
    "Seconds",
    "cps",
    "datetime",
    "TimeStamp",
    "LastUsed",
    "Complete",
    "UpTo",
    "Memory",
    "Cps",
    "port",
    "ServerPort",
    "access_token",
    "refresh_token",
    ".issued",
    ".expires",
    "LastSignIn",
    "play_ms",
    "counted_to",
}
# The season that ranks players by play time. Its rows are not compared: the play sessions that these requests start and
# end last milliseconds, different ones on each engine.
PLAYED = make_stable_id("season", "most-played 1")
# columns with hashes of random texts, or with random salts
HASHES = {"password", "hash", "access_hash", "refresh_hash"}
# tables whose rows are not compared, each with the reason
UNCOMPARED = {
    "activity_minutes": "counts of requests by minute, written some seconds later",
    "log_counts": "counts by minute of logs that the demo writes in relation to now",
    "rollups": "positions in time of background jobs",
    "item_growth": "sums by slots of ten minutes",
    "lists": "marks of transactions; tests/lists/test_lists.py compares the lists with ORDER BY",
    "list_blocks": "the same, saved by a background job",
    "list_changes": "the same",
}
HOUR_SECONDS, FILL_SECONDS = 3600, 60
ZERO = "00000000-0000-0000-0000-000000000000"
RANDOM_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}")  # the demo has version 5
NOBODY = "12345678-1234-4234-8234-123456789abc"
PREFIX, KEEPER, LINK, OAUTH = "/api/v1/", "/api/keeper/v1/", "/api/link/v1/", "/api/oauth/"
COUNTED = tuple(f"{KEEPER}{noun}" for noun in ("economy", "boards", "signals"))
COMPARED = [route for route in ROUTES if route.path.startswith((PREFIX, KEEPER, LINK, OAUTH))]
METHODS = {route.number or route.handler.__name__: route.method for route in COMPARED}
OPERATIONS = {route.name_in_log: route for route in COMPARED}
ROUTER = Router(COMPARED)
# query strings with the largest accepted page number, and with the first refused one
FAR = ("?page=2147483647&pageSize=100", "?page=2147483648")


class Ask(NamedTuple):
    # the operation's number in the spec, or the handler's name for operations that the spec does not have
    operation: int | str
    path: str  # path of the request without the prefix /api/v1/, or with another prefix
    body: Any = None

    @property
    def address(self) -> str:
        return self.path if self.path.startswith("/") else f"{PREFIX}{self.path}"

    @property
    def route(self) -> Operation:
        return OPERATIONS[ROUTER.find(METHODS[self.operation], self.address.encode())[0].name_in_log]


def asks() -> Iterator[Ask]:
    """Yield requests for every operation, by example if none is listed; bans, renames and deletions come last.

    Numbers that a background job counts come first: later they may lack the latest changes.
    """
    counted = [_example(route) for route in COMPARED if route.method == "GET" and route.path.startswith(COUNTED)]
    asked = [
        *counted,
        *_players(),
        *_items(),
        *_users(),
        *_server(),
        *_history(),
        *_mails(),
        *_security(),
        *_activity(),
    ]
    last = list(_keeping())
    known = {each.route.name for each in (*asked, *last)}
    others = [route for route in COMPARED if route.name not in known]
    yield from asked
    yield from (_example(route) for route in others if route.method != "DELETE")
    yield from last
    yield from (_example(route) for route in others if route.method == "DELETE")


def _example(route: Operation) -> Ask:
    path = route.path.removeprefix(PREFIX)
    for name in route.parameters:
        path = path.replace(f"[{name}]", route.example_path.get(name, find_parameter(name, route.path).example))
    return Ask(route.number or route.handler.__name__, path, msgspec.to_builtins(route.example_body))


def _players() -> Iterator[Ask]:
    sample = players.build_sample()
    name, variable = sample.player.name, sample.variable.id
    for query in ("", "?page=1&pageSize=7", "?pageSize=5000&limit=3", "?page=99", "?page=-1", *FAR):
        yield Ask(1, f"players{query}")
        yield Ask(2, f"players/rank{query}")
        yield Ask(20, f"users{query}")
        yield Ask("list_online_players", f"players/online{query}")
    yield Ask(2, "players/rank?sortDirection=ascending")
    for number, path in ((3, "players/online"), (19, "players"), (31, "users")):
        yield Ask(number, path, {})
        yield Ask(number, path, {"page": 1, "count": "3"})
    yield Ask(4, "players/online/count")
    for key in (name, name.upper(), sample.player.id, sample.player.id.replace("-", ""), "Nobody", NOBODY):
        yield Ask(5, f"players/{key}")
        yield Ask("get_rank", f"players/{key}/rank")
        yield Ask(6, f"players/{key}/variables")
        yield Ask(7, f"players/{key}/variables/{variable}")
        yield Ask(8, f"players/{key}/variables/{variable}/value")
    for around in (0, 1, 50, 51, -1, "x"):
        yield Ask("get_rank", f"players/{name}/rank?around={around}")
    for value in (42, "43", True, 2**63, None):
        yield Ask(9, f"players/{name}/variables/{variable}", {"value": value})
    yield Ask(6, f"players/{name}/variables")


def _items() -> Iterator[Ask]:
    sample = players.build_sample()
    name, item, spell = sample.player.name, sample.item.id, sample.spell.id
    for key in (name, sample.player.id, NOBODY):
        yield Ask(10, f"players/{key}/items")
        yield Ask(11, f"players/{key}/items/inventory")
        yield Ask(12, f"players/{key}/items/bank")
        yield Ask(16, f"players/{key}/spells")
    for bag in (sample.bag_id, NOBODY, "bag"):
        yield Ask(13, f"players/bag/{bag}")
    for quantity in (3, "2", 0, 10**9):
        yield Ask(14, f"players/{name}/items/give", {"itemid": item, "quantity": quantity, "bankoverflow": True})
        yield Ask(15, f"players/{name}/items/take", {"itemid": item, "quantity": quantity})
    yield Ask(14, f"players/{name}/items/give", {"itemid": ZERO, "quantity": 1})
    for _ in range(2):
        yield Ask(17, f"players/{name}/spells/teach", {"spellid": spell})
    yield Ask(16, f"players/{name}/spells")
    for _ in range(2):
        yield Ask(18, f"players/{name}/spells/forget", {"spellid": spell})
    yield Ask(10, f"players/{name}/items")


def _users() -> Iterator[Ask]:
    sample = players.build_sample()
    user, right, wrong = sample.account, hash_for_wire(PASSWORD), "0" * 64
    for key in (user, user.upper(), NOBODY, "Nobody"):
        yield Ask(21, f"users/{key}")
        yield Ask(27, f"users/{key}/players")
        yield Ask(28, f"users/{key}/players/0")
        yield Ask(28, f"users/{key}/players/{sample.player.name}")
        yield Ask(28, f"users/{key}/players/99")
    for email in ("new@example.test", "other@example.test", "broken"):
        yield Ask(22, "users/register", {"username": "Newcomer", "password": right, "email": email})
    for sent in (right, wrong, "short"):
        yield Ask(23, f"users/{user}/password/validate", {"password": sent})
        yield Ask(24, f"users/{user}/email/change", {"new": "moved@example.test", "authorization": sent})
    for sent in (wrong, right, right):
        yield Ask(25, f"users/{user}/password/change", {"new": NEW, "authorization": sent})
    yield Ask(26, f"users/{user}/password/reset")
    sent = {"grant_type": "password", "username": API_ACCOUNT, "password": right}
    yield Ask("issue_token", f"{OAUTH}token", sent)
    yield Ask("redeem_reset_code", f"users/{user}/password/reset", {"code": "a guess", "new": right})
    yield Ask(29, f"users/{user}/manage/email/change", {"new": "again@example.test"})
    yield Ask(30, f"users/{user}/manage/password/change", {"new": right})
    yield Ask(21, f"users/{user}")


def _server() -> Iterator[Ask]:
    sample = players.build_sample()
    for operation, path in (
        ("get_info", ""),
        ("is_authorized", "/authorized"),
        ("get_server_stats", "/stats"),
        ("get_server_metrics", "/metrics"),
        ("get_config", "/config"),
    ):
        yield Ask(operation, f"info{path}")
    yield Ask("list_stat_names", "info/config/stats")
    yield Ask("get_time_settings", "gameobjects/time")
    for kind in ("item", "SPELL", "class", "map", "PlayerVariable", "npc", "pets"):
        for query in ("", "?page=1&pageSize=3", "?page=-1", *FAR):
            yield Ask("list_game_objects", f"gameobjects/{kind}{query}")
            yield Ask("list_game_object_names", f"gameobjects/{kind}/names{query}")
        yield Ask("list_game_objects_legacy", f"gameobjects/{kind}", {"page": 1, "count": "3"})
        yield Ask("list_game_object_names_legacy", f"gameobjects/{kind}/names")
        for each in (sample.item.id, NOBODY, "x"):
            yield Ask("get_game_object", f"gameobjects/{kind}/{each}")


def _history() -> Iterator[Ask]:
    name, item = players.build_sample().player.name, players.build_sample().item.id
    for query in (
        "?kind=variables_set",
        "?limit=3",
        f"?item={item}",
        "?kind=items_given&limit=1",
        "?reason=x",
        "?before=5",
        "?from=x",
    ):
        yield Ask("list_changes", f"{KEEPER}changes{query}")
    for what in ("items", "spells", "variables"):
        for query in ("", "?at=1", "?at=60", "?at=2001-01-01", "?at=x"):
            yield Ask(f"get_past_{what}", f"{KEEPER}players/{name}/{what}{query}")
        yield Ask(f"get_past_{what}", f"{KEEPER}players/{NOBODY}/{what}?at=1")
    for seq in (1, 2, 60, 61, 62, 63, 63, 10**6, "x"):
        yield Ask("undo_change", f"{KEEPER}changes/{seq}/undo")
    for text in (name, name[1] + name[0] + name[2:], name[1:], "example", item, "17", "%", ""):
        yield Ask("find", f"{KEEPER}search?q={text}")


def _mails() -> Iterator[Ask]:
    """Yield requests about mails, except the retry of a waiting mail, whose id differs between the engines."""
    for query in ("?limit=0", "?before=x", "?user=x", f"?user={NOBODY}", f"?before=1-{NOBODY}"):
        yield Ask("list_mails", f"{KEEPER}mails{query}")
    for each in (NOBODY, ZERO, "x"):
        yield Ask("retry_mail", f"{KEEPER}mails/{each}/retry")


def _security() -> Iterator[Ask]:
    """Yield requests about the security log, except failed guesses, which are written some seconds later."""
    for query in ("?kind=role_edited", "?kind=sign_in", "?kind=x", "?limit=0", f"?user={NOBODY}"):
        yield Ask("list_security_events", f"{KEEPER}security{query}")


def _activity() -> Iterator[Ask]:
    for query in ("?step=month&from=2020-01-01&to=2020-03-01", "?step=year", "?from=x", "?step=minute&from=2020-01-01"):
        yield Ask("get_activity", f"{KEEPER}activity{query}")
    for query in ("?from=2020-01-01&to=2020-03-01", "?from=x"):
        yield Ask("get_retention", f"{KEEPER}activity/retention{query}")
    name = players.build_sample().player.name
    for query in ("?limit=1000", "?before=x", "?before=1", "?limit=0"):
        yield Ask("list_play_sessions", f"{KEEPER}players/{name}/sessions{query}")


def _keeping() -> Iterator[Ask]:
    sample = players.build_sample()
    user, name = sample.account, sample.player.name
    for act in ("ban", "unban", "mute", "unmute", "kick"):
        for key in (f"users/{user}", f"players/{name}", "users/Nobody", f"players/{NOBODY}"):
            yield Ask(act, f"{key}/admin/{act}", {"reason": "spam", "duration": "2"})
    for given in ({"mute": True}, {"ban": "true"}, {"users.manage": True}, {}, {"kick": 1}):
        yield Ask("change_powers", f"{KEEPER}users/{user}/powers", given)
    for level in (7, "8", 0, 101):
        yield Ask("set_level", f"players/{name}/level", {"level": level})
    for each in (sample.player.class_id, NOBODY):
        yield Ask("set_class", f"players/{name}/class", {"classid": each})
    for of in (f"players/{name}", f"users/{user}", "players/Nobody", "users/Nobody"):
        yield Ask("rename_player", f"{of}/name", {"name": "Renamed"})
    for of in ("players/Renamed", "users/Renamed", "players/Nobody", "users/Nobody"):
        yield Ask("delete_player", of)


async def fill_database(database: str) -> str:
    """Fill the database with the demo world, and return a token for its API."""

    async def fill(keeper: Keeper) -> str:
        await migrate(keeper.store)
        token = (await loader.fill(keeper, PASSWORD)).token
        await keeper.economy.catch_up()
        await keeper.boards.catch_up()
        return token

    return await app.run_with_keeper(settings.load({}, database=database), fill)


def answers(database: str, token: str) -> list[tuple[Ask, int, object]]:
    headers = {"Authorization": f"Bearer {token}"}
    with Server(database) as server, httpx.Client(base_url=server.url, headers=headers, timeout=30) as client:
        found: list[tuple[Ask, int, object]] = []
        key_id = examples.KEY_ID  # of the API key that one of the requests creates
        for ask in asks():
            address = ask.address.replace(examples.KEY_ID, key_id)
            answer = client.request(ask.route.method, address, json=ask.body)
            found.append((ask, answer.status_code, mask_volatile(answer.json())))
            if ask.route.name == "create_key":
                key_id = answer.json()["Id"]
        return found


async def read_rows(database: str) -> dict[str, Counter[str]]:
    """Read all rows of a stopped server's database as JSON with volatile values masked: table → its rows."""

    async def catch_up_and_read(keeper: Keeper) -> dict[str, Counter[str]]:
        """Finish the background jobs first: a server stops wherever they are."""
        await erasures.run_all_jobs(keeper.store)
        await keeper.economy.catch_up()
        await activity.run_rollups(keeper.store, activity.ROLLUPS, None)
        await keeper.boards.catch_up()
        return await keeper.store.write(read)

    async def read(tx: Writing) -> dict[str, Counter[str]]:
        found: dict[str, Counter[str]] = {}
        for table in await copies.list_tables(tx):
            columns = await copies.read_columns(tx, table)
            if table not in UNCOMPARED:
                stored = [row async for some in copies.read_rows(tx, table, columns) for row in some]
                rows = [dict(zip(columns, row, strict=True)) for row in stored]
                found[table] = Counter(_mask_row(row) for row in rows if row.get("season_id") != PLAYED)
        return found

    return await app.run_with_keeper(settings.load({}, database=database), catch_up_and_read)


def _mask_row(row: dict[str, Any]) -> str:
    """Mask a row, and the JSON in its texts."""
    texts = {name: json.loads(value) for name, value in row.items() if str(value).startswith(("{", "["))}
    return json.dumps(mask_volatile(row | texts), sort_keys=True)


def mask_volatile(value: Any) -> object:  # noqa: ANN401 - JSON of any shape
    """Replace values in an answer that may differ between engines: ids, keys and codes made at random, and times."""
    if isinstance(value, dict):
        known = cast("dict[str, Any]", value)
        return {
            key: "…" if _is_volatile(key) and known[key] is not None else mask_volatile(known[key]) for key in known
        }
    if isinstance(value, list):
        return [mask_volatile(each) for each in cast("list[Any]", value)]
    return "…" if isinstance(value, str) and RANDOM_ID.fullmatch(value) else value


def _is_volatile(key: str) -> bool:
    """Return whether a field differs each time. A person's export has columns, in snake case, and security events.

    Its standings have the changes of these requests only when a background job has counted them.
    """
    return (
        key in VOLATILE
        or key in HASHES
        or key in {"at", "request_id", "security", "standings"}
        or key.endswith(("At", "_at", "_expires", "_used"))
    )


def differences(sqlite: str, postgres: str) -> list[str]:
    # the demo's past ends with the last full hour: both databases must be filled within one hour
    if (left := HOUR_SECONDS - time.time() % HOUR_SECONDS) < FILL_SECONDS:
        time.sleep(left)
    tokens = [asyncio.run(fill_database(database)) for database in (sqlite, postgres)]
    pairs = list(zip(answers(sqlite, tokens[0]), answers(postgres, tokens[1]), strict=True))
    asked = {ask.route.name for (ask, _, _), _ in pairs}
    found: list[str] = []
    for (ask, status, body), (_, other_status, other_body) in pairs:
        if (status, json.dumps(body)) != (other_status, json.dumps(other_body)):
            found.append(f"{ask.operation} {ask.path} {ask.body}\n  {status} {body}\n  {other_status} {other_body}")
    statuses = sorted({status for (_, status, _), _ in pairs})
    one, other = (asyncio.run(read_rows(database)) for database in (sqlite, postgres))
    only = {table: (one[table] - other[table]) + (other[table] - one[table]) for table in one.keys() | other.keys()}
    found += [f"rows of {table} on one engine only: {list(rows.elements())}" for table, rows in only.items() if rows]
    print(f"{len(pairs)} requests over {len(asked)} operations, statuses {statuses}: {len(found)} differences")
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sqlite", required=True)
    parser.add_argument("--postgres", required=True)
    given = parser.parse_args()
    found = differences(given.sqlite, given.postgres)
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
