"""The command `economy`."""

from command_line import CommandLine
from economics import give
from gamekeeper.game.insight.economy import Economy, parse_ranked
from people import ANN, COIN, KILLS
from world import World


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
