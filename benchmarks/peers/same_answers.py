"""Check that a peer answers like Gamekeeper: same_answers.py http://gamekeeper http://peer TOKEN [exactly]

Without `exactly`, JSON answers are compared; with it, statuses, headers and bytes, also those of conditional requests.
"""

import asyncio
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from typing import Any, NamedTuple

import apsw
import asyncpg
import httpx

PLAYERS = 50
SIZES = (1, 5, 100)
LISTS = ("/api/v1/players", "/api/v1/players/rank")
ARGUMENTS = 3
OK = 200
EXACTLY = "exactly"
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


def gift_differences(ours: Ask, peer: Ask, item_id: str, *, exactly: bool = True) -> list[str]:
    """Give the same to players of two equal databases, and compare the answers."""
    found: list[str] = []
    for asked in list(gifts(ours, item_id)):
        first, second = ours(asked), peer(asked)
        same = first == second if exactly else (first.status, first.content) == (second.status, second.content)
        if not same:
            found.append(f"{asked}\n  {first}\n  {second}")
    return found


def row_differences(ours: str, peer: str) -> list[str]:
    """Compare the rows that gifts wrote to two databases, which were equal before."""
    pairs = zip(read_rows(ours), read_rows(peer), strict=True)
    return [f"{first}\n  {second}" for mine, other in pairs for first, second in _unequal(mine, other)]


def read_rows(url: str) -> list[list[tuple[object, ...]]]:
    """Read what gifts write: slots, audit log and stored answers."""
    if url.startswith(FILE):
        with closing(apsw.Connection(url.removeprefix(FILE))) as db:
            return [db.execute(each).fetchall() for each in WRITTEN]
    return asyncio.run(_read_postgres(url))


async def _read_postgres(url: str) -> list[list[tuple[object, ...]]]:
    driver: Any = asyncpg
    db = await driver.connect(url)
    try:
        return [[tuple(row) for row in await db.fetch(each)] for each in WRITTEN]
    finally:
        await db.close()


def _unequal(mine: list[Any], other: list[Any]) -> Iterator[tuple[object, object]]:
    for number in range(max(len(mine), len(other))):
        first, second = (rows[number] if number < len(rows) else None for rows in (mine, other))
        if first != second:
            yield first, second


def asking(client: httpx.Client) -> Ask:
    return lambda asked: make_reply(client.send(make_request(client, asked)))


def make_request(client: "httpx.Client | httpx.AsyncClient", asked: Question) -> httpx.Request:
    if asked.body is None:
        return client.build_request("GET", asked.path, headers=asked.headers)
    headers = {**asked.headers, "Content-Type": "application/json"}
    return client.build_request("POST", asked.path, headers=headers, content=asked.body)


def make_reply(answer: httpx.Response) -> Reply:
    stable = [(name.lower(), value) for name, value in answer.headers.multi_items() if name.lower() not in VOLATILE]
    return Reply(answer.status_code, stable, answer.content)


def _read(ask: Ask, path: str) -> Any:  # noqa: ANN401 - any JSON
    status, _, content = ask(Question(path))
    if status != OK:
        raise RuntimeError(f"{path} was answered with {status}: {content!r}")
    return json.loads(content)


def main(arguments: list[str]) -> int:
    if len(arguments) not in {ARGUMENTS, ARGUMENTS + 1} or arguments[ARGUMENTS:] not in ([], [EXACTLY]):
        print(__doc__)
        return 2
    *addresses, token = arguments[:ARGUMENTS]
    bearer = {"Authorization": f"Bearer {token}"}
    ours, peer = (asking(httpx.Client(base_url=each, headers=bearer)) for each in addresses)
    found = (exact_differences if arguments[ARGUMENTS:] else differences)(ours, peer)
    print("\n".join([*found, f"{len(found)} answers differ"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
