"""Commands start quickly, because they do not load what only a serving process needs."""

import subprocess
import sys

# also the parent process of the workers; `gamekeeper demo` is not here, because it serves
MODULES = ("serve", "users", "tokens", "api_keys", "database", "backup", "moving")
SLOW = {"gamekeeper.app", "gamekeeper.console", "gamekeeper.http.routes", "asyncpg", "jinja2", "webauthn"}


def test_commands_load_neither_http_nor_the_console() -> None:
    names = ", ".join(f"gamekeeper.cli.{name}" for name in MODULES)
    code = f"import sys, {names}\nprint(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert f"gamekeeper.cli.{MODULES[0]}" in loaded
    assert SLOW & set(loaded) == set()


def test_garbage_collection_pauses_only_while_a_command_is_imported() -> None:
    code = (
        "import gc, gamekeeper.__main__\nprint(gc.isenabled())\n"
        "from gamekeeper.cli.commands import gamekeeper\n"
        "gamekeeper.commands['serve']\nprint(gc.isenabled())"
    )
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed.split() == ["False", "True"]
