"""The flat peers of the benchmark answer with the same bytes and headers, and write the same rows, as Gamekeeper."""

import asyncio
from collections.abc import Callable, Generator, Mapping
from typing import Any

import httpx
import pytest

import people
from benchmarks.peers import same_answers
from benchmarks.peers.flat.postgres import PostgresPeer
from benchmarks.peers.flat.sqlite import SqlitePeer
from benchmarks.peers.same_answers import Ask, Question, Reply
from databases import Postgres, Sqlite
from gamekeeper import settings
from world import World

pytestmark = pytest.mark.long_only

PEERS = {"sqlite": SqlitePeer, "postgres": PostgresPeer}


@pytest.fixture
def peer_database(databases: Sqlite | Postgres) -> Generator[str]:
    url = databases.fresh()
    yield url
    databases.drop(url)


@pytest.fixture
def peer(
    engine: str, peer_database: str, loop: asyncio.AbstractEventLoop, known_tokens: Mapping[str, str]
) -> Generator[Ask]:
    made = PEERS[engine](settings.load({}, database=peer_database, access_log=False))
    loop.run_until_complete(made.open())
    yield ask_app(made, loop, known_tokens["Root"])
    loop.run_until_complete(made.close())


@pytest.fixture
def ours(world: World, loop: asyncio.AbstractEventLoop, known_tokens: Mapping[str, str]) -> Ask:
    return ask_app(world.asgi, loop, known_tokens["Root"])


def ask_app(app: Callable[..., Any], loop: asyncio.AbstractEventLoop, token: str) -> Ask:
    async def send(asked: Question) -> Reply:
        transport = httpx.ASGITransport(app, raise_app_exceptions=True)
        bearer = {"Authorization": f"Bearer {token}"}
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost", headers=bearer) as client:
            answer = await client.send(same_answers.make_request(client, asked))
        return same_answers.make_reply(answer)

    return lambda asked: loop.run_until_complete(send(asked))


def test_flat_peer_gives_the_same_bytes_and_headers(ours: Ask, peer: Ask) -> None:
    assert same_answers.exact_differences(ours, peer) == []


def test_flat_peer_sees_players_of_another_process(peer: Ask, peer_database: str, opened: Any) -> None:
    first = peer(Question("/api/v1/players?pageSize=1"))
    other: World = opened(peer_database)
    assert other.call("DELETE", f"/api/v1/players/{people.BOB.id}").status == 200
    assert peer(Question("/api/v1/players?pageSize=1")).content != first.content
    assert same_answers.exact_differences(ask_app(other.asgi, other.loop, other.tokens["Root"]), peer) == []


@pytest.mark.parametrize("item", [people.COIN, people.ARROW, people.SWORD], ids=lambda item: item.name)
def test_flat_peer_writes_the_same_rows_for_a_gift(
    ours: Ask, peer: Ask, database: str, peer_database: str, item: Any
) -> None:
    before = same_answers.read_rows(peer_database)
    assert same_answers.gift_differences(ours, peer, item.id) == []
    assert same_answers.row_differences(database, peer_database) == []
    assert same_answers.read_rows(peer_database) != before
