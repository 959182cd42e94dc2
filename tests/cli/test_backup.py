import json
import os
import zipfile
from pathlib import Path

import pytest

from command_line import CommandLine
from world import World


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "backups").mkdir()
    return tmp_path / "backups" / "game.backup"


def test_backup_and_restore(command: CommandLine, first_command: CommandLine, file: Path) -> None:
    said = command.says("backup", str(file)).splitlines()
    assert said[0].startswith("Backed up ")
    assert said[0].endswith(f" to {file} ({file.stat().st_size:,} bytes).")
    verified = "the file was read back, and every table matches its row count and SHA-256"
    assert said[1] == f"Verified: {verified}; the database's own integrity check found no errors."
    said = first_command.says("restore", str(file)).splitlines()
    assert said[0].startswith("Restored ")
    assert said[0].endswith("; doctor found no errors.")
    assert said[1] == "All tokens are revoked. Issue new tokens for services with: gamekeeper tokens issue NAME"
    assert len(said) == 2  # there are no API keys, so nothing is said about them
    assert first_command.json("users", "show", "Ann") == command.json("users", "show", "Ann")


def test_backup_and_restore_print_json(
    command: CommandLine, first_command: CommandLine, file: Path, world: World, engine: str
) -> None:
    made = command.json("backup", str(file))
    assert made["ledger"] == world.ledger()[-1].seq
    assert (made["engine"], made["bytes"], made["problems"]) == (engine, file.stat().st_size, [])
    assert made["tables"]["players"] == 3
    assert made["rows"] == sum(made["tables"].values())
    back = first_command.json("restore", str(file))
    assert back["problems"] == []
    assert back["tables"] == made["tables"]


def test_tokens_can_be_kept(command: CommandLine, first_command: CommandLine, file: Path) -> None:
    command.says("backup", str(file))
    said = first_command.says("restore", str(file), "--keep-tokens")
    assert said.splitlines()[1].startswith("Tokens that were active at the time of the backup are active again")
    assert "revoked" not in first_command.says("tokens", "list")


@pytest.mark.parametrize(
    ("options", "expected", "state"),
    [
        ((), "All API keys are suspended. Find them with: gamekeeper keys list. Let", "suspended"),
        (("--keep-tokens",), "API keys have the state that they had at the time of the backup.", "active"),
    ],
)
def test_restore_says_what_happens_to_api_keys(
    command: CommandLine, first_command: CommandLine, file: Path, options: tuple[str, ...], expected: str, state: str
) -> None:
    command.says("keys", "create", "shop", "--owner", "Root", "--role", "shop")
    command.says("backup", str(file))
    assert first_command.says("restore", str(file), *options).splitlines()[2].startswith(expected)
    assert first_command.says("keys", "list").splitlines()[1].endswith(state)


@pytest.mark.skipif(os.name != "posix", reason="there are no such permissions elsewhere")
def test_backup_file_is_readable_by_owner_only(command: CommandLine, file: Path) -> None:
    before = os.umask(0)
    try:
        command.says("backup", str(file))
    finally:
        os.umask(before)
    assert file.stat().st_mode & 0o777 == 0o600


@pytest.mark.skipif(os.name != "posix", reason="there are no such permissions elsewhere")
@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
def test_restored_file_is_readable_by_owner_only(command: CommandLine, first_command: CommandLine, file: Path) -> None:
    command.says("backup", str(file))
    before = os.umask(0)
    try:
        first_command.says("restore", str(file))
    finally:
        os.umask(before)
    assert Path(first_command.database.removeprefix("sqlite:///")).stat().st_mode & 0o777 == 0o600


def test_backup_can_be_read_with_standard_tools(command: CommandLine, file: Path) -> None:
    command.says("backup", str(file))
    with zipfile.ZipFile(file) as opened:
        manifest = json.loads(opened.read("manifest.json"))
        columns = next(table["columns"] for table in manifest["tables"] if table["name"] == "players")
        rows = [json.loads(line) for line in opened.read("players.jsonl").splitlines()]
    assert sorted(row[columns.index("name")] for row in rows) == ["Ann", "Bob", "Zoe"]


def test_backup_overwrites_only_with_force(command: CommandLine, file: Path) -> None:
    file.write_text("mine")
    assert "already exists. Choose another name, or overwrite it with --force." in command.refuses("backup", str(file))
    assert file.read_text() == "mine"
    command.says("backup", str(file), "--force")
    assert zipfile.is_zipfile(file)
    assert [each.name for each in file.parent.iterdir()] == [file.name]


@pytest.mark.parametrize(
    ("name", "problem"), [("", "is a folder. Name a file in it."), ("no/x", "cannot be written: ")]
)
def test_backup_to_impossible_path_is_refused(command: CommandLine, file: Path, name: str, problem: str) -> None:
    assert problem in command.refuses("backup", str(file.parent / name))
    assert list(file.parent.iterdir()) == []


@pytest.mark.parametrize("arguments", [("backup",), ("users", "export", "Ann")])
def test_backup_never_replaces_device_or_pipe(command: CommandLine, file: Path, arguments: tuple[str, ...]) -> None:
    os.mkfifo(file)
    assert "is a device, a pipe or a socket" in command.refuses(*arguments, str(file), "--force")
    assert file.is_fifo()


def test_backup_of_damaged_database_warns(
    command: CommandLine, file: Path, monkeypatch: pytest.MonkeyPatch, engine: str
) -> None:
    async def broken(_: object) -> list[str]:
        return ["page 7 is torn"]

    monkeypatch.setattr(f"gamekeeper.store.{engine}.{engine.capitalize()}Store.check_integrity", broken)
    result = command.run("backup", str(file), code=1)
    assert "WARNING: the database failed its integrity check: page 7 is torn. Run: gamekeeper doctor" in result.stderr
    assert zipfile.is_zipfile(file)


def test_backup_with_interrupted_import_warns(
    command: CommandLine, first_command: CommandLine, file: Path, world: World
) -> None:
    world.sql("INSERT INTO imports VALUES ('x', 'users', '', 'r.jsonl', 0, '{}', 0, NULL)")
    warned = command.run("backup", str(file), "--json")
    assert warned.stderr.startswith("WARNING: The import with the report r.jsonl was interrupted in the stage users")
    assert json.loads(warned.stdout)["problems"] == []
    restored = first_command.run("restore", str(file))
    assert restored.stderr.startswith("WARNING: The import with the report r.jsonl was interrupted in the stage users")
    assert "doctor found no errors" in restored.stdout


def test_restore_reports_errors_of_doctor(
    command: CommandLine, first_command: CommandLine, file: Path, world: World
) -> None:
    world.sql("UPDATE slots SET quantity = quantity + 1 WHERE place = 'bank'")
    command.says("backup", str(file))
    said = first_command.says("restore", str(file), code=1)
    assert "; doctor found 2 errors." in said
    assert "error: ledger: The slots hold 1251 of item Gold Coin" in said


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
def test_backup_of_missing_database_is_refused(first_command: CommandLine, file: Path) -> None:
    assert "does not exist. Create it with: gamekeeper migrate" in first_command.refuses("backup", str(file))


@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
def test_backup_of_empty_database_is_refused(first_command: CommandLine, file: Path) -> None:
    """A PostgreSQL database without tables has nothing to back up: the command fails and writes no file."""
    assert "This database is empty, so there is nothing to back up." in first_command.refuses("backup", str(file))
    assert not file.exists()


@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
def test_restore_into_database_that_was_only_read(command: CommandLine, first_command: CommandLine, file: Path) -> None:
    first_command.run("doctor", code=1)
    command.says("backup", str(file))
    assert "doctor found no errors" in first_command.says("restore", str(file))


def test_restore_of_missing_file_is_refused(first_command: CommandLine, file: Path) -> None:
    assert f"{file} cannot be read: No such file or directory." in first_command.refuses("restore", str(file))


def test_restore_of_other_file_is_refused(first_command: CommandLine, file: Path) -> None:
    file.write_text("something else")
    assert "is a damaged backup: File is not a zip file. Nothing was changed." in first_command.refuses(
        "restore", str(file)
    )


def test_restore_never_overwrites_a_database(command: CommandLine, file: Path) -> None:
    command.says("backup", str(file))
    assert "it was not changed. Stop the server" in command.refuses("restore", str(file))
    command.says("users", "show", "Ann")
