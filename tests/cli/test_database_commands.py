from pathlib import Path

import pytest

from command_line import CommandLine
from loops import over
from world import World

NEWER = "INSERT INTO migrations (number, name, checksum, applied_at) VALUES (9999, 'from_the_future', 'x', 0)"
AFTER_MIGRATE = [("users", "list"), ("users", "grant", "Ann", "users.query"), ("tokens", "issue", "Ann")]


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
def test_migrate(first_command: CommandLine) -> None:
    assert first_command.says("migrate").startswith("Applied 0018 baseline.\n")
    assert first_command.says("migrate") == "The schema is already up to date.\n"
    assert Path(first_command.database.removeprefix("sqlite:///")).stat().st_mode & 0o077 == 0


@over("arguments", *AFTER_MIGRATE, ("migrate",))
def test_a_newer_schema_is_refused(command: CommandLine, world: World, arguments: tuple[str, ...]) -> None:
    world.sql(f"{NEWER} ON CONFLICT DO NOTHING")
    with world.nothing_recorded():
        problem = command.refuses(*arguments, typed="moss and lanterns")
        assert "it was written by a newer Gamekeeper. Run that version, or a newer one." in problem


@over("arguments", *AFTER_MIGRATE)
@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
def test_mistyped_file_is_not_created(first_command: CommandLine, arguments: tuple[str, ...]) -> None:
    problem = first_command.refuses(*arguments, typed="moss and lanterns")
    assert "does not exist. Create it with: gamekeeper migrate" in problem
    assert f"gamekeeper migrate --database {first_command.database}" in problem
    assert not Path(first_command.database.removeprefix("sqlite:///")).exists()


def test_unreachable_database_is_reported_without_its_password(tmp_path: Path) -> None:
    (tmp_path / "x.db").write_bytes(b"not a database" * 1000)
    assert "file is not a database" in CommandLine(f"sqlite:///{tmp_path}/x.db").refuses("doctor")
    for database, problem in (
        ("postgresql://nobody@127.0.0.1:1/none", "Check --database, and that the database is running."),
        ("sqlite:////no/such/folder/x.db", "/no/such/folder/x.db"),
        ("mysql://localhost/x", "is not supported. Use sqlite:///path/to/file.db or postgresql://user@host/name."),
        ("postgresql://nobody:se/cret@127.0.0.1/none", "In a password write / as %2F"),
        ("postgresql://nobody:se[cret@127.0.0.1/none", "[ as %5B"),
        ("", "is not supported. Use sqlite:///path/to/file.db or postgresql://user@host/name."),
    ):
        said = CommandLine(database).refuses("users", "list")
        assert problem in said
        assert "cret" not in said
        assert said.count("\n") == 1
