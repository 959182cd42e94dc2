from dataclasses import fields
from typing import Any

from command_line import CommandLine
from gamekeeper.settings import Settings
from loops import over

COMMAND = CommandLine("sqlite:///game.db")


def test_every_setting_with_value_source_and_meaning() -> None:
    shown = {each["name"]: each for each in COMMAND.json("settings", GAMEKEEPER_PORT="8080")}
    assert list(shown) == [each.name for each in fields(Settings)]
    assert shown["port"] == {
        "name": "port",
        "value": "8080",
        "source": "GAMEKEEPER_PORT",
        "meaning": "Port to listen on.",
    }
    assert (shown["access_log"]["value"], shown["access_log"]["source"]) == ("true", "default")
    assert shown["database"]["source"] == "GAMEKEEPER_DATABASE"
    first = COMMAND.json("settings", "--database", "sqlite:///other.db")[0]
    assert (first["value"], first["source"]) == ("sqlite:///other.db", "--database")
    lines = COMMAND.says("settings").splitlines()
    assert lines[0].split() == ["SETTING", "VALUE", "SOURCE", "MEANING"]
    assert lines[2].split() == ["host", "127.0.0.1", "default", "Address", "to", "listen", "on."]


def test_misspelt_setting_is_reported() -> None:
    for more in ([], ["--json"]):
        result = COMMAND.run("settings", *more, GAMEKEEPER_PROT="hush")
        assert (
            result.stderr
            == "WARNING: GAMEKEEPER_PROT is not a setting and has no effect. Did you mean GAMEKEEPER_PORT?\n"
        )
        assert "PROT" not in result.stdout


@over(
    "url, shown",
    [
        ("postgresql://me:hush@host/game", "postgresql://me:…@host/game"),
        ("postgresql://me:hu@sh:hush@host/game", "postgresql://me:…@host/game"),
        ("postgresql://host/game?user=me&password=hush&sslmode=require", "password=…&sslmode=require"),
        ("postgresql://me@host/game", "postgresql://me@host/game"),
    ],
)
def test_secrets_are_masked(url: str, shown: str) -> None:
    others = {"GAMEKEEPER_SMTP_URL": "smtps://me:hush@mail:465", "GAMEKEEPER_METRICS_TOKEN": "hush"}
    said = COMMAND.says("settings", GAMEKEEPER_DATABASE=url, **others)
    assert "hush" not in said
    assert shown in said
    assert "smtps://me:…@mail:465" in said


@over(
    "variable, value, problem",
    [
        ("GAMEKEEPER_PORT", "http", "GAMEKEEPER_PORT is 'http'; it must be a whole number."),
        ("GAMEKEEPER_PORT", "65536", "GAMEKEEPER_PORT is 65536; it must be from 1 to 65535."),
        ("GAMEKEEPER_ACCESS_LOG", "1", "GAMEKEEPER_ACCESS_LOG is '1'; it must be true or false."),
    ],
)
@over("command", ["settings", "serve", "migrate", "doctor"])
def test_invalid_values_are_refused(command: str, variable: str, value: str, problem: str) -> None:
    environment: dict[str, Any] = {variable: value}
    assert COMMAND.refuses(command, **environment) == f"Error: {problem}\n"
