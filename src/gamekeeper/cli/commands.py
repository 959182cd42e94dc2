"""The command `gamekeeper`. Its subcommands are imported when they are used: importing all takes longer than most run.

A group suggests the nearest command for a mistyped one.
"""

import gc
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from importlib import import_module

import click

from gamekeeper import __version__

# module of cli/ → its commands. What a module registers in a group of its own is not named here
MODULES: Mapping[str, Sequence[str]] = {
    "access": ("roles", "tokens", "keys", "users give", "users take"),
    "accounts": ("mail", "users delete", "users export"),
    "audit": ("approvals", "bulk"),
    "database": ("migrate", "doctor", "backup", "restore", "move", "export", "import"),
    "demo": ("demo",),
    "insight": ("activity", "economy"),
    "installation": ("settings", "deploy", "operations"),
    "intersect": ("import intersect",),
    "moderation": tuple(f"users {act}" for act in ("ban", "unban", "mute", "unmute", "suspend", "resume")),
    "serve": ("serve",),
    "users": ("users",),
}
REGISTERED: dict[str, click.Command] = {}  # commands and groups of the modules that are imported, by their full names


class CommandGroup(click.Group):
    """A group that imports a command when it is asked for one, and suggests one command for a mistyped name.

    Click would suggest up to three, in alphabetical order.
    """

    path = ""  # its full name, with a space at the end

    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        named = {*REGISTERED, *(each for commands in MODULES.values() for each in commands)}
        ours = (each.removeprefix(self.path) for each in named if each.startswith(self.path))
        return sorted(each for each in ours if " " not in each)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        del ctx
        path = self.path + cmd_name
        for module, commands in MODULES.items():
            if path in commands and path not in REGISTERED:
                import_module(f"gamekeeper.cli.{module}")
                gc.enable()  # `__main__.py` disables it for the import
        return REGISTERED.get(path)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.NoSuchCommand as unknown:
            near = get_close_matches(unknown.command_name.lower(), self.list_commands(ctx), 1)
            hint = f" Did you mean '{near[0]}'?" if near else ""
            ctx.fail(f"{unknown.message}{hint}")


def add_group(path: str, about: str) -> None:
    """Register a group of commands, with its help text."""
    REGISTERED[path] = made = CommandGroup(path.rpartition(" ")[2], help=about)
    made.path = f"{path} "


@click.group(
    cls=CommandGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120},
    epilog="Try it: gamekeeper demo. Run your own: gamekeeper serve --database sqlite:///game.db",
)
@click.version_option(__version__, prog_name="gamekeeper")
def gamekeeper() -> None:
    """Read and change an online game's players and accounts over HTTP."""
