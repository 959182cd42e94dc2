"""Commands start quickly, because they do not load what only a serving process needs."""

import subprocess
import sys

# commands that read or change rows, and do not examine the database
PLAIN = ("account_status", "users", "tokens", "api_keys", "roles", "moderation", "approvals", "suspensions")
# also the parent process of the workers; `gamekeeper demo` is not here, because it serves
OTHERS = ("serve", "database", "backup", "moving")
SLOW = {"gamekeeper.app", "gamekeeper.console", "gamekeeper.http.routes", "asyncpg", "jinja2", "webauthn"}
SLOW_AND_NOT_PLAIN = SLOW | {"gamekeeper.doctor", "gamekeeper.mail", "email_validator"}


def test_commands_load_neither_http_nor_the_console_and_plain_ones_not_the_doctor() -> None:
    plain, others = (", ".join(f"gamekeeper.cli.{name}" for name in names) for names in (PLAIN, OTHERS))
    code = f"import sys, {plain}\nprint(*sys.modules)\nimport {others}\nprint(*sys.modules)"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    loaded_by_plain, loaded = (set(line.split()) for line in printed.splitlines())
    assert f"gamekeeper.cli.{PLAIN[0]}" in loaded_by_plain
    assert f"gamekeeper.cli.{OTHERS[0]}" in loaded
    assert SLOW_AND_NOT_PLAIN & loaded_by_plain == set()
    assert SLOW & loaded == set()


def test_garbage_collection_pauses_only_while_a_command_is_imported() -> None:
    code = (
        "import gc, gamekeeper.__main__\nprint(gc.isenabled())\n"
        "from gamekeeper.cli.commands import gamekeeper\n"
        "gamekeeper.commands['serve']\nprint(gc.isenabled())"
    )
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed.split() == ["False", "True"]
