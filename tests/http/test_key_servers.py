"""API keys that may speak for some game servers only: what they may say about players of other servers."""

import people
from api_keys import KEYS, create
from world import Answer, World

LINK = "/api/link/v1"
OWN, OTHER = f"{LINK}/servers/realm-1", f"{LINK}/servers/realm-2"
ANN = {"Players": [people.ANN.id]}


def expect_refused(answer: Answer, server: str) -> None:
    assert (answer.status, answer.code) == (403, "player_on_other_server"), answer.raw
    assert f"'{server}'" in answer.message


def start(world: World) -> str:
    """Start two game servers with Ann on the second one; return a key for the first one."""
    for server in (OWN, OTHER):
        assert world.call("PUT", server, body={"Lease": 3600}).status == 200
    assert world.post(f"{OTHER}/joined", ANN).status == 200
    return create(world, Role="game server", Owner="Root", Servers=["realm-1"])["Key"]


def put(world: World, player_id: str, text: str, **fields: object) -> Answer:
    return world.call("PUT", f"{LINK}/players/{player_id}", body=fields, token=text)


def read_server(world: World, player_id: str) -> str | None:
    return next((row[0] for row in world.sql("SELECT server FROM presence WHERE player_id = $1", player_id)), None)


def test_limited_key_speaks_only_for_players_of_its_servers(world: World) -> None:
    text = start(world)
    both = {"Players": [people.BOB.id, people.ANN.id]}
    for dry_run in ("?dryRun=true", ""):
        expect_refused(world.post(f"{OWN}/joined{dry_run}", both, token=text), "realm-2")
    expect_refused(put(world, people.ANN.id, text, Level=9), "realm-2")
    assert world.post(f"{OWN}/left", ANN, token=text).status == 200  # without effect, as for every late `left`
    assert world.call("DELETE", f"{LINK}/players/{people.ANN.id}", token=text).code == "player_online"
    assert (read_server(world, people.ANN.id), read_server(world, people.BOB.id)) == ("realm-2", None)
    assert world.get("/api/v1/players/Ann").json["Level"] == people.ANN.level
    assert put(world, people.BOB.id, text, Level=8).json["Level"] == 8
    assert world.post(f"{OWN}/joined", {"Players": [people.BOB.id]}, token=text).status == 200
    assert put(world, people.BOB.id, text, Level=9).json["Level"] == 9
    made = put(world, people.guid(99), text, Name="Newcomer", UserId=people.USER_IDS["Ann"])
    assert made.status == 200
    assert world.post(f"{OTHER}/left", ANN).status == 200
    assert world.post(f"{OWN}/joined", ANN, token=text).status == 200
    assert put(world, people.ANN.id, text, Level=9).status == 200


def test_key_for_both_servers_and_callers_without_a_limit_move_players(world: World) -> None:
    start(world)
    both = create(world, Role="game server", Owner="Root", Servers=["realm-1", "realm-2"])["Key"]
    unlimited = create(world, Role="game server", Owner="Root")["Key"]
    for token, server in ((both, OWN), (unlimited, OTHER), (world.tokens["Root"], OWN)):
        assert world.post(f"{server}/joined", ANN, token=token).status == 200
        assert put(world, people.ANN.id, token, Level=9).status == 200


def test_key_without_servers_speaks_for_none(world: World) -> None:
    start(world)
    none = create(world, Role="game server", Owner="Root", Servers=[])
    assert world.get(KEYS).json["Keys"][0]["Servers"] == []
    assert world.call("PUT", OWN, body={"Lease": 60}, token=none["Key"]).code == "server_not_allowed"
    expect_refused(put(world, people.ANN.id, none["Key"], Level=9), "realm-2")
