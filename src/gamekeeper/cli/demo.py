"""The command `demo`: serve a sample game, and print commands to try."""

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
from gamekeeper.cli.terminal import command, option
from gamekeeper.demo import game_servers, loader, players, world
from gamekeeper.demo.world import COIN, DRAGONS
from gamekeeper.game.keeper import Keeper
from gamekeeper.ground.settings import Settings, find_source
from gamekeeper.store.accounts import users
from gamekeeper.store.engine.interface import ClaimTaken, DatabaseUnavailable
from gamekeeper.store.engine.migrate import migrate
from gamekeeper.store.players import players as stored_players
from gamekeeper.store.players import presence

FILE = "demo.db"
RANKED = f"item:{COIN.name}, variable:{DRAGONS.name}"  # default of the setting `ranked` in the demo
LOOPBACK_OF = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - only to print an address that clients can connect to
NOT_LOGGED = "requests are not logged here, unless you set GAMEKEEPER_ACCESS_LOG=true."
TITLE, LABEL, VALUE, COMMAND = "bold green", "dim", "bold yellow", "cyan"

Fact = tuple[str, str, str]  # label, value and remark of a row in the printed greeting


class DemoSummary(NamedTuple):
    """Log-in data and counts that the demo's greeting shows."""

    access: loader.DemoAccess
    players: int
    users: int
    online: int


@command("demo")
def demo(
    *,
    host: serve.Host,
    port: serve.Port,
    data: Path | None = option(
        "Directory of the database file.  [default: demo-data]", type=click.Path(file_okay=False, path_type=Path)
    ),
    database: str | None = option("An empty database to use instead of a file in --data.", metavar="URL"),
    password: str | None = option("Password of the demo's accounts.  [default: a new random one]"),
    players: int = option("Number of extra players to load.", type=click.IntRange(0, world.MAX_NAMES), default=0),
) -> None:
    """Serve a sample game.

    Fills a database with players and accounts, keeps some players online, and prints commands to try. The first start
    takes up to a minute. The data stays when you run it again; only the API account gets a new password.
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
            settings, partial(_fill, password=password or world.generate_password(), players=players)
        )
    except loader.NotADemo as problem:
        terminal.fail(str(problem))
    settings = replace(settings, ranked=settings.ranked or RANKED, access_log=logs_requests(settings))
    serve.run(settings, game_servers.build, _build_greeting(settings, found))


def logs_requests(settings: Settings) -> bool:
    """Tell whether to log requests. By default not on a terminal, where they would hide the password."""
    chosen = find_source("access_log") != "default"
    return settings.access_log and (chosen or not sys.stderr.isatty())


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        terminal.fail(f"Cannot create the directory {folder}: {error.strerror}. Choose another with --data.")


async def _fill(keeper: Keeper, password: str, players: int) -> DemoSummary:
    try:
        await migrate(keeper.store)
        access = await loader.fill(keeper, password, terminal.print_error)
        # Before lists are ranked: while these are filled, totals of items are unknown, and raise no signal.
        terminal.print_error("Counting the items.")
        await keeper.economy.follow(0)
        with progress.load_progress(players) as advance:
            await loader.load_players(keeper, players, advance)
        terminal.print_error("Starting the server.")
        await _start_game(keeper)
        return await _summarize(keeper, access)
    except (DatabaseUnavailable, ClaimTaken) as problem:  # not a wrong URL: the database was opened before
        why = str(problem).rstrip(".") or "another process is changing it"
        terminal.fail(
            f"Cannot load the demo data: {why}. Another process may be loading data: wait until it ends, then run the "
            "same command again. Data that was already loaded stays."
        )


async def _start_game(keeper: Keeper) -> None:
    """Bring players online. Store how far the game servers have read, so that the serving process misses no change."""
    game = game_servers.DemoGame(keeper)
    await game.keep_online()
    await game.follow()
    await keeper.feed.cursors.save()


async def _summarize(keeper: Keeper, access: loader.DemoAccess) -> DemoSummary:
    statements = (stored_players.SQL.count, users.SQL.count, presence.SQL.count)
    return DemoSummary(access, *[await keeper.store.value(each) or 0 for each in statements])


def _build_greeting(settings: Settings, found: DemoSummary) -> str:
    """Build the text that is printed at start: coloured on a terminal, and without wrapping the commands."""
    console = Console(file=io.StringIO(), force_terminal=sys.stdout.isatty(), highlight=False, soft_wrap=True)
    address = serve.make_server_url(replace(settings, host=LOOPBACK_OF.get(settings.host, settings.host)))
    sample = players.build_sample()
    with console.capture() as captured:
        _print_title(console, "\nThe Gamekeeper demo is ready.", "Stop it with Ctrl-C.")
        _print_title(console, "Paste this:", "it contains a token that is valid for one day.")
        _print_commands(console, {"": _build_curl(address, "players/rank", found.access.token)})
        _print_title(console, "Or log in yourself:", "the token is stored in the shell variable TOKEN.")
        _print_commands(
            console,
            {
                "": _build_login(address, found.access),
                "list the players online": _build_curl(address, "players/online"),
            },
        )
        _print_title(console, "More examples,", "after you logged in:")
        _print_facts(console, _list_samples(sample))
        _print_commands(console, _build_examples(address, sample, found.access))
        # last, so that a small terminal shows the password
        _print_title(console, "Sign in:", "" if settings.access_log else NOT_LOGGED)
        _print_facts(console, _list_access(settings, address, found))
    return captured.get().rstrip("\n")


def _list_access(settings: Settings, address: str, found: DemoSummary) -> list[Fact]:
    access = found.access
    whose = (
        "also for the players' accounts"
        if access.opens_players
        else "the players' accounts keep the password of the first run"
    )
    outbox = f"gamekeeper mail list --database {terminal.show_database(settings)}"
    mail: list[Fact] = (
        [] if settings.smtp_url else [("Mail", outbox, "SMTP is not set up: reset mails stay in the outbox")]
    )
    return [
        ("Address", address, ""),
        *([("Console", f"{address}/console", "in a browser; sign in with the account")] if settings.console else []),
        ("Account", access.account, "with all roles and permissions"),
        ("Password", access.password, whose),
        ("SHA-256", access.wire_password, "the password as clients send it"),
        ("Players", f"{found.players:,}", f"{found.users:,} accounts, {found.online:,} players online"),
        ("Data", terminal.show_database(settings), ""),
        *mail,
    ]


def _list_samples(sample: players.DemoSample) -> list[Fact]:
    name = sample.player.name
    return [
        ("Player", sample.player.id, name),
        ("Item", sample.item.id, sample.item.name),
        ("Spell", sample.spell.id, f"{sample.spell.name}, which {name} does not know yet"),
        ("Variable", sample.variable.id, sample.variable.name),
        ("Bag", sample.bag_id, f"in {name}'s inventory, with another bag in it"),
    ]


def _build_examples(address: str, sample: players.DemoSample, access: loader.DemoAccess) -> dict[str, str]:
    name = sample.player.name
    calls: list[tuple[str, str, object]] = [  # purpose, path and body
        (f"list the items of {name}", f"players/{name}/items", None),
        (f"give {name} 5 of the item {sample.item.name}", f"players/{name}/items/give",
         {"itemid": sample.item.id, "quantity": 5, "bankoverflow": True}),
        (f"teach {name} {sample.spell.name}", f"players/{name}/spells/teach", {"spellid": sample.spell.id}),
        (f"set the variable {sample.variable.name}", f"players/{name}/variables/{sample.variable.id}", {"value": 7}),
        ("show the bag", f"players/bag/{sample.bag_id}", None),
        ("show the three highest-ranked players", "players/rank?pageSize=3", None),
    ]  # fmt: skip
    if access.opens_players:
        path, sent = f"users/{sample.account}/password/validate", {"password": access.wire_password}
        calls.append((f"check the password of {sample.account}", path, sent))
    return {purpose: _build_curl(address, path, body=body) for purpose, path, body in calls}


def _build_login(address: str, access: loader.DemoAccess) -> str:
    form = f"-d grant_type=password -d username={access.account} -d password={access.wire_password}"
    extract = """sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/'"""
    return f"TOKEN=$(curl -s {form} {address}/api/oauth/token | {extract})"


def _build_curl(address: str, path: str, token: str = "$TOKEN", body: object = None) -> str:  # noqa: S107 - a shell variable, not a token
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
    """Print each command below a shell comment with its purpose, so that the whole block can be pasted."""
    for purpose, line in commands.items():
        if purpose:
            console.print(Text(f"  # {purpose}", LABEL))
        console.print(Text(f"  {line}", COMMAND))
    console.print()
