"""Commands without a database, and those that show what the API answers."""

import re
import shlex
from pathlib import Path

import pytest

from command_line import CommandLine
from gamekeeper.http.routes import ROUTES
from people import ANN
from playing import find_midnight, play, roll_up
from sample_code import parse_samples
from world import World

ROOT = Path(__file__).parents[2]
COMMAND = CommandLine("sqlite:///game.db")
CALLED = re.compile(r"(?:^|\()gamekeeper ([^)\n]+)", re.MULTILINE)  # in a shell block


def test_operations_are_listed() -> None:
    listed = COMMAND.json("operations")
    assert [(each["method"], each["path"]) for each in listed] == [(each.method, each.path) for each in ROUTES]
    give = next(each for each in listed if each["name"] == "give_item")
    assert (give["number"], give["access"], give["permissions"]) == ("14", "writes", "items.give")


def test_deploy_writes_every_file_or_none(tmp_path: Path) -> None:
    names = sorted(path.name for path in (ROOT / "deploy").iterdir())
    folder = tmp_path / "new" / "folder"
    assert COMMAND.says("deploy", str(folder)).splitlines() == [str(folder / name) for name in names]
    assert sorted(path.name for path in folder.iterdir()) == names
    for name in names:
        assert (folder / name).read_bytes() == (ROOT / "deploy" / name).read_bytes()
    used = tmp_path / "used"
    used.mkdir()
    mine = {"haproxy.cfg": "mine", "prometheus.yml": "mine", "other.cfg": "mine"}
    for name, text in mine.items():
        (used / name).write_text(text)
    assert COMMAND.refuses("deploy", str(used)) == (
        f"Error: {used} already has haproxy.cfg, prometheus.yml. Nothing was written. "
        "Move them, or name another folder.\n"
    )
    assert {path.name: path.read_text() for path in used.iterdir()} == mine


def test_activity_and_retention_are_those_of_the_api(command: CommandLine, world: World) -> None:
    start = find_midnight(world, 20)
    play(world, [(ANN.id, start, start + 60_000)])
    roll_up(world)
    points = world.get("/api/keeper/v1/activity?step=week").json["Points"]
    active = [each["Active"] for each in command.json("activity", "--step", "week")["Points"]]
    assert active == [each["Active"] for each in points]
    assert 1 in active
    retention = world.get("/api/keeper/v1/activity/retention").json
    assert command.json("activity", "--retention") == retention
    for more in ((), ("--retention",)):
        refused = command.refuses("activity", *more, "--from", "2020-01-02", "--to", "2020-01-01")
        assert "must not be after the end of the range" in refused


@pytest.mark.long_only
@pytest.mark.parametrize("page", ["docs/link.md", "examples/README.md"])
def test_documented_commands_create_account_and_key(first_command: CommandLine, page: str) -> None:
    blocks = [each.code for each in parse_samples(page, (ROOT / page).read_text("utf-8")) if each.language == "sh"]
    add, create = (shlex.split(words) for block in blocks for words in CALLED.findall(block))
    assert "Password: " in first_command.says(*add)
    assert first_command.says(*create).startswith("gkk_")
    (shown,) = first_command.json("users", "list")
    assert shown["staff"] == ["game server"]
