"""The audit log as CSV: the same changes, and no cell that a spreadsheet would run as a formula."""

import csv
import io
import json

from game_server import put_player
from people import BOB, COIN, USER_IDS
from undos import CHANGES, items
from world import World


def table(world: World, query: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(world.get(f"{CHANGES}?format=csv&{query}").raw.decode())))


def test_csv_has_the_changes_of_the_json_page_and_no_formula(world: World) -> None:
    items(world, "give", COIN.id)
    listed = world.get(f"{CHANGES}?limit=1000").json["Changes"]
    assert [int(row["Seq"]) for row in table(world, "limit=1000")] == [each["Seq"] for each in listed]
    for reason, cell in [
        *((f"{sign}1", f"'{sign}1") for sign in "=+-@\uff1d\uff0b\uff0d\uff20"),
        ("a;=1+1;-2", "a;'=1+1;'-2"),
        ('x"\uff20y', "x\"'\uff20y"),
        ("it's; a-b = c,=d", "it's; a-b = c,=d"),
    ]:
        items(world, "give", COIN.id, headers={"X-Reason": reason})
        assert table(world, "limit=1")[0]["Reason"] == cell
    said = 'a;=1+1; "-2" \'\uff20'
    assert world.post("/api/v1/users/Bob/admin/mute", {"reason": said}).status == 200
    cell = table(world, "limit=1")[0]["After"]
    assert json.loads(cell)["MuteReason"] == said
    assert not [each for each in (";=", '"-', "'\uff20") if each in cell]


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
