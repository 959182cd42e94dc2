"""Operations of the economy: items, days, holders and gifts, exact at the moment of the answer; and its command."""

import pytest

from api_keys import create
from command_line import CommandLine
from economics import catch_up, give, load_players
from gamekeeper.game.insight.economy import Economy, parse_ranked
from gamekeeper.game.lists import ranked_lists
from people import ANN, COIN, KILLS, SWORD
from world import MakeWorld, World

ROOT = "/api/keeper/v1/economy"


def test_items_are_listed_with_flows_by_source(world: World) -> None:
    give(world, "Bob", 5)
    give(world, "Bob", 2, what="take")
    catch_up(world)
    give(world, "Bob", 1)
    give(world, "Bob", 1, what="take")
    page = world.get(f"{ROOT}?pageSize=100").json
    assert [each["Name"] for each in page["Values"]] == ["Arrow", "Gold Coin", "Pouch", "Sword"]
    coin = page["Values"][1]
    assert (coin["ItemId"], coin["Quantity"], coin["Holders"]) == (COIN.id, 1253, 2)
    assert coin["Created"] == {"Game": 0, "Key": 0, "Staff": 1256, "Undo": 0, "Import": 0}
    assert coin["Destroyed"] == {"Game": 0, "Key": 0, "Staff": 3, "Undo": 0, "Import": 0}
    assert (page["Total"], page["Count"]) == (4, 4)
    assert page["UpTo"]["Seq"] == world.ledger()[-1].seq
    assert page["UpTo"]["Complete"] is True
    assert world.get(f"{ROOT}?page=1&pageSize=3").json["Values"][0]["Name"] == "Sword"


def test_days_of_an_item_lead_back_from_the_present_quantity(world: World) -> None:
    give(world, "Bob", 5)
    world.sql("UPDATE ledger SET at = at - 2 * 86400000 WHERE seq = $1", world.ledger()[-1].seq)
    world.sql("UPDATE ledger SET at = at - 4 * 86400000 WHERE seq < $1", world.ledger()[-1].seq)
    give(world, "Zoe", 7)
    catch_up(world)
    days = world.get(f"{ROOT}/items/{COIN.id}").json["Days"]
    assert [each["Quantity"] for each in days] == [0, 0, 1250, 1250, 1255, 1255, 1262]
    assert [each["Created"]["Staff"] for each in days] == [0, 0, 1250, 0, 5, 0, 7]


def test_any_page_of_holders_is_exact(make_world: MakeWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranked_lists, "BUCKET_ROWS", 4)
    monkeypatch.setattr(ranked_lists, "BLOCK_BUCKETS", 3)
    world = make_world(ranked="item:Gold Coin,variable:Kills")
    catch_up(world)
    load_players(world, 57)
    catch_up(world)
    for number in range(0, 57, 3):
        give(world, f"Loaded{0x5000 + number}", 100 * number + 1)
    for number in range(0, 57, 5):
        give(world, f"Loaded{0x5000 + number}", 1, what="take")
    for kind, thing, table in (
        ("items", COIN.id, "SELECT player_id, SUM(quantity) FROM slots WHERE item_id = $1 GROUP BY player_id"),
        ("variables", KILLS.id, "SELECT player_id, value FROM player_variables WHERE variable_id = $1"),
    ):
        wanted = sorted(((int(row[1]), str(row[0])) for row in world.sql(table, thing)), reverse=True)
        for size in (7, 2):  # longer and shorter than a bucket
            found: list[tuple[int, str]] = []
            for number in range(len(wanted) // size + 2):
                page = world.get(f"{ROOT}/{kind}/{thing}/holders?page={number}&pageSize={size}").json
                assert (page["Total"], page["Ranked"]) == (len(wanted), True)
                found += [(each["Quantity"], each["PlayerId"]) for each in page["Values"]]
                first = number * size + 1
                assert [each["Rank"] for each in page["Values"]] == [*range(first, first + page["Count"])]
            assert found == wanted
    assert world.sql("SELECT MAX(entries) FROM ranked_buckets")[0][0] < 8


def test_gifts_of_staff_and_keys_are_listed_by_quantity(world: World) -> None:
    made = create(world)
    give(world, "Bob", 5)
    give(world, "Bob", 9, token=made["Key"])
    give(world, "Bob", 1, SWORD.id)
    give(world, "Bob", 2, what="take")
    page = world.get(f"{ROOT}/staff?item={COIN.id}").json
    shown = [(each["Source"], each["Name"], each["Given"], each["Taken"]) for each in page["Values"]]
    assert shown == [("staff", None, 1250, 0), ("key", made["Name"], 9, 0), ("staff", "Shop", 5, 2)]
    assert page["Values"][1]["GiverId"] == made["Id"]
    own = world.get(f"{ROOT}/staff?giver={page['Values'][2]['GiverId']}").json
    assert (own["Total"], [(each["ItemName"], each["Given"]) for each in own["Values"]]) == (
        2,
        [("Gold Coin", 5), ("Sword", 1)],
    )
    both = world.get(f"{ROOT}/staff?item={COIN.id}&giver={made['Id']}").json
    assert (both["Total"], [each["Given"] for each in both["Values"]]) == (1, [9])
    assert world.call("DELETE", "/api/v1/users/Shop").status == 200
    page = world.get(f"{ROOT}/staff?item={COIN.id}").json
    assert [each["Name"] for each in page["Values"] if each["Source"] == "staff"] == [None, None]


def test_items_days_holders_and_gifts_are_shown(command: CommandLine, world: World) -> None:
    give(world, "Bob", 5)
    shown = command.says("economy").splitlines()
    assert shown[2].split() == ["Gold", "Coin", "1255", "2", "1255", "0"]
    days = command.json("economy", "Gold Coin")
    assert (days["ItemId"], days["Quantity"], len(days["Days"])) == (COIN.id, 1255, 7)
    assert "Gold Coin: 1255 in circulation, 2 holders." in command.says("economy", COIN.id)
    holders = command.says("economy", "Gold Coin", "--holders").splitlines()
    assert holders[1].split() == ["1", "Ann", ANN.id, "1250"]
    gifts = command.says("economy", "Gold Coin", "--staff").splitlines()
    assert [line.split("  ")[0] for line in gifts[1:3]] == ["(command line)", "Shop"]
    assert [each["Given"] for each in command.json("economy", "--staff", "--giver", "shop")["Values"]] == [5]


def test_ranked_variable_is_listed_without_the_setting(command: CommandLine, world: World) -> None:
    """Only a serving process chooses what is ranked; a command shows that, whatever its own setting is."""
    assert command.json("economy", "--variable", KILLS.id, GAMEKEEPER_RANKED="variable:Kills")["Ranked"] is False
    serving = Economy(world.keeper.store, world.keeper.changes.codec, world.keeper.feed, parse_ranked("variable:Kills"))
    world.run(serving.follow(0))
    listed = command.json("economy", "--variable", "Kills")
    assert (listed["Total"], listed["Ranked"]) == (1, True)
    assert listed["Values"] == [{"Rank": 1, "PlayerId": ANN.id, "Name": "Ann", "Quantity": 7}]
    assert world.sql("SELECT COUNT(*) FROM ranked_lists") == [(1,)]


def test_recount_repairs_wrong_totals(command: CommandLine, world: World) -> None:
    command.says("economy")
    world.sql("UPDATE item_totals SET quantity = 1")
    assert [each["Quantity"] for each in command.json("economy", "--recount")["Values"]] == [67, 1250, 1, 1]


def test_range_that_ends_before_it_begins_is_refused(command: CommandLine) -> None:
    days = ("--from", "2020-01-02", "--to", "2020-01-01")
    for arguments in (("economy",), ("economy", "Gold Coin"), ("economy", "--staff")):
        assert "must not be after the end of the range" in command.refuses(*arguments, *days), arguments
