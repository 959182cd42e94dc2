"""Commands without a database, and those that show what the API answers."""

import subprocess
import sys
from pathlib import Path

import pytest

from blocks import parse_commands
from command_line import CommandLine
from gamekeeper.http.routes import ROUTES
from people import ANN
from playing import find_midnight, play, roll_up
from world import World

ROOT = Path(__file__).parents[2]
COMMAND = CommandLine("sqlite:///game.db")
# commands that read or change rows, and do not examine the database
PLAIN = ("account_status", "users", "tokens", "api_keys", "roles", "moderation", "approvals", "suspensions")
# also the parent process of the workers; `gamekeeper demo` is not here, because it serves
OTHERS = ("serve", "database", "backup", "moving")
SLOW = {"gamekeeper.app", "gamekeeper.console", "gamekeeper.http.routes", "asyncpg", "jinja2", "webauthn"}
SLOW_AND_NOT_PLAIN = SLOW | {"gamekeeper.doctor", "gamekeeper.mail", "email_validator"}


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


def test_commands_load_neither_http_nor_the_console_and_plain_ones_not_the_doctor() -> None:
    """Commands start quickly, because they do not load what only a serving process needs."""
    plain, others = (", ".join(f"gamekeeper.cli.{name}" for name in names) for names in (PLAIN, OTHERS))
    code = f"import sys, {plain}\nprint(*sys.modules)\nimport {others}\nprint(*sys.modules)"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    loaded_by_plain, loaded = (set(line.split()) for line in printed.splitlines())
    assert f"gamekeeper.cli.{PLAIN[0]}" in loaded_by_plain
    assert f"gamekeeper.cli.{OTHERS[0]}" in loaded
    assert SLOW_AND_NOT_PLAIN & loaded_by_plain == set()
    assert SLOW & loaded == set()


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
    assert "after the end" in command.refuses("activity", "--from", "2020-01-02", "--to", "2020-01-01")


@pytest.mark.long_only
@pytest.mark.parametrize("page", ["docs/link.md", "examples/README.md"])
def test_documented_commands_create_account_and_key(first_command: CommandLine, page: str) -> None:
    add, create = parse_commands((ROOT / page).read_text(encoding="utf-8"))
    assert "Password: " in first_command.says(*add)
    assert first_command.says(*create).startswith("gkk_")
    (shown,) = first_command.json("users", "list")
    assert shown["staff"] == ["game server"]
