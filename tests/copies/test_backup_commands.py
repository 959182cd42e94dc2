import json
import os
import zipfile
from pathlib import Path
from typing import Any

import pytest

from command_line import CommandLine
from world import World

# what is said and what is written depends on the engine
pytestmark = pytest.mark.both_engines


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "backups").mkdir()
    return tmp_path / "backups" / "game.backup"


def test_backup_and_restore(
    command: CommandLine, first_command: CommandLine, file: Path, world: World, engine: str
) -> None:
    before = os.umask(0)
    try:
        said = command.says("backup", str(file)).splitlines()
        told = first_command.says("restore", str(file)).splitlines()
    finally:
        os.umask(before)
    assert said[0].startswith("Backed up ")
    assert said[0].endswith(f" to {file} ({file.stat().st_size:,} bytes).")
    verified = "the file was read back, and every table matches its row count and SHA-256"
    assert said[1] == f"Verified: {verified}; the database's own integrity check found no errors."
    assert file.stat().st_mode & 0o777 == 0o600
    with zipfile.ZipFile(file) as opened:  # standard tools can read it
        manifest = json.loads(opened.read("manifest.json"))
        columns = next(table["columns"] for table in manifest["tables"] if table["name"] == "players")
        rows = [json.loads(line) for line in opened.read("players.jsonl").splitlines()]
    assert sorted(row[columns.index("name")] for row in rows) == ["Ann", "Bob", "Zoe"]
    assert told[0].startswith("Restored ")
    assert told[0].endswith("; doctor found no errors.")
    assert told[1] == "All tokens are revoked. Issue new tokens for services with: gamekeeper tokens issue NAME"
    assert len(told) == 2  # there are no API keys, so nothing is said about them
    assert first_command.json("users", "show", "Ann") == command.json("users", "show", "Ann")
    if engine == "sqlite":
        assert Path(first_command.database.removeprefix("sqlite:///")).stat().st_mode & 0o777 == 0o600
    made = command.json("backup", str(file), "--force")
    assert made["ledger"] == world.ledger()[-1].seq
    assert (made["engine"], made["bytes"], made["problems"]) == (engine, file.stat().st_size, [])
    assert (made["tables"]["players"], made["rows"]) == (3, sum(made["tables"].values()))
    # it never overwrites a database
    assert "it was not changed. Stop the server" in command.refuses("restore", str(file))
    assert command.says("users", "show", "Ann")


def test_backup_overwrites_only_with_force(command: CommandLine, file: Path, tmp_path: Path) -> None:
    for name, problem in (("", "is a folder. Name a file in it."), ("no/x", "cannot be written: ")):
        assert problem in command.refuses("backup", str(file.parent / name))
    assert list(file.parent.iterdir()) == []
    os.mkfifo(tmp_path / "pipe")
    for arguments in (("backup",), ("users", "export", "Ann")):
        said = command.refuses(*arguments, str(tmp_path / "pipe"), "--force")
        assert "is a device, a pipe or a socket" in said
    assert (tmp_path / "pipe").is_fifo()
    assert "is a device, a pipe or a socket. Name the file of a backup." in command.refuses("restore", os.devnull)
    file.write_text("mine")
    assert "already exists. Choose another name, or overwrite it with --force." in command.refuses("backup", str(file))
    assert file.read_text() == "mine"
    command.says("backup", str(file), "--force")
    assert zipfile.is_zipfile(file)
    assert [each.name for each in file.parent.iterdir()] == [file.name]


def test_problems_of_the_database_are_reported_at_backup_and_at_restore(
    command: CommandLine, file: Path, world: World, monkeypatch: pytest.MonkeyPatch, databases: Any, engine: str
) -> None:
    async def broken(_: object) -> list[str]:
        return ["page 7 is torn"]

    world.sql("UPDATE slots SET quantity = quantity + 1 WHERE place = 'bank'")
    with monkeypatch.context() as torn:
        torn.setattr(f"gamekeeper.store.engine.{engine}.{engine.capitalize()}Store.check_integrity", broken)
        result = command.run("backup", str(file), "--force", code=1)
    assert "WARNING: the database failed its integrity check: page 7 is torn. Run: gamekeeper doctor" in result.stderr
    assert zipfile.is_zipfile(file)
    other = databases.empty()
    said = CommandLine(other).says("restore", str(file), code=1)
    databases.drop(other)
    assert "; doctor found 2 errors." in said
    assert "error: ledger: The slots hold 1251 of item Gold Coin" in said
