"""The logs of activity and trades: action numbers of each version, erased accounts, unusual rows."""

import json
from collections.abc import Callable
from typing import Any

import pytest

import intersect_logs
import make_intersect
from command_line import CommandLine
from gamekeeper.intersect import import_run, logs
from intersect_files import Make, OpenImport, by_day, change, own, read_report, run
from loops import over
from world import OpenWorld

WITH_LOGS = [each for each in make_intersect.ERAS if make_intersect.BY_NAME[each].guilds]
OLD = ["Login", "SelectPlayer", "FailedLogin", "CreatePlayer", "DisconnectKick", "NameChange", "DisconnectBan", "Login"]
ROW_ID, USER, PLAYER = (own(kind, 0) for kind in ("row", "user", "player"))


@pytest.mark.parametrize("era", by_day("0.8", WITH_LOGS))
def test_actions_of_each_version(era: str, whole_import: Callable[[str], OpenImport]) -> None:
    """0.7.0 numbers the actions otherwise; the file of 0.7.1 was upgraded, so it has both numberings."""
    made, told, world = whole_import(era)
    unknown = 2 if era == "0.7.1" else 1
    assert told["tables"]["UserActivityHistory"]["left"] == unknown
    reasons = [line["reason"] for line in read_report(made) if line["table"] == "UserActivityHistory"]
    assert reasons == ["its action 99 is unknown"] * unknown
    found = [row[0] for row in world.sql("SELECT action FROM activity_log ORDER BY at, id")]
    assert found == {"0.7.0": OLD, "0.7.1": [*OLD, *OLD, "Kill"], "0.8": [*OLD, "Kill"]}[era]
    first = world.sql("SELECT user_id, player_id, peer, address, meta FROM activity_log ORDER BY at, id LIMIT 3")
    assert first == [
        (USER, None, "Client", "10.0.0.0", None),
        (USER, PLAYER, "Client", "10.0.0.0", "Hero0,Knight0"),
        (str(make_intersect.ZERO), None, "Client", None, None),  # no account has the typed name
    ]
    assert ("Editor",) in world.sql("SELECT peer FROM activity_log")


@pytest.mark.parametrize("era", by_day("0.8", WITH_LOGS))
def test_trades_of_each_version(era: str, whole_import: Callable[[str], OpenImport]) -> None:
    _, told, world = whole_import(era)
    assert told["tables"]["TradeHistory"] == {"rows": 6, "empty": 0, "taken": 6, "there": 0, "left": 0}
    for table in ("ChatHistory", "GuildHistory"):
        assert (told["tables"][table]["taken"], told["tables"][table]["left"]) == (0, 1)
    rows = world.sql(
        "SELECT user_id, player_id, target_id, address, items, target_items FROM trade_log WHERE trade_id = $1",
        own("trade", 0),
    )
    (mine,) = [row for row in rows if row[1] == PLAYER]
    assert mine[:4] == (USER, PLAYER, own("player", 1), "10.0.0.0")
    ((given,), (got,)) = (json.loads(each) for each in mine[4:])
    assert (given["ItemId"], given["Quantity"]) == (str(make_intersect.SWORD), 1)
    assert given["StatBuffs"] == ([1, 0, 0, 0, 0] if era == "0.7.0" else [1] * 5)
    assert (got["ItemId"], got["Quantity"]) == (str(make_intersect.COIN), 10)
    assert len(rows) == 2


def test_no_trade_is_lost_between_batches(
    whole_files: Make, command: CommandLine, opened: OpenWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(import_run, "BATCH_SIZE", 4)
    made = whole_files("0.8")
    era = make_intersect.BY_NAME["0.8"]
    rows = [era.spell(row) for number in range(3, 9) for row in intersect_logs.trade(era, number)]
    assert made.logs
    change(made.logs, *(f"INSERT INTO TradeHistory VALUES {row!r}" for row in rows))  # noqa: S608 - from here
    run(command, made)
    ids = {row[0] for row in opened(command.database).sql("SELECT id FROM trade_log")}
    assert ids == {own("trade row", number) for number in range(18)}


def test_entries_of_erased_accounts_are_skipped(whole_files: Make, command: CommandLine, opened: OpenWorld) -> None:
    """The account is erased between the import of the players and that of the logs."""
    made = whole_files("0.8")
    run(command, made._replace(logs=None, report=made.report.with_name("first.jsonl")))
    command.says("users", "delete", "Hero1", "--yes")
    run(command, made)
    world = opened(command.database)
    assert world.sql("SELECT 1 FROM activity_log WHERE user_id = $1", own("user", 1)) == []
    assert world.sql("SELECT 1 FROM trade_log WHERE user_id = $1", own("user", 1)) == []
    erased = [line["table"] for line in read_report(made) if line["reason"] == logs.ERASED]
    assert (erased.count("UserActivityHistory"), erased.count("TradeHistory")) == (3, 2)


def test_failed_login_is_erased_with_the_named_account_and_stays_erased(
    whole_files: Make, command: CommandLine, opened: OpenWorld
) -> None:
    made = whole_files("0.8")
    assert made.logs
    change(made.logs, "UPDATE UserActivityHistory SET Meta = 'HERO2' WHERE Meta = 'Hero9'")
    run(command, made)
    world = opened(command.database)
    found = "SELECT meta, address, named_id FROM activity_log WHERE action = 'FailedLogin'"
    assert world.sql(found) == [("HERO2", "10.0.0.0", own("user", 2))]
    command.says("users", "delete", "Hero2", "--yes")
    change(made.logs, "DELETE FROM UserActivityHistory WHERE rowid = (SELECT MAX(rowid) FROM UserActivityHistory)")
    run(command, made._replace(report=made.report.with_name("second.jsonl")))
    assert world.sql(found) == [(None, None, None)]


@over(
    "place, value, expected",
    (2, "soon", logs.BAD_TIME),
    (1, "no guid", logs.BAD_PARTY),
    (5, str(make_intersect.ZERO), logs.BAD_PARTY),
    (7, "[5]", logs.BAD_ITEMS),
    (8, '[{"ItemId":"x","Quantity":1}]', logs.BAD_ITEMS),
    (8, "[" * 100_000, logs.BAD_ITEMS),
    (7, f'[{{"ItemId":"{USER}","Quantity":true}}]', logs.BAD_ITEMS),
)
def test_unusual_trades_are_listed(place: int, value: Any, expected: str) -> None:
    row: list[Any] = [ROW_ID, ROW_ID, "2021-01-01 00:00:00", USER, PLAYER, own("player", 1), None, None, "[]"]
    assert not isinstance(logs.read_trade(tuple(row)), str)
    row[place] = value
    assert logs.read_trade(tuple(row)) == expected


def test_activity_with_invalid_time_or_action_is_listed() -> None:
    row = (ROW_ID, "2021-01-01 00:00:00", USER, PLAYER, 19, 0, "", None)
    assert logs.read_activity(None, (ROW_ID, "never", *row[2:])) == logs.BAD_TIME
    assert logs.read_activity(None, (*row[:4], -1, *row[5:])) == "its action -1 is unknown"
