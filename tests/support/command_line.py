"""Runs commands of the command line in process, with GAMEKEEPER_DATABASE set."""

import json
from typing import Any

from click.testing import CliRunner, Result

from gamekeeper.cli.commands import gamekeeper


class CommandLine:
    def __init__(self, database: str) -> None:
        self.database = database

    def run(self, *arguments: str, typed: str | None = None, code: int = 0, **environment: str) -> Result:
        variables = {"GAMEKEEPER_DATABASE": self.database, **environment}
        result = CliRunner().invoke(gamekeeper, arguments, input=typed, env=variables)
        assert result.exit_code == code, result.output
        return result

    def says(self, *arguments: str, **more: Any) -> str:
        return self.run(*arguments, **more).stdout

    def json(self, *arguments: str, **more: Any) -> Any:
        return json.loads(self.says(*arguments, "--json", **more))

    def refuses(self, *arguments: str, code: int = 1, **more: Any) -> str:
        result = self.run(*arguments, code=code, **more)
        assert not result.stdout
        return result.stderr
