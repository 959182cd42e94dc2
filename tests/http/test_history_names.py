"""The names of accounts in the audit log are visible only with the permission to see accounts."""

import csv
import io

from game_server import put_player
from people import BOB, COIN, USER_IDS
from undos import CHANGES, items
from world import World


def test_account_names_in_history_need_the_role(world: World) -> None:
    for name in ("Root", "Shop"):
        items(world, "give", COIN.id, 1, "Bob", by=name)
    put_player(world, BOB.id, {"Level": 9})

    def list_names(by: str) -> list[tuple[str, str | None]]:
        return [(each["ActorId"], each["By"]) for each in world.get(f"{CHANGES}?limit=3", by=by).json["Changes"]][::-1]

    ids = [USER_IDS[name] for name in ("Root", "Shop", "Server")]
    assert list_names("Clerk") == list(zip(ids, ("Root", "Shop", "Server"), strict=True))
    assert list_names("Shop") == list(zip(ids, (None, "Shop", None), strict=True))
    rows = csv.DictReader(io.StringIO(world.get(f"{CHANGES}?format=csv&limit=3", by="Shop").raw.decode()))
    assert [row["By"] for row in rows] == ["", "Shop", ""]
