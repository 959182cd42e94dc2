"""Our own operation GET players/[lookupKey]/rank: the rank of one player."""

from collections.abc import Callable
from typing import Any

import game_server
import people
from expectations import refused
from world import World

PLAYERS = "/api/v1/players"


def crowd(world: World, size: int) -> list[Any]:
    """Add `size` players with ties on level and on level and exp; return all records, best first."""
    for number in range(size):
        player_id, body = game_server.newcomer(number, Level=number % 7 + 1, Exp=number % 3)
        assert game_server.put_player(world, player_id, body).status == 200
    records = [record for page in (0, 1) for record in read_ranking(world, page, 100)]
    return sorted(records, key=lambda record: (record["Level"], record["Exp"], record["Id"]), reverse=True)


def read_ranking(world: World, page: int, size: int) -> list[Any]:
    return world.get(f"{PLAYERS}/rank?page={page}&pageSize={size}").json["Values"]


def rank(world: World, key: str, around: int = 0) -> Any:
    answer = world.get(f"{PLAYERS}/{key}/rank?around={around}")
    assert answer.status == 200, answer.raw
    return answer.json


def add_ranks(records: list[Any], first: int, end: int) -> list[Any]:
    """Return the players' records with ranks from `first` up to `end`, in the shape of a neighbour list."""
    return [{"Rank": place, **records[place - 1]} for place in range(first, end)]


def test_answer_has_each_players_record_and_rank(shared_world: World) -> None:
    ann, bob, zoe = (shared_world.get(f"{PLAYERS}/{name}").raw for name in ("Ann", "Bob", "Zoe"))
    around = b'{"Rank":1,' + zoe[1:] + b',{"Rank":3,' + bob[1:]
    expected = b'{"Rank":2,"Of":3,"Player":' + ann + b',"Around":[' + around + b"]}"
    assert shared_world.get(f"{PLAYERS}/Ann/rank", by="Shop").raw == expected


def test_unknown_player_is_404_before_its_rank(shared_world: World) -> None:
    assert rank(shared_world, people.ANN.id.upper(), 5) == rank(shared_world, "Ann", 5)
    for key in ("Nobody", people.NOBODY_ID):
        answer = shared_world.get(f"{PLAYERS}/{key}/rank")
        refused(answer, 404, "no_such_player")
        assert answer.message == shared_world.get(f"{PLAYERS}/{key}").message
    refused(shared_world.get(f"{PLAYERS}/Nobody/rank?around=51"), 400, "bad_field", "from 0 to 50")
    refused(shared_world.get(f"{PLAYERS}/rank/rank"), 404, "no_such_route")


def test_answer_has_up_to_fifty_neighbours_and_five_by_default(world: World) -> None:
    everybody = crowd(world, 105)
    ids = [each["Id"] for each in everybody]
    answer = world.get(f"{PLAYERS}/{ids[7]}/rank").json
    assert (answer["Rank"], answer["Of"], answer["Player"]) == (8, 108, everybody[7])
    assert answer["Around"] == add_ranks(everybody, 3, 8) + add_ranks(everybody, 9, 14)
    assert rank(world, ids[0], 3)["Around"] == add_ranks(everybody, 2, 5)
    assert rank(world, ids[1], 3)["Around"] == add_ranks(everybody, 1, 2) + add_ranks(everybody, 3, 6)
    assert rank(world, ids[-1], 3)["Around"] == add_ranks(everybody, 105, 108)
    assert rank(world, ids[53], 0)["Around"] == []
    assert rank(world, ids[53], 50)["Around"] == add_ranks(everybody, 4, 54) + add_ranks(everybody, 55, 105)
    for place in range(0, 108, 9):
        found = rank(world, everybody[place]["Name"])
        assert (found["Rank"], found["Of"]) == (place + 1, 108)
        assert read_ranking(world, place // 5, 5)[place % 5] == found["Player"] == everybody[place]


def test_change_moves_the_rank_at_once_on_every_instance(make_world: Callable[..., World]) -> None:
    here, there = make_world(), make_world()
    changes = (({"Exp": 346}, 1), ({"Level": 3, "Exp": 9}, 3), ({"Exp": 11}, 2), ({"Level": 13}, 1))
    assert rank(there, "Ann")["Rank"] == 2
    for fields, place in changes:
        assert game_server.put_player(here, people.ANN.id, fields).status == 200
        for world in (here, there):
            answer = rank(world, "Ann", 2)
            assert (answer["Rank"], answer["Player"]["Level"]) == (place, world.get(f"{PLAYERS}/Ann").json["Level"])
            assert [other["Rank"] for other in answer["Around"]] == [each for each in (1, 2, 3) if each != place]


def test_created_and_deleted_players_count_at_once(world: World) -> None:
    player_id, body = game_server.newcomer(1, Level=5)
    game_server.put_player(world, player_id, body)
    assert (rank(world, "New1")["Rank"], rank(world, "Bob")["Rank"], rank(world, "Bob")["Of"]) == (3, 4, 4)
    assert world.call("DELETE", f"/api/link/v1/players/{player_id}", by="Server").status == 200
    refused(world.get(f"{PLAYERS}/New1/rank"), 404, "no_such_player")
    assert (rank(world, "Bob")["Rank"], rank(world, "Bob")["Of"]) == (3, 3)
