"""Check that a peer answers like Gamekeeper, and writes the same rows: the benchmark does so before it measures."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from itertools import zip_longest
from typing import Any, NamedTuple

import apsw
import httpx

from pair import fetch

PLAYERS = 50
SIZES = (1, 5, 100)
LISTS = ("/api/v1/players", "/api/v1/players/rank")
OK = 200
VOLATILE = {"x-request-id", "date"}
FILE = "sqlite:///"
# What a gift writes, without times, the ids of requests and the caller's token
WRITTEN = (
    "SELECT player_id, place, slot, item_id, quantity, bag_id, buffs FROM slots ORDER BY player_id, place, slot",
    "SELECT seq, kind, actor_id, over_link, player_id, user_id, before, after, reason, undoes FROM ledger ORDER BY seq",
    "SELECT account_id, key, fingerprint, answer, player_id, user_id FROM idempotency_keys ORDER BY key",
)


class Question(NamedTuple):
    path: str
    headers: Mapping[str, str] = {}
    body: str | None = None  # JSON of a POST; None: a GET


class Reply(NamedTuple):
    status: int
    headers: list[tuple[str, str]]  # without those that differ from request to request
    content: bytes


Ask = Callable[[Question], Reply]


def paths(ours: Ask) -> Iterator[str]:
    """Yield paths of players from the start, middle and end of the list, by name and id, and of pages there."""
    total = _read(ours, LISTS[0])["Total"]
    for size in SIZES:
        for page in (0, total // size // 2, (total - 1) // size, total // size + 1):
            yield from (f"{path}?page={page}&pageSize={size}" for path in LISTS)
    for player in some_players(ours):
        yield f"{LISTS[0]}/{player['Name'].upper()}"
        yield f"{LISTS[0]}/{player['Id']}"


def some_players(ours: Ask, count: int = PLAYERS) -> Iterator[Any]:
    total = _read(ours, LISTS[0])["Total"]
    for place in range(min(count, total)):
        yield from _read(ours, f"{LISTS[0]}?page={place * total // min(count, total)}&pageSize=1")["Values"]


def differences(ours: Ask, peer: Ask) -> list[str]:
    """Compare the JSON of the answers as text, so that the order of fields counts too."""
    asked = list(paths(ours))
    return [path for path in asked if json.dumps(_read(ours, path)) != json.dumps(_read(peer, path))]


def exact_differences(ours: Ask, peer: Ask) -> list[str]:
    """Compare status, headers and bytes; and again with the ETag that the first answer has, or a wrong one."""
    found: list[str] = []
    for path in paths(ours):
        first = ours(Question(path))
        tag = dict(first.headers).get("etag", "")
        if peer(Question(path)) != first:
            found.append(path)
        for held in (tag, f'"x", W/{tag}', '"x"'):
            conditional = Question(path, {"If-None-Match": held})
            if ours(conditional) != peer(conditional):
                found.append(f"{path} If-None-Match: {held}")
    return found


def gifts(ours: Ask, item_id: str) -> Iterator[Question]:
    """Yield gifts by name and id, with and without a key, some of them again, until the bank is used."""
    for number, player in enumerate(some_players(ours, 5)):
        for name in (player["Name"].upper(), player["Id"]):
            for quantity, headers in (
                (1, {}),
                (2, {"Idempotency-Key": f"gift-{number}-{name[:8]}"}),
                (2, {"Idempotency-Key": f"gift-{number}-{name[:8]}"}),
                (3, {"Idempotency-Key": f"gift-{number}-{name[:8]}-again", "X-Reason": "the same gift"}),
                (12, {}),
            ):
                body = {"itemid": item_id, "quantity": quantity, "bankoverflow": True}
                yield Question(f"{LISTS[0]}/{name}/items/give", headers, json.dumps(body))


def row_differences(ours: str, peer: str) -> list[str]:
    """Compare the rows that gifts wrote to two databases, which were equal before: slots, audit log, stored answers."""
    pairs = zip(_read_rows(ours), _read_rows(peer), strict=True)
    return [f"{one}\n  {two}" for mine, other in pairs for one, two in zip_longest(mine, other) if one != two]


def _read_rows(url: str) -> list[list[tuple[object, ...]]]:
    if url.startswith(FILE):
        with closing(apsw.Connection(url.removeprefix(FILE))) as db:
            return [db.execute(each).fetchall() for each in WRITTEN]
    return [[tuple(row) for row in fetch(url, each)] for each in WRITTEN]


def asking(client: httpx.Client) -> Ask:
    def ask(asked: Question) -> Reply:
        if asked.body is None:
            return make_reply(client.get(asked.path, headers=asked.headers))
        headers = {**asked.headers, "Content-Type": "application/json"}
        return make_reply(client.post(asked.path, headers=headers, content=asked.body))

    return ask


def make_reply(answer: httpx.Response) -> Reply:
    stable = [(name.lower(), value) for name, value in answer.headers.multi_items() if name.lower() not in VOLATILE]
    return Reply(answer.status_code, stable, answer.content)


def _read(ask: Ask, path: str) -> Any:  # noqa: ANN401 - any JSON
    status, _, content = ask(Question(path))
    if status != OK:
        raise RuntimeError(f"{path} was answered with {status}: {content!r}")
    return json.loads(content)
