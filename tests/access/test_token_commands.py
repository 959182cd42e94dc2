import pytest

import people
from command_line import CommandLine
from world import World


def test_issue(command: CommandLine, world: World) -> None:
    result = command.run("tokens", "issue", "shop")
    token = result.stdout.strip()
    assert token.startswith("gka_")
    assert "it is not shown again" in result.stderr
    assert world.get("/api/v1/players", token=token).status == 200
    assert token not in str(world.sql("SELECT access_hash FROM tokens"))


def test_issue_read_only_for_some_hours(command: CommandLine, world: World) -> None:
    issued = command.json("tokens", "issue", "Root", "--read-only", "--hours", "2")
    assert (issued["user"], issued["read_only"]) == ("Root", True)
    listed = next(each for each in command.json("tokens", "list", "root") if each["id"] == issued["id"])
    assert (listed["access_expires"], listed["read_only"], listed["live"]) == (issued["expires_at"], True, True)
    assert world.give("Bob", token=issued["token"]).status == 403


def test_list(command: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    with_tokens = sorted(name for name, powers in people.ACCOUNTS.items() if powers.api)
    assert sorted(each["user"] for each in command.json("tokens", "list")) == with_tokens
    assert command.says("tokens", "list", "Clerk").splitlines()[1].endswith("  live")
    assert command.json("tokens", "list", "Ann") == []
    monkeypatch.setattr("gamekeeper.store.access.tokens.LIST_LIMIT", 2)
    result = command.run("tokens", "list")
    assert len(result.stdout.splitlines()) == 3
    assert result.stderr == "Only the newest 2 tokens are listed. Give an account to list only its tokens.\n"


def test_one_token_or_all_are_revoked(command: CommandLine, world: World) -> None:
    issued = command.json("tokens", "issue", "Shop")
    assert command.says("tokens", "revoke", "shop", issued["id"]) == f"Revoked token {issued['id']} of Shop.\n"
    assert world.get("/api/v1/players", token=issued["token"]).status == 401
    assert world.get("/api/v1/players", by="Shop").status == 200
    states = {line.split()[0]: line.split()[-1] for line in command.says("tokens", "list", "Shop").splitlines()}
    assert states[issued["id"]] == "revoked"
    issued = command.json("tokens", "issue", "Shop")
    assert command.says("tokens", "revoke", "Shop") == "Revoked all tokens of Shop.\n"
    world.asgi.services.callers.clear_cache()
    for token in (issued["token"], world.tokens["Shop"]):
        assert world.get("/api/v1/players", token=token).status == 401
