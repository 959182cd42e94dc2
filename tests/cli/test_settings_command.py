from command_line import CommandLine

COMMAND = CommandLine("sqlite:///game.db")


def test_secrets_are_masked() -> None:
    others = {"GAMEKEEPER_SMTP_URL": "smtps://me:hush@mail:465", "GAMEKEEPER_METRICS_TOKEN": "hush"}
    said = COMMAND.says("settings", GAMEKEEPER_DATABASE="postgresql://me:hu@sh:hush@host/game", **others)
    assert "hush" not in said
    assert "postgresql://me:…@host/game" in said
    assert "smtps://me:…@mail:465" in said
