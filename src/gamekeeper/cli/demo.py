"""The demo: a world to play with, served, and everything one needs to try it."""

import io
import json
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import click
from rich.console import Console
from rich.text import Text

from gamekeeper.cli import progress, serve, terminal
from gamekeeper.demo import game_servers, loader, names, sample_players
from gamekeeper.game.keeper import Keeper
from gamekeeper.settings import Settings
from gamekeeper.store import players, presence, users
from gamekeeper.store.engine import ClaimTaken, DatabaseUnavailable
from gamekeeper.store.migrate import migrate

FILE = "demo.db"
LOOPBACK_OF = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - not to listen on: to print an address that can be asked
TITLE, LABEL, VALUE, COMMAND = "bold green", "dim", "bold yellow", "cyan"

Fact = tuple[str, str, str]  # label, value, more about it


class DemoSummary(NamedTuple):
    """What the demo has to show once it is filled."""

    access: loader.DemoAccess
    players: int
    users: int
    online: int


@click.command()
@click.option("--host", help="Address to listen on.  [default: GAMEKEEPER_HOST, or 127.0.0.1]")
@click.option("--port", type=click.IntRange(1, 65535), help="Port.  [default: GAMEKEEPER_PORT, or 5400]")
@click.option("--data", type=click.Path(file_okay=False, path_type=Path), help="Directory.  [default: demo-data]")
@click.option("--database", metavar="URL", help="An empty database to use instead of a file in --data.")
@click.option("--password", help="The demo's password.  [default: a new random one]")
@click.option("--players", type=click.IntRange(0, names.MAX_NAMES), default=0, help="More players, this many.")
def demo(
    host: str | None, port: int | None, data: Path | None, database: str | None, password: str | None, players: int
) -> None:
    """Serve a world to play with.

    Fills a database with characters and accounts, keeps some of them online, and prints what to try. Run it again
    and it is all still there; only the password of its API account is set anew.
    """
    if data and database:
        raise click.UsageError("Give --data or --database, not both.")
    folder = data or Path("demo-data")
    settings = terminal.load_settings(database or f"sqlite:///{folder / FILE}", host=host, port=port, workers=1)
    serve.require_servable(settings)
    if not database:
        _make_folder(folder)
    try:
        found = terminal.run_with_keeper(
            settings, partial(_fill, password=password or names.new_password(), players=players)
        )
    except loader.NotADemo as problem:
        terminal.fail(str(problem))
    serve.run(settings, game_servers.build, _build_greeting(settings, found))


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        terminal.fail(f"Cannot make the directory {folder}: {error.strerror}. Choose another with --data.")


async def _fill(keeper: Keeper, password: str, players: int) -> DemoSummary:
    try:
        await migrate(keeper.store)
        access = await loader.fill(keeper, password)
        with progress.load_progress(players) as advance:
            await loader.load_players(keeper, players, advance)
        await game_servers.keep_online(keeper)
        return await _summarize(keeper, access)
    except (DatabaseUnavailable, ClaimTaken) as problem:  # it could be opened, so it is there
        why = str(problem).rstrip(".") or "it is being changed by another"
        terminal.fail(
            f"The database did not take the demo: {why}. Another load may be under way: let it end, then run the same "
            "command again. What was loaded stays."
        )


async def _summarize(keeper: Keeper, access: loader.DemoAccess) -> DemoSummary:
    counts = [await table.count(keeper.store) for table in (players, users, presence)]
    return DemoSummary(access, *counts)


def _build_greeting(settings: Settings, found: DemoSummary) -> str:
    """In colour for a terminal, plain for everything else; no command is ever broken into lines."""
    console = Console(file=io.StringIO(), force_terminal=sys.stdout.isatty(), highlight=False, soft_wrap=True)
    address = serve.server_url(replace(settings, host=LOOPBACK_OF.get(settings.host, settings.host)))
    sample = sample_players.build_sample()
    with console.capture() as captured:
        _print_title(console, "\nThe Gamekeeper demo is ready.", "Stop it with Ctrl-C.")
        _print_facts(console, _list_access(settings, address, found))
        _print_title(console, "Paste this:", "it carries a token that is good for a day.")
        _print_commands(console, {"": _build_curl(address, "players/rank", found.access.token)})
        _print_title(console, "Or log in yourself:", "the token goes into a variable of your shell.")
        _print_commands(
            console, {"": _build_login(address, found.access), "who is online": _build_curl(address, "players/online")}
        )
        _print_title(console, "To try it on,", "once you are logged in:")
        _print_facts(console, _list_samples(sample))
        _print_commands(console, _build_examples(address, sample, found.access))
    return captured.get().rstrip("\n")


def _list_access(settings: Settings, address: str, found: DemoSummary) -> list[Fact]:
    access = found.access
    whose = (
        "also of the players' accounts" if access.opens_players else "the players' accounts keep that of the first run"
    )
    outbox = f"gamekeeper mail list --database {terminal.show_database(settings)}"
    mail: list[Fact] = [] if settings.smtp_url else [("Mail", outbox, "no SMTP is set up: reset mails wait there")]
    return [
        ("Address", address, ""),
        *([("Console", f"{address}/console", "in a browser; sign in with the account")] if settings.console else []),
        ("Account", access.account, "with every role and power"),
        ("Password", access.password, whose),
        ("as it is sent", access.wire_password, "its SHA-256"),
        ("Characters", f"{found.players:,}", f"of {found.users:,} accounts, {found.online:,} online"),
        ("Data", terminal.show_database(settings), ""),
        *mail,
    ]


def _list_samples(sample: sample_players.DemoSample) -> list[Fact]:
    name = sample.player.name
    return [
        ("Character", sample.player.id, name),
        ("Item", sample.item.id, sample.item.name),
        ("Spell", sample.spell.id, f"{sample.spell.name}, which {name} does not know yet"),
        ("Variable", sample.variable.id, sample.variable.name),
        ("Bag", sample.bag_id, f"in {name}'s inventory, with another bag in it"),
    ]


def _build_examples(address: str, sample: sample_players.DemoSample, access: loader.DemoAccess) -> dict[str, str]:
    name = sample.player.name
    given = {"itemid": sample.item.id, "quantity": 5, "bankoverflow": True}
    commands = {
        f"what {name} has": _build_curl(address, f"players/{name}/items"),
        f"give {name} five more": _build_curl(address, f"players/{name}/items/give", body=given),
        f"teach {name} the spell": _build_curl(
            address, f"players/{name}/spells/teach", body={"spellid": sample.spell.id}
        ),
        "set the variable": _build_curl(address, f"players/{name}/variables/{sample.variable.id}", body={"value": 7}),
        "look into the bag": _build_curl(address, f"players/bag/{sample.bag_id}"),
        "who is best": _build_curl(address, "players/rank?pageSize=3"),
    }
    validate = _build_curl(
        address, f"users/{sample.account}/password/validate", body={"password": access.wire_password}
    )
    return commands | ({f"whether it is {sample.account}'s password": validate} if access.opens_players else {})


def _build_login(address: str, access: loader.DemoAccess) -> str:
    form = f"-d grant_type=password -d username={access.account} -d password={access.wire_password}"
    extract = """sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/'"""
    return f"TOKEN=$(curl -s {form} {address}/api/oauth/token | {extract})"


def _build_curl(address: str, path: str, token: str = "$TOKEN", body: object = None) -> str:  # noqa: S107 - the shell's variable
    sent = "" if body is None else f" -H 'Content-Type: application/json' -d '{json.dumps(body)}'"
    return f"""curl -H "Authorization: Bearer {token}"{sent} {shlex.quote(f"{address}/api/v1/{path}")}"""


def _print_title(console: Console, title: str, more: str) -> None:
    console.print(Text.assemble((title, TITLE), " ", more, "\n"))


def _print_facts(console: Console, facts: Sequence[Fact]) -> None:
    width = max(len(label) for label, _, _ in facts)
    for label, value, more in facts:
        remark = f"  ({more})" if more else ""
        console.print(Text.assemble("  ", (label.ljust(width), LABEL), "  ", (value, VALUE), (remark, LABEL)))
    console.print()


def _print_commands(console: Console, commands: Mapping[str, str]) -> None:
    """Each under what it does, as a comment: the whole block can be pasted too."""
    for purpose, command in commands.items():
        if purpose:
            console.print(Text(f"  # {purpose}", LABEL))
        console.print(Text(f"  {command}", COMMAND))
    console.print()
