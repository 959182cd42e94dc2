"""Our own operation GET players/[lookupKey]/rank: the rank of one player."""

from typing import Any

import game_server
from world import PLAYERS, World


def rank(world: World, key: str, around: int = 0) -> Any:
    return world.get(f"{PLAYERS}/{key}/rank?around={around}").accepted().json


def test_answer_has_each_players_record_and_rank(shared_world: World) -> None:
    ann, bob, zoe = (shared_world.get(f"{PLAYERS}/{name}").raw for name in ("Ann", "Bob", "Zoe"))
    around = b'{"Rank":1,' + zoe[1:] + b',{"Rank":3,' + bob[1:]
    expected = b'{"Rank":2,"Of":3,"Player":' + ann + b',"Around":[' + around + b"]}"
    assert shared_world.get(f"{PLAYERS}/Ann/rank", by="Shop").raw == expected


def test_answer_has_up_to_fifty_neighbours_and_five_by_default(world: World) -> None:
    for number in range(9):
        game_server.put_player(world, *game_server.newcomer(number, Level=number // 2 + 20))
    ranking = world.get(f"{PLAYERS}/rank?pageSize=100").json["Values"]
    for place, query, around in (
        (7, "", [2, 3, 4, 5, 6, 8, 9, 10, 11, 12]),
        (1, "?around=3", [2, 3, 4]),
        (2, "?around=3", [1, 3, 4, 5]),
        (12, "?around=3", [9, 10, 11]),
        (6, "?around=50", [1, 2, 3, 4, 5, 7, 8, 9, 10, 11, 12]),
        (6, "?around=0", []),
    ):
        found = world.get(f"{PLAYERS}/{ranking[place - 1]['Name']}/rank{query}").json
        assert (found["Rank"], found["Of"], found["Player"]) == (place, 12, ranking[place - 1])
        assert found["Around"] == [{"Rank": each, **ranking[each - 1]} for each in around]
