"""The command `gamekeeper` with all its subcommands."""

import click

from gamekeeper import __version__
from gamekeeper.cli.lazy_commands import CommandGroup, LazyCommands

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
        "activity": "activity:activity_",
        "economy": "economy:economy_",
        "mail": "mail:mail",
        "migrate": "database:migrate",
        "backup": "backup:backup",
        "restore": "backup:restore",
        "move": "moving:move",
        "export": "moving:export_all",
        "import": "importing:import_",
        "doctor": "database:doctor",
        "settings": "settings:settings",
        "deploy": "deploy:deploy",
        "operations": "operations:operations",
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
