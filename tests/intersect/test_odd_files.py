"""Intersect files with invalid text, of which all other data is imported; and the file of the report.

The report lists the affected rows. It never overwrites another file, and is needed until the import is complete.
"""

from pathlib import Path

import pytest

from command_line import CommandLine
from findings import errors
from gamekeeper.intersect import importer
from gamekeeper.intersect.sources import BadSource
from gamekeeper.store.engine import database_checks
from intersect_files import IntersectFiles, Make, change, own, read_report, run
from world import OpenWorld

SPOILT_ID = "no UTF-8: \ufffd"


def test_invalid_utf8_is_replaced_and_listed(files: Make, command: CommandLine, opened: OpenWorld) -> None:
    made = files("0.8", 5)
    spoilt = "CAST(x'4b6eff69676874' AS TEXT)"
    bad_id = "CAST(x'6e6f205554462d383a20ff' AS TEXT)"
    change(
        made.players,
        f"UPDATE Players SET Name = {spoilt} WHERE Name = 'Knight3'",  # noqa: S608 - from here
        f"UPDATE Bans SET Reason = {spoilt}",  # noqa: S608 - from here
        f"UPDATE Player_Spells SET Id = {bad_id} WHERE PlayerId = '{own('player', 2).upper()}' AND Slot = 1",  # noqa: S608 - from here
        f"UPDATE Bag_Items SET ItemProperties = {spoilt} WHERE Slot = 0",  # noqa: S608 - from here
        f"INSERT INTO Users (Id, Name) VALUES ({bad_id}, 'Eve')",  # noqa: S608 - from here
    )
    change(made.game, f"UPDATE Items SET Name = {spoilt} WHERE Name = 'Herb'")  # noqa: S608 - from here
    tried = run(command, made, "--dry-run")
    told = run(command, made)
    assert told["tables"] == tried["tables"]
    replaced = [(line["table"], line["id"]) for line in read_report(made) if "UTF-8" in line["reason"]]
    assert {("Players", own("player", 3)), ("Player_Spells", SPOILT_ID), ("Items", own("item", 4))} <= set(replaced)
    assert [table for table, _ in replaced].count("Bans") == 2
    assert "Bag_Items" in dict(replaced)
    assert len(replaced) == len(set(replaced))
    assert ("Users", SPOILT_ID, False) in [(line["table"], line["id"], line["taken"]) for line in read_report(made)]
    world = opened(command.database)
    assert world.sql("SELECT reason FROM bans") == [("Kn\ufffdight",)] * 2
    assert world.sql("SELECT name FROM players WHERE id = $1", own("player", 3)) == [
        (own("player", 3),)
    ]  # a player with an invalid name gets its id as name
    assert errors(world) == []


def test_values_that_the_engine_cannot_read_do_not_stop_the_import(
    whole_files: Make, command: CommandLine, opened: OpenWorld
) -> None:
    made = whole_files("0.8")
    deep = "printf('%.*c', 200000, '[')"
    change(
        made.players,
        f"UPDATE Users SET Power = {deep} WHERE rowid = 1",  # noqa: S608 - from here
        "UPDATE Players SET Vitals = '[true,false]', LastOnline = '9999-12-31T23:59:59-23:59'",
        f"UPDATE Player_Variables SET Value = {deep} WHERE rowid = 1",  # noqa: S608 - from here
    )
    assert made.logs
    change(made.logs, "UPDATE UserActivityHistory SET TimeStamp = 1.5 WHERE rowid % 2 = 0")
    run(command, made)
    world = opened(command.database)
    assert errors(world) == []  # among others, that the record of each player can be read
    assert {row[0] for row in world.sql("SELECT last_online FROM players")} == {253_402_300_799_999}


async def _broken(*_: object) -> None:
    raise BadSource("it broke off")


def test_indexes_are_dropped_only_on_empty_database(
    files: Make, command: CommandLine, opened: OpenWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(command, files("0.7.1", 1))
    monkeypatch.setattr(importer, "_report_unused_bags", _broken)
    command.refuses("import", "intersect", *files("0.8", 5).options)
    world = opened(command.database)
    assert world.run(database_checks.find_missing_indexes(world.keeper.store, world.keeper.store.engine)) == []


def break_off(command: CommandLine, made: IntersectFiles, monkeypatch: pytest.MonkeyPatch) -> bytes:
    """Run the import up to its last stages, and return the report so far."""
    # rename all players, so that the report has entries
    change(made.players, "UPDATE Players SET Name = Name || ' the Bold'")
    with monkeypatch.context() as patched:
        patched.setattr(importer, "_report_unused_bags", _broken)
        assert "it broke off" in command.refuses("import", "intersect", *made.options)
    return made.report.read_bytes()


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
def test_other_file_is_not_overwritten_by_report(files: Make, unmigrated: CommandLine) -> None:
    made = files()
    made.report.with_name("diary.txt").write_text("Dear diary")
    made.report.with_name("lines.jsonl").write_text('{"table":"Users","id":"","reason":"","taken":true}\n')
    made.report.with_name("other.jsonl").write_text('{"source":"00"}\n')
    for victim in ("playerdata.db", "gamedata.db", "diary.txt", "lines.jsonl", "other.jsonl"):
        path = made.report.with_name(victim)
        before = path.read_bytes()
        for more in ([], ["--dry-run"]):
            told = unmigrated.refuses("import", "intersect", *made._replace(report=path).options, *more)
            assert f"{path} exists and is not a report of this import. Choose another report file" in told
        assert path.read_bytes() == before
    assert not Path(unmigrated.database.removeprefix("sqlite:///")).exists()


def test_resume_needs_the_same_report(files: Make, command: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    made = files()
    begun = break_off(command, made, monkeypatch)
    other = made.report.with_name("other.jsonl")
    for more in ([], ["--dry-run"]):
        told = command.refuses("import", "intersect", *made._replace(report=other).options, *more)
        assert f"Add: --report {made.report}" in told
        assert not other.exists()
    made.report.rename(other)
    told = command.refuses("import", "intersect", *made.options)
    assert f"{made.report} was deleted or truncated" in told
    assert not made.report.exists()
    other.rename(made.report)
    assert run(command, made)["changed"]
    assert made.report.read_bytes().startswith(begun)
