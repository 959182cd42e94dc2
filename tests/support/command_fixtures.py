import pytest

from command_line import CommandLine


@pytest.fixture
def command(database: str) -> CommandLine:
    return CommandLine(database)


@pytest.fixture
def first_command(empty_database: str) -> CommandLine:
    return CommandLine(empty_database)
