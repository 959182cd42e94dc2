import os
import pty
import subprocess
import sys

import pytest
from click.testing import CliRunner

import factors
import people
from command_line import CommandLine
from gamekeeper.cli.commands import gamekeeper
from gamekeeper.game.access.passwords import hash_for_wire
from gamekeeper.game.core.lookup import make_clashing_fold
from loops import over
from world import SENT, World

NEW = ("users", "add", "Nina", "--email", "nina@example.test", "--password-stdin")


def logs_in(world: World, name: str, sent: str = SENT) -> bool:
    body = {"grant_type": "password", "username": name, "password": sent}
    return world.post("/api/oauth/token", body, by=None).status == 200


def test_add(command: CommandLine, world: World) -> None:
    powers = ("--api", "--role", "UserManage", "--role", "GAME.LINK", "--power", "ban")
    said = command.says(*NEW, *powers, typed=people.PASSWORD + "\n")
    assert said == "Added Nina. Permissions: api, users.query, users.manage, game.link, Ban.\n"
    assert logs_in(world, "nina")
    entry = world.ledger()[-1]
    assert (entry.kind, entry.actor_id, entry.request_id[:4]) == ("user_registered", None, "cli-")
    without = command.says("users", "add", "Odo", "--email", "o@example.test", NEW[-1], typed=people.PASSWORD)
    assert without == "Added Odo. Permissions: none.\n"
    assert not logs_in(world, "odo")


def test_add_migrates_an_empty_database(first_command: CommandLine) -> None:
    first_command.says(*NEW, "--api", typed="moss and lanterns")
    assert [user["name"] for user in first_command.json("users", "list")] == ["Nina"]
    assert first_command.says("migrate") == "The schema is already up to date.\n"


@over(
    "changed, typed, problem",
    ({"Nina": "ann"}, "", "Account already exists with username 'ann'. Choose another name"),
    ({"nina@example.test": "nobody"}, "", "'--email' is not an email address"),
    ({"Nina": "a/b"}, "", "letters from A to Z and digits are allowed. Choose another name, or set"),
    ({}, "tippitop9", "The password has 9 characters; it needs at least 10. Use several words"),
)
def test_add_is_refused(command: CommandLine, changed: dict[str, str], typed: str, problem: str) -> None:
    arguments = [changed.get(each, each) for each in NEW]
    assert problem in command.refuses(*arguments, typed=typed or "moss and lanterns")
    assert "Nina" not in command.says("users", "list")


@pytest.mark.long_only
def test_password_is_asked_for_on_a_terminal_and_not_shown(command: CommandLine) -> None:
    ours, theirs = pty.openpty()
    child = subprocess.Popen(
        [sys.executable, "-m", "gamekeeper", *NEW[:-1], "--database", command.database],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)  # close this end of the terminal, so that reading ends when the command exits
    shown = b""
    for prompt, line in (
        (b"Password:", b"password123"),
        (b"Repeat the password:", b"password123"),
        (b"easy to guess", b""),
        (b"Password:", b"tippity toppity"),
        (b"Repeat the password:", b"tippity toppity"),
    ):
        while prompt not in shown:
            shown += os.read(ours, 1024)
        assert b"tippity" not in shown
        shown = shown.partition(prompt)[2]
        os.write(ours, line + b"\n" if line else b"")
    assert child.wait(timeout=30) == 0
    os.close(ours)
    assert "Nina" in command.says("users", "list")


def test_password_is_set_or_generated(command: CommandLine, world: World) -> None:
    change = ("users", "password", "Shop")
    assert "The password is easy to guess" in command.refuses(*change, "--password-stdin", typed="shopshop2026")
    assert logs_in(world, "Shop")
    said = command.says(*change, "--password-stdin", typed="pässword is new\r\n")
    assert said == "Set the password of Shop and revoked the account's tokens.\n"
    assert world.get("/api/v1/players", by="Shop").status == 401
    assert not logs_in(world, "Shop")
    assert logs_in(world, "Shop", hash_for_wire("pässword is new"))
    for arguments in ((*NEW[:-1], "--api"), change):
        generated = command.says(*arguments, "--generate-password").splitlines()[-1].removeprefix("Password: ")
        assert len(generated) > 20
        assert logs_in(world, arguments[2], hash_for_wire(generated))


def test_list_and_show(command: CommandLine, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gamekeeper.cli.users.PAGE_SIZE", 2)
    listed = command.json("users", "list")
    assert [user["name"] for user in listed] == sorted(people.ACCOUNTS, key=str.lower)
    mona = next(user for user in listed if user["name"] == "Mona")
    assert mona == {
        "id": people.USER_IDS["Mona"],
        "name": "Mona",
        "email": "mona@example.test",
        "api": False,
        "roles": [],
        "powers": [],
        "staff": [],
        "permissions": [],
        "muted": "for good",
        "mute_reason": "spamming",
        "banned": "no",
        "ban_reason": None,
        "suspended": False,
        "second_factor": False,
        "linked_sign_ins": [],
        "created_at": mona["created_at"],
    }
    assert command.json("users", "show", "root") == command.json("users", "show", people.USER_IDS["Root"].upper())
    link = "INSERT INTO identities (id, user_id, issuer, subject, started_at, added_at) VALUES ($1, $2, $3, 's', 1, $4)"
    for number, issuer in enumerate(("https://id.example", "https://old.example")):
        world.sql(link, people.USER_IDS["Root" if number else "Shop"], people.USER_IDS["Clerk"], issuer, number)
    command.says("users", "suspend", "Clerk")
    factors.add_totp(world, people.USER_IDS["Clerk"])
    said = command.says("users", "show", "Clerk")
    assert "\nsuspended           yes\nsecond factor       yes\n" in said
    assert "\nlinked sign-ins     https://id.example, https://old.example\n" in said
    # accounts whose names differ only in case are listed once each, also at the end of a page
    bob = people.USER_IDS["Bob"]
    world.sql("UPDATE users SET name = 'ANN', fold = $2 WHERE id = $1", bob, make_clashing_fold("ANN", bob))
    assert [user["name"] for user in command.json("users", "list")][:3] == ["Ann", "ANN", "Clerk"]
    world.sql("UPDATE users SET email = $2 WHERE id = $1", people.USER_IDS["Ann"], "\x1b[2Ja@b.test\x9b")
    for words in (("list",), ("show", "Ann")):
        said = command.says("users", *words)
        assert "\\x1b[2Ja@b.test\\x9b" in said
        assert not {"\x1b", "\x9b"} & set(said)


def test_unknown_account_is_reported(command: CommandLine) -> None:
    for words in (("users", "show"), ("users", "mute"), ("users", "reset-second-factor"), ("tokens", "issue")):
        problem = command.refuses(*words, "Nobody")
        assert problem == "Error: No user with name 'Nobody'. List the accounts with: gamekeeper users list\n"


def test_permissions_are_granted_and_revoked(command: CommandLine, world: World) -> None:
    given = command.says("users", "grant", "shop", "usermanage")
    assert given == "Permissions of Shop: api, users.query, users.manage.\n"
    assert world.get("/api/v1/users", by="Shop").status == 200
    assert world.ledger()[-1].kind == "powers_changed"
    assert command.says("users", "revoke", "shop", "Users.Query") == "Permissions of Shop: api.\n"
    assert "'king' is not a permission" in command.refuses("users", "grant", "shop", "king", code=2)
    assert command.says("users", "grant", "shop", "Ban").endswith(", Ban.\n")
    assert not command.says("users", "revoke", "shop", "ban").endswith(", Ban.\n")
    with world.nothing_recorded():
        assert command.says("users", "grant", "Clerk", "users.query") == "Permissions of Clerk: api, users.query.\n"
    assert command.says("users", "grant", "Clerk", "UserManage").endswith(": api, users.query, users.manage.\n")
    assert command.says("users", "revoke", "Clerk", "users.manage") == "Permissions of Clerk: api, users.query.\n"
    assert command.says("users", "api", "Shop", "off") == "Permissions of Shop: none.\n"
    world.asgi.services.callers.clear_cache()
    assert world.get("/api/v1/players", by="Shop").status == 401
    assert command.says("users", "api", "Shop", "on") == "Permissions of Shop: api.\n"
    command.refuses("users", "api", "Shop", "maybe", code=2)


def test_email_name_and_second_factor_are_changed(command: CommandLine, world: World) -> None:
    assert command.says("users", "email", "Bob", "bob@new.test") == "Set the email address of Bob.\n"
    assert world.get("/api/v1/users/Bob").json["Email"] == "bob@new.test"
    command.refuses("users", "email", "Bob", "nonsense")
    command.refuses("users", "email", "Bob", "ann@example.test")
    assert command.says("users", "rename", "Bob", "Robert") == "The name of the account is Robert now.\n"
    command.refuses("users", "rename", "Robert", "Ann")
    factors.add_totp(world, people.USER_IDS["Shop"])
    assert "Shop has no second factor now" in command.says("users", "reset-second-factor", "Shop")
    assert world.sql("SELECT COUNT(*) FROM second_factors") == [(0,)]
    assert (world.ledger()[-1].kind, world.ledger()[-1].actor_id) == ("second_factors_reset", None)


def test_mistyped_command_or_subcommand_suggests_the_nearest() -> None:
    for typed, told in (
        (["user"], "'user'. Did you mean 'users'?"),
        (["USERS"], "'USERS'. Did you mean 'users'?"),
        (["zzz"], "'zzz'."),
        (["users", "lits"], "'lits'. Did you mean 'list'?"),
    ):
        result = CliRunner().invoke(gamekeeper, typed)
        assert result.exit_code == 2
        assert result.output.splitlines()[-1] == f"Error: No such command {told}"
