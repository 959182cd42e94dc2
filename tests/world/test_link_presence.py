"""Online players, as game servers report them over the link, also with keys for some servers only."""

import asyncio

import pytest

from api_keys import create
from expectations import refused, unchanged
from game_server import LINK, heartbeat, join, lapse, leave, newcomer, online, presence, put_player
from people import ANN, BOB, USER_IDS, ZOE, guid
from reports import record
from world import SENT, Answer, MakeWorld, World


def test_players_join_and_leave_without_a_change(world: World) -> None:
    with world.nothing_recorded():
        first = heartbeat(world, "eu-1.game:7777", 60)
        assert list(first.json) == ["Server", "ExpiresAt", "Online"]
        assert (first.json["Server"], first.json["Online"]) == ("eu-1.game:7777", 0)
        join(world, ANN.id, server="eu-1.game:7777")
        later = heartbeat(world, "eu-1.game:7777", 3600)
        assert later.json["Online"] == 1
        assert first.json["ExpiresAt"] < later.json["ExpiresAt"]
        assert world.call("DELETE", f"{LINK}/servers/eu-1.game:7777").status == 200
        heartbeat(world)
        assert join(world, ZOE.id, ANN.id).json == {"Online": 2}
        assert join(world, ANN.id, ANN.id.upper(), BOB.id).json == {"Online": 3}
        assert online(world) == ["Ann", "Bob", "Zoe"]
        assert leave(world, ANN.id, ANN.id).json == {"Online": 2}
        assert leave(world, ANN.id).json == {"Online": 2}
        assert leave(world).json == join(world).json == {"Online": 2}
        assert online(world) == ["Bob", "Zoe"]
        assert record(world, "Ann")["LastOnline"] is not None
        assert record(world, "Bob")["LastOnline"] is None
        lapse(world)


def test_expired_lease_takes_only_its_players_offline_at_the_cleanup(world: World) -> None:
    heartbeat(world, "one")
    heartbeat(world, "two")
    join(world, ANN.id, ZOE.id, server="one")
    join(world, BOB.id, server="two")
    with unchanged(world):
        assert world.run(presence.expire_leases(world.keeper.store)) == 0
    world.sql("UPDATE servers SET expires_at = 1 WHERE name = 'one'")
    refused(join(world, ANN.id), 404, "no_such_server", "'one'")
    refused(leave(world, ANN.id), 404, "no_such_server")
    assert online(world) == ["Ann", "Bob", "Zoe"]
    assert lapse(world, "one") == 1
    assert online(world) == ["Bob"]
    assert record(world, "Zoe")["LastOnline"] is not None
    refused(join(world, ANN.id), 404, "no_such_server", "'one'")
    heartbeat(world, "one")
    assert online(world) == ["Bob"]
    assert join(world, ANN.id).json == {"Online": 1}


def test_player_is_on_one_server_until_it_shuts_down(world: World) -> None:
    heartbeat(world, "one")
    heartbeat(world, "two")
    assert join(world, ANN.id, BOB.id, server="one").json == {"Online": 2}
    assert join(world, ANN.id, server="two").json == {"Online": 1}
    assert heartbeat(world, "one").json["Online"] == 1
    assert leave(world, ANN.id, server="one").json == {"Online": 1}
    assert online(world) == ["Ann", "Bob"]
    answer = world.call("DELETE", f"{LINK}/servers/two", by="Server")
    assert (answer.status, answer.json) == (200, {"Online": 0})
    assert online(world) == ["Bob"]
    assert record(world, "Ann")["LastOnline"] is not None
    refused(world.call("DELETE", f"{LINK}/servers/two"), 404, "no_such_server", "'two'")


@pytest.mark.both_engines
@pytest.mark.parametrize("way", ["api", "link", "erase", "undo"])
def test_player_that_joins_beside_its_deletion_stays_or_is_refused(make_world: MakeWorld, way: str) -> None:
    """Join and deletion race: an online player is not deleted, and a deleted player does not join."""
    one, two = make_world(), make_world()
    for world in (one, two):
        heartbeat(world)  # the first heartbeat of each instance opens its database connections
    for number in range(8):
        account = f"Owner{number}"
        one.post("/api/v1/users/register", {"username": account, "password": SENT, "email": f"{account}@e.test"})
        owner = one.get(f"/api/v1/users/{account}").json["Id"]
        player, body = newcomer(number, UserId=owner)
        assert put_player(one, player, body).status == 200
        ways = {
            "api": ("DELETE", f"/api/v1/players/{player}"),
            "link": ("DELETE", f"{LINK}/players/{player}"),
            "erase": ("DELETE", f"/api/v1/users/{account}"),
            "undo": ("POST", f"/api/keeper/v1/changes/{one.ledger()[-1].seq}/undo"),
        }

        async def together(deletion: tuple[str, str], player: str) -> tuple[Answer, Answer]:
            joining = two.send("POST", f"{LINK}/servers/one/joined", body={"Players": [player]})
            return await asyncio.gather(one.send(*deletion), joining)

        deleted, joined = one.run(together(ways[way], player))
        if deleted.status == 200:
            refused(joined, 404, "no_such_player", player)
        else:
            refused(deleted, 409, "player_online")
            assert joined.status == 200


# --- API keys for some game servers ----------------------------------------------------------------------------------

OWN, OTHER = f"{LINK}/servers/realm-1", f"{LINK}/servers/realm-2"
ONLY_ANN = {"Players": [ANN.id]}


def expect_refused(answer: Answer, server: str) -> None:
    assert (answer.status, answer.code) == (403, "player_on_other_server"), answer.raw
    assert f"'{server}'" in answer.message


def start(world: World) -> str:
    """Start two game servers with Ann on the second one; return a key for the first one."""
    for server in (OWN, OTHER):
        assert world.call("PUT", server, body={"Lease": 3600}).status == 200
    assert world.post(f"{OTHER}/joined", ONLY_ANN).status == 200
    return create(world, Role="game server", Owner="Root", Servers=["realm-1"])["Key"]


def put(world: World, player_id: str, text: str, **fields: object) -> Answer:
    return world.call("PUT", f"{LINK}/players/{player_id}", body=fields, token=text)


def read_server(world: World, player_id: str) -> str | None:
    return next((row[0] for row in world.sql("SELECT server FROM presence WHERE player_id = $1", player_id)), None)


def test_limited_key_speaks_only_for_players_of_its_servers(world: World) -> None:
    text = start(world)
    both = {"Players": [BOB.id, ANN.id]}
    for dry_run in ("?dryRun=true", ""):
        expect_refused(world.post(f"{OWN}/joined{dry_run}", both, token=text), "realm-2")
    expect_refused(put(world, ANN.id, text, Level=9), "realm-2")
    assert world.post(f"{OWN}/left", ONLY_ANN, token=text).status == 200  # without effect, as for every late `left`
    assert world.call("DELETE", f"{LINK}/players/{ANN.id}", token=text).code == "player_online"
    assert (read_server(world, ANN.id), read_server(world, BOB.id)) == ("realm-2", None)
    assert world.get("/api/v1/players/Ann").json["Level"] == ANN.level
    assert put(world, BOB.id, text, Level=8).json["Level"] == 8
    assert world.post(f"{OWN}/joined", {"Players": [BOB.id]}, token=text).status == 200
    assert put(world, BOB.id, text, Level=9).json["Level"] == 9
    put(world, guid(99), text, Name="Newcomer", UserId=USER_IDS["Ann"]).accepted()
    assert world.post(f"{OTHER}/left", ONLY_ANN).status == 200
    assert world.post(f"{OWN}/joined", ONLY_ANN, token=text).status == 200
    assert put(world, ANN.id, text, Level=9).status == 200
