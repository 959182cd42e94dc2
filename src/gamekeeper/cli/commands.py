"""The command `gamekeeper`. Its subcommands are imported when they are used: importing all takes longer than most run.

A group suggests the nearest command for a mistyped one.
"""

import gc
from collections import UserDict
from difflib import get_close_matches
from importlib import import_module
from typing import Any

import click

from gamekeeper import __version__


class LazyCommands(UserDict[str, Any]):
    """The commands of a group by name. A text such as "users:add" stands for `add` of the module cli/users.py."""

    def __getitem__(self, name: str) -> Any:  # noqa: ANN401 - click takes this for a mapping of commands
        found = self.data[name]
        if isinstance(found, click.Command):
            return found
        module, _, attribute = found.partition(":")
        imported = import_module(f"gamekeeper.cli.{module}")
        gc.enable()  # `__main__.py` disables it for the import
        return getattr(imported, attribute)

    def get(self, name: str, default: Any = None) -> Any:  # noqa: ANN401 - as above
        """Return a command. The inherited method would take a KeyError of an import for a missing command."""
        return self[name] if name in self.data else default


class CommandGroup(click.Group):
    """A group that suggests one command for a mistyped name. Click would list up to three, in alphabetical order."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.NoSuchCommand as unknown:
            near = get_close_matches(unknown.command_name.lower(), self.list_commands(ctx), 1)
            hint = f" Did you mean '{near[0]}'?" if near else ""
            ctx.fail(f"{unknown.message}{hint}")


COMMANDS = LazyCommands(
    {
        "demo": "demo:demo",
        "serve": "serve:serve",
        "users": "users:users",
        "roles": "roles:roles",
        "tokens": "tokens:tokens",
        "keys": "api_keys:keys",
        "approvals": "approvals:approvals",
        "bulk": "bulk:bulk",
        "activity": "insight:activity_",
        "economy": "insight:economy_",
        "mail": "mail:mail",
        "migrate": "database:migrate",
        "backup": "copies:backup",
        "restore": "copies:restore",
        "move": "copies:move",
        "export": "copies:export_all",
        "import": "copies:import_",
        "doctor": "database:doctor",
        "settings": "installation:settings",
        "deploy": "installation:deploy",
        "operations": "installation:operations",
    }
)


@click.group(
    cls=CommandGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120},
    epilog="Try it: gamekeeper demo. Run your own: gamekeeper serve --database sqlite:///game.db",
    commands=COMMANDS,
)
@click.version_option(__version__, prog_name="gamekeeper")
def gamekeeper() -> None:
    """Read and change an online game's players and accounts over HTTP."""
