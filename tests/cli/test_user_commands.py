import os
import pty
import subprocess
import sys

import click
import pytest

import factors
import people
from command_line import CommandLine
from gamekeeper.cli.commands import gamekeeper
from gamekeeper.game.lookup import make_clashing_fold
from gamekeeper.game.passwords import hash_for_wire
from world import SENT, World

# the terminal and the standard output of a process do not depend on the engine
ON_SQLITE = pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
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


def test_add_without_permissions(command: CommandLine, world: World) -> None:
    assert command.says(*NEW, typed=people.PASSWORD) == "Added Nina. Permissions: none.\n"
    shown = command.json("users", "show", "NINA")
    assert (shown["api"], shown["roles"], shown["powers"]) == (False, [], [])
    assert not logs_in(world, "nina")


def test_add_migrates_an_empty_database(first_command: CommandLine) -> None:
    first_command.says(*NEW, "--api", typed="moss and lanterns")
    assert [user["name"] for user in first_command.json("users", "list")] == ["Nina"]
    assert first_command.says("migrate") == "The schema is already up to date.\n"


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"Nina": "ann"}, "Account already exists with username 'ann'. Choose another name"),
        ({"nina@example.test": "ANN@example.test"}, "Account already with email 'ANN@example.test'. Give another"),
        ({"nina@example.test": "nobody"}, "'--email' is not an email address"),
        ({"Nina": "rank"}, "The name 'rank' is reserved; choose another."),
        (
            {"Nina": "a/b"},
            "must have 2 to 20 characters; letters from A to Z and digits are allowed. Choose another name, or set",
        ),
        ({"Nina": people.ANN.id}, "The field 'NAME' must not look like an id."),
    ],
)
def test_add_refused(command: CommandLine, changed: dict[str, str], problem: str) -> None:
    arguments = [changed.get(each, each) for each in NEW]
    assert problem in command.refuses(*arguments, typed="moss and lanterns")
    assert "Nina" not in command.says("users", "list")


@pytest.mark.parametrize(
    ("more", "typed", "problem"),
    [
        (("--role", "king"), "secret", "'king' is not a role. Choose one of users.query, users.manage, game.link."),
        (("--power", "fly"), "secret", "'fly' is not one of 'editor'"),
        ((), "\n", "The password on standard input is empty."),
        ((), "brook-Lantern-93\nsecond line\n", "must be one line, without control characters."),
        ((), "brook\0Lantern-93\n", "must be one line, without control characters."),
        (("--generate-password",), "secret", "Give either --password-stdin or --generate-password."),
    ],
)
def test_add_with_invalid_arguments_is_refused(
    command: CommandLine, more: tuple[str, ...], typed: str, problem: str
) -> None:
    assert problem in command.refuses(*NEW, *more, typed=typed, code=2)


def test_add_without_terminal_needs_password_option(command: CommandLine) -> None:
    problem = command.refuses(*NEW[:-1], typed="secret\nsecret\n", code=2)
    assert "Cannot ask for the password without a terminal. Use --password-stdin or --generate-password." in problem


@ON_SQLITE
@pytest.mark.parametrize(("again", "code"), [("tippity toppity", 0), ("toppity tippity", 1)])
def test_add_prompts_twice_on_a_terminal(command: CommandLine, again: str, code: int) -> None:
    ours, theirs = pty.openpty()
    environment = {**os.environ, "GAMEKEEPER_DATABASE": command.database}
    child = subprocess.Popen(
        [sys.executable, "-m", "gamekeeper", *NEW[:-1], "--api"],
        env=environment,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    )
    shown = b""
    for prompt, line in ((b"Password:", "tippity toppity"), (b"Repeat the password:", again)):
        while prompt not in shown:
            shown += os.read(ours, 1024)
        os.write(ours, f"{line}\n".encode())
    # the passwords differ: the command would prompt until they are equal, so the test ends it
    if code:
        while b"do not match" not in shown:
            shown += os.read(ours, 1024)
        child.terminate()
    assert (child.wait(timeout=30) == 0) == (code == 0)
    os.close(theirs)
    os.close(ours)
    assert b"tippity" not in shown
    assert ("Nina" in command.says("users", "list")) == (code == 0)


@pytest.mark.parametrize(
    ("typed", "problem"),
    [
        ("tippitop9", "The password has 9 characters; it needs at least 10."),
        ("password123", "The password is easy to guess"),
        ("Nina-2026!!", "The password is easy to guess"),
    ],
)
def test_weak_password_on_standard_input_is_refused(command: CommandLine, typed: str, problem: str) -> None:
    said = command.refuses(*NEW, typed=typed)
    assert problem in said
    assert "Use several words that do not belong together, or a generated password." in said
    assert "Nina" not in command.says("users", "list")


def test_weak_password_of_existing_account_is_refused(command: CommandLine, world: World) -> None:
    said = command.refuses("users", "password", "Shop", "--password-stdin", typed="shopshop2026")
    assert "The password is easy to guess" in said
    assert logs_in(world, "Shop")


def test_minimum_length_is_a_setting(command: CommandLine) -> None:
    said = command.refuses(*NEW, typed="tippity toppity", GAMEKEEPER_MIN_PASSWORD_LENGTH="16")
    assert "it needs at least 16" in said
    command.says(*NEW, typed="tippitop9", GAMEKEEPER_MIN_PASSWORD_LENGTH="8")


@ON_SQLITE
def test_weak_password_on_a_terminal_is_asked_for_again(command: CommandLine) -> None:
    ours, theirs = pty.openpty()
    child = subprocess.Popen(
        [sys.executable, "-m", "gamekeeper", *NEW[:-1]],
        env={**os.environ, "GAMEKEEPER_DATABASE": command.database},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)  # close this end of the terminal, so that reading ends when the command exits
    shown = b""
    for prompt, line in (
        (b"Password:", "password123"),
        (b"Repeat the password:", "password123"),
        (b"easy to guess", ""),
        (b"Password:", "tippity toppity"),
        (b"Repeat the password:", "tippity toppity"),
    ):
        while prompt not in shown:
            shown += os.read(ours, 1024)
        shown = shown.partition(prompt)[2]
        if line:
            os.write(ours, f"{line}\n".encode())
    assert child.wait(timeout=30) == 0
    os.close(ours)
    assert "Nina" in command.says("users", "list")


@pytest.mark.parametrize("arguments", [(*NEW[:-1], "--api"), ("users", "password", "Shop")])
def test_generated_password_is_printed_and_works(
    command: CommandLine, world: World, arguments: tuple[str, ...]
) -> None:
    generated = command.says(*arguments, "--generate-password").splitlines()[-1].removeprefix("Password: ")
    assert len(generated) > 20
    assert logs_in(world, arguments[2], hash_for_wire(generated))


def test_list(command: CommandLine) -> None:
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
    lines = command.says("users", "list").splitlines()
    assert lines[3].split() == ["Mona", "mona@example.test", "-"]
    assert lines[4].split()[2:4] == ["api,", "users.query,"]


def test_list_reads_all_pages(command: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gamekeeper.cli.users.PAGE_SIZE", 2)
    assert len(command.json("users", "list")) == len(people.ACCOUNTS)


def test_list_has_clashing_names_once(command: CommandLine, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Accounts whose names differ only in case are listed once each, also at the end of a page."""
    bob = people.USER_IDS["Bob"]
    world.sql("UPDATE users SET name = 'ANN', fold = $2 WHERE id = $1", bob, make_clashing_fold("ANN", bob))
    monkeypatch.setattr("gamekeeper.cli.users.PAGE_SIZE", 2)
    assert [user["name"] for user in command.json("users", "list")][:3] == ["Ann", "ANN", "Clerk"]


def test_control_characters_are_escaped(command: CommandLine, world: World) -> None:
    world.sql("UPDATE users SET email = $2 WHERE id = $1", people.USER_IDS["Ann"], "\x1b[2Ja@b.test\x9b")
    for words in (("list",), ("show", "Ann")):
        said = command.says("users", *words)
        assert "\\x1b[2Ja@b.test\\x9b" in said
        assert not {"\x1b", "\x9b"} & set(said)


def test_list_without_accounts(first_command: CommandLine) -> None:
    first_command.says("migrate")
    assert first_command.json("users", "list") == []
    assert first_command.says("users", "list") == ""


def test_show(command: CommandLine) -> None:
    assert command.json("users", "show", "root") == command.json("users", "show", people.USER_IDS["Root"].upper())
    lines = dict(line.split("  ", 1) for line in command.says("users", "show", "Clerk").splitlines())
    shown = {name: value.strip() for name, value in lines.items()}
    assert (shown["name"], shown["roles"], shown["granted directly"]) == ("Clerk", "api", "users.query")
    assert (shown["suspended"], shown["second factor"]) == ("no", "no")


def test_linked_sign_ins_are_shown(command: CommandLine, world: World) -> None:
    link = "INSERT INTO identities (id, user_id, issuer, subject, started_at, added_at) VALUES ($1, $2, $3, 's', 1, $4)"
    for number, issuer in enumerate(("https://id.example", "https://old.example")):
        world.sql(link, people.USER_IDS["Root" if number else "Shop"], people.USER_IDS["Clerk"], issuer, number)
    shown = command.says("users", "show", "Clerk")
    assert "\nlinked sign-ins     https://id.example, https://old.example\n" in shown
    assert command.json("users", "show", "Root")["linked_sign_ins"] == []


def test_suspension_and_second_factor_are_shown(command: CommandLine, world: World) -> None:
    command.says("users", "suspend", "Clerk")
    factors.add_totp(world, people.USER_IDS["Clerk"])
    (line,) = [each for each in command.says("users", "list").splitlines() if each.startswith("Clerk ")]
    assert line.endswith("  suspended")
    shown = command.says("users", "show", "Clerk")
    assert "\nsuspended           yes\nsecond factor       yes\n" in shown
    assert [each["second_factor"] for each in command.json("users", "list")].count(True) == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ("users", "show", "Nobody"),
        ("users", "grant", "Nobody", "users.query"),
        ("users", "revoke", "Nobody", "users.query"),
        ("users", "api", "Nobody", "on"),
        ("users", "password", "Nobody", "--password-stdin"),
        ("tokens", "issue", "Nobody"),
        ("tokens", "list", "Nobody"),
        ("tokens", "revoke", "Nobody"),
    ],
)
def test_unknown_account_is_reported(command: CommandLine, arguments: tuple[str, ...]) -> None:
    problem = command.refuses(*arguments, typed="moss and lanterns")
    assert problem == "Error: No user with name 'Nobody'. List the accounts with: gamekeeper users list\n"


def test_grant_and_revoke_roles(command: CommandLine, world: World) -> None:
    assert (
        command.says("users", "grant", "shop", "usermanage") == "Permissions of Shop: api, users.query, users.manage.\n"
    )
    assert world.get("/api/v1/users", by="Shop").status == 200
    assert world.ledger()[-1].kind == "powers_changed"
    assert command.says("users", "revoke", "shop", "Users.Query") == "Permissions of Shop: api.\n"
    assert "'king' is not a permission" in command.refuses("users", "grant", "shop", "king", code=2)
    assert command.says("users", "grant", "shop", "Ban").endswith(", Ban.\n")
    assert not command.says("users", "revoke", "shop", "ban").endswith(", Ban.\n")


def test_grant_of_existing_permission_changes_nothing(command: CommandLine, world: World) -> None:
    before = len(world.ledger())
    assert command.says("users", "grant", "Clerk", "users.query") == "Permissions of Clerk: api, users.query.\n"
    assert len(world.ledger()) == before


def test_api(command: CommandLine, world: World) -> None:
    assert command.says("users", "api", "Shop", "off") == "Permissions of Shop: none.\n"
    assert world.get("/api/v1/players", by="Shop").status == 401
    assert command.says("users", "api", "Shop", "on") == "Permissions of Shop: api.\n"
    command.refuses("users", "api", "Shop", "maybe", code=2)


def test_password(command: CommandLine, world: World) -> None:
    said = command.says("users", "password", "Shop", "--password-stdin", typed="pässword is new\r\n")
    assert said == "Set the password of Shop and revoked the account's tokens.\n"
    assert world.get("/api/v1/players", by="Shop").status == 401
    assert not logs_in(world, "Shop")
    assert logs_in(world, "Shop", hash_for_wire("pässword is new"))


def options(of: click.Command) -> list[click.Parameter]:
    inside = (
        [option for each in of.commands.values() for option in options(each)] if isinstance(of, click.Group) else []
    )
    return of.params + inside


def test_no_option_takes_a_password() -> None:
    commands = [each for name, each in gamekeeper.commands.items() if name != "demo"]
    named = [option for each in commands for option in options(each) if "password" in "".join(option.opts)]
    assert len(named) == 4
    assert all(isinstance(option, click.Option) and option.is_flag for option in named)


SECRETS = [("users", "password", "Shop", "--generate-password"), ("tokens", "issue", "Shop")]


def run_shell(database: str, arguments: tuple[str, ...], output: str) -> subprocess.CompletedProcess[str]:
    command = f'exec "$0" -m gamekeeper "$@" {output}'
    environment = {**os.environ, "GAMEKEEPER_DATABASE": database}
    return subprocess.run(
        ["/bin/sh", "-c", command, sys.executable, *arguments],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@ON_SQLITE
@pytest.mark.parametrize("arguments", SECRETS, ids=" ".join)
def test_no_secret_is_created_without_standard_output(
    command: CommandLine, world: World, arguments: tuple[str, ...]
) -> None:
    secrets = "SELECT access_hash FROM tokens UNION ALL SELECT password FROM users"
    before = sorted(world.sql(secrets))
    done = run_shell(command.database, arguments, ">&-")
    assert (done.returncode, "Nothing was changed" in done.stderr) == (2, True), done.stderr
    assert sorted(world.sql(secrets)) == before


@ON_SQLITE
@pytest.mark.parametrize("arguments", [*SECRETS, ("users", "list")], ids=" ".join)
def test_full_standard_output_is_reported(command: CommandLine, arguments: tuple[str, ...]) -> None:
    done = run_shell(command.database, arguments, ">/dev/full")
    assert (done.returncode, done.stderr.count("\n")) == (1, 1), done.stderr
    assert "cannot write to standard output: No space left on device" in done.stderr
