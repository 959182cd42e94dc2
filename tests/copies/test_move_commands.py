import contextlib
import json
from pathlib import Path

import apsw
import pytest

from command_line import CommandLine


@pytest.mark.both_engines
def test_move(command: CommandLine, target: str) -> None:
    said = command.says("move", "--to", target).splitlines()
    assert said[0].startswith("Moved ")
    assert said[0].endswith("; the checksums of all tables match; doctor found no errors.")
    assert "is closed: no server starts on it, and running servers cannot write to it." in said[1]
    assert "Ann" in CommandLine(target).says("users", "list")
    problem = command.refuses("users", "list")
    assert "Error: This database was moved to " in problem
    assert "start Gamekeeper on that one" in problem
    assert command.refuses("backup", "anywhere") == problem
    assert "is open again." in command.says("move", "--reopen")
    assert "was not closed; nothing to do." in command.says("move", "--reopen")
    assert "it was not changed." in command.refuses("move", "--to", target)
    assert "Ann" in command.says("users", "list")


def test_move_needs_another_database(command: CommandLine, first_command: CommandLine, tmp_path: Path) -> None:
    """The target is refused if it is the source, also with another spelling of the same path."""
    assert "Cannot reach the database" in command.refuses("move", "--to", "postgresql://nobody@127.0.0.1:1/x")
    if first_command.database.startswith("sqlite"):
        said = first_command.refuses("move", "--to", f"sqlite:///{tmp_path / 'x.db'}")
        assert "does not exist. Create it with: gamekeeper migrate" in said
        assert list(tmp_path.iterdir()) == []
        Path(first_command.database.removeprefix("sqlite:///")).touch()
    problem = "Gamekeeper has never used this database. Check --database."
    assert first_command.refuses("move", "--reopen") == f"Error: {problem}\n"
    assert "Source and target are the same database." in command.refuses("move", "--to", command.database)
    other = command.database.replace("///", "////") if command.database.startswith("sqlite") else command.database
    assert "name an empty one" in command.refuses("move", "--to", other)
    for given in ([], ["--to", other, "--reopen"]):
        assert "Give either --to URL or --reopen. Example: gamekeeper move" in command.refuses("move", *given)
    assert "is not supported. Use sqlite:///" in command.refuses("move", "--to", "mysql://x")
    assert "Ann" in command.says("users", "list")


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
def test_move_of_damaged_file_is_refused(command: CommandLine, tmp_path: Path) -> None:
    file = Path(command.database.removeprefix("sqlite:///"))
    with contextlib.closing(apsw.Connection(str(file))) as db:
        (page,) = db.execute("SELECT rootpage FROM sqlite_master WHERE name = 'slots'").fetchone()
    content = bytearray(file.read_bytes())
    content[8192 * (page - 1) : 8192 * page] = bytes(8192)
    file.write_bytes(content)
    copy = str(tmp_path / "copy")
    for arguments in (("export", copy), ("backup", copy), ("move", "--to", f"sqlite:///{copy}")):
        problem = "The database's file is damaged: database disk image is malformed. Restore a backup."
        assert command.refuses(*arguments) == f"Error: {problem}\n"
        assert list(tmp_path.iterdir()) == []


@pytest.mark.both_engines
def test_export_and_import(command: CommandLine, first_command: CommandLine, tmp_path: Path) -> None:
    folder = tmp_path / "game"
    said = command.says("export", str(folder))
    assert said.startswith("Exported ")
    assert said.endswith(". Verified: every file matches its line count and SHA-256.\n")
    manifest = json.loads((folder / "manifest.json").read_text())
    assert {f"{each['noun']}.jsonl" for each in manifest["files"]} == {each.name for each in folder.iterdir()} - {
        "manifest.json"
    }
    problem = first_command.refuses("import", "gamekeeper", str(tmp_path))
    assert f"{tmp_path} is no export: manifest.json cannot be read: No such file or directory." in problem
    said = first_command.says("import", "gamekeeper", str(folder))
    assert said.startswith("Imported ")
    assert said.endswith("; doctor found no errors.\n")
    assert first_command.json("users", "show", "Ann") == command.json("users", "show", "Ann")
    assert "it was not changed." in first_command.refuses("import", "gamekeeper", str(folder))
    assert "already exists." in command.refuses("export", str(folder))
