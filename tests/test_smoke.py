import people
from world import World


def test_lookup(world: World) -> None:
    answer = world.get("/api/v1/players/ann")
    print(answer.raw)
    assert answer.status == 200
    assert answer.json["Name"] == "Ann"


def test_give(world: World) -> None:
    answer = world.post("/api/v1/players/Ann/items/give", {"itemid": people.COIN.id, "quantity": 2})
    assert answer.json == {"id": people.COIN.id, "quantity": {"total": 1252, "bank": 1000, "inventory": 252}}
    print(world.ledger()[-1])


def test_all_gets(world: World) -> None:
    for p in ["players", "players/rank", "players/online/count", "players/ann/variables", f"players/ann/variables/{people.KILLS.id}", "players/ann/items", "players/ann/items/bank", f"players/bag/{people.ANNS_POUCH}", "players/ann/spells", "users", "users/mona", "users/ann/players", "users/ann/players/1", "users/ann/password/reset", "players/online"]:
        a = world.get("/api/v1/" + p)
        print(p, a.status, a.raw[:300])
        assert a.status == 200
