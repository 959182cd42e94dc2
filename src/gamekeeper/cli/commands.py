"""The command `gamekeeper` with all its subcommands."""

import click

from gamekeeper import __version__
from gamekeeper.cli.backup import backup, restore
from gamekeeper.cli.database import doctor, migrate
from gamekeeper.cli.demo import demo
from gamekeeper.cli.deploy import deploy
from gamekeeper.cli.importing import import_
from gamekeeper.cli.mail import mail
from gamekeeper.cli.moderation import ban, mute, unban, unmute
from gamekeeper.cli.moving import export_all, move
from gamekeeper.cli.operations import operations
from gamekeeper.cli.person import delete, export
from gamekeeper.cli.serve import serve
from gamekeeper.cli.settings import settings
from gamekeeper.cli.tokens import tokens
from gamekeeper.cli.users import users


@click.group(
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120},
    epilog="Try it: gamekeeper demo. Run your own: gamekeeper serve --database sqlite:///game.db",
)
@click.version_option(__version__, prog_name="gamekeeper")
def gamekeeper() -> None:
    """Read and change an online game's players and accounts over HTTP."""


for command in (
    demo,
    serve,
    users,
    tokens,
    mail,
    migrate,
    backup,
    restore,
    move,
    export_all,
    import_,
    doctor,
    settings,
    deploy,
    operations,
):
    gamekeeper.add_command(command)
for command in (delete, export, ban, unban, mute, unmute):
    users.add_command(command)
