from dataclasses import fields

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
    assert shown["access_log"]["source"] == "default"
    first = COMMAND.json("settings", "--database", "sqlite:///other.db")[0]
    assert (first["value"], first["source"]) == ("sqlite:///other.db", "--database")
    warned = COMMAND.run("settings", GAMEKEEPER_PROT="hush")
    assert "GAMEKEEPER_PROT is not a setting and has no effect. Did you mean GAMEKEEPER_PORT?" in warned.stderr
    assert "hush" not in warned.output


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


@over("command", ["settings", "serve", "migrate", "doctor"])
def test_invalid_value_is_refused(command: str) -> None:
    problem = "GAMEKEEPER_PORT is 65536; it must be from 1 to 65535."
    assert COMMAND.refuses(command, GAMEKEEPER_PORT="65536") == f"Error: {problem}\n"
