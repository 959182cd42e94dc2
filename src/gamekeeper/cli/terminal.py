"""Shared by all commands: the --database option, opening a keeper, output as text or JSON, error messages."""

import asyncio
import contextlib
import json
import os
import secrets
import shlex
import sys
from collections.abc import AsyncIterable, Callable, Coroutine, Generator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NoReturn, TypeVar

import click

from gamekeeper.copies.lines import BadCopy
from gamekeeper.game.access.refusals import NoSuchKey
from gamekeeper.game.core.keeper import Keeper
from gamekeeper.game.core.refusals import EmailTaken, NoSuchMail, NoSuchToken, NoSuchUser, Refusal, UsernameTaken
from gamekeeper.game.core.writes import Intent
from gamekeeper.ground import settings
from gamekeeper.ground.settings import BadSetting, Settings
from gamekeeper.http.server import opening
from gamekeeper.store.engine.interface import ClaimTaken, DatabaseUnavailable, DiskFull, UnusableDatabase
from gamekeeper.store.engine.migrate import SchemaMismatch, find_pending, load_migrations, migrate
from gamekeeper.store.engine.sqlite_file import require_whole

T = TypeVar("T")
HINTS: Mapping[type[Refusal], str] = {
    NoSuchUser: "List the accounts with: gamekeeper users list",
    NoSuchToken: "List the tokens with: gamekeeper tokens list",
    NoSuchMail: "List the mails with: gamekeeper mail list",
    UsernameTaken: "Choose another name, or change that account with the other `gamekeeper users` commands.",
    EmailTaken: "Give another address with --email.",
}

# messages that advise to call the API, with the command that does the same
REPLACED: Mapping[type[Refusal], str] = {
    NoSuchKey: "There is no such API key. List the API keys with: gamekeeper keys list",
}

database_option = click.option(
    "--database",
    metavar="URL",
    help="sqlite:///file.db or postgresql://user@host/name.  [default: GAMEKEEPER_DATABASE, or sqlite:///gamekeeper.db]",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@contextlib.contextmanager
def report_failures() -> Generator[None]:
    """Turn known exceptions into an error message on standard error and exit code 1."""
    try:
        yield
    except Refusal as refusal:
        message = REPLACED.get(type(refusal), refusal.message)
        fail(f"{message} {HINTS.get(type(refusal), '')}".strip())
    except ClaimTaken:
        fail("Another Gamekeeper process is changing this database's schema. Wait until it is done, then try again.")
    except DiskFull as full:
        problem = str(full).rstrip(".")
        fail(f"The database's disk is full: {problem}. Free some space, then run the same command again.")
    except (BadCopy, BadSetting, SchemaMismatch, UnusableDatabase) as problem:
        fail(str(problem))
    except DatabaseUnavailable as away:
        problem = str(away).rstrip(".")
        fail(f"Cannot reach the database: {problem}. Check --database, and that the database is running.")
    except PermissionError as error:
        fail(f"{error.filename}: permission denied. Run the command as a user with access to it, such as the server's.")


def fail(sentence: str) -> NoReturn:
    raise click.ClickException(sentence)


def load_settings(database: str | None, **given: object) -> Settings:
    with report_failures():
        return settings.load(os.environ, database=database, **given)


def require_output() -> None:
    """Fail if standard output is closed (`sys.stdout` is None): a new secret could not be shown."""
    if sys.stdout is None:  # pyright: ignore[reportUnnecessaryComparison] - the stubs do not know that
        raise click.UsageError("Standard output is closed, so the secret cannot be shown. Nothing was changed.")


def print_error(text: str) -> None:
    """Print to standard error; ignore errors, such as a closed pipe."""
    with contextlib.suppress(OSError):
        click.echo(text, err=True)


def warn(sentence: str) -> None:
    print_error(f"WARNING: {sentence}")


def warn_of_unknown_variables() -> None:
    for each in settings.describe_unknown():
        warn(each)


def run_with_keeper(loaded: Settings, work: Callable[[Keeper], Coroutine[Any, Any, T]], *, final: bool = False) -> T:
    """Open a keeper and run `work` on it; report database errors as one-line messages.

    `final`: after `work` the command's change is committed, so a late Ctrl-C does not stop the command.
    """
    return run(opening.run_with_keeper(loaded, work, final=final))


def run(work: Coroutine[Any, Any, T]) -> T:
    with report_failures():
        return asyncio.run(work)


def run_on_database(
    database: str | None,
    work: Callable[[Keeper], Coroutine[Any, Any, T]],
    *,
    first: bool = False,
    final: bool = False,
) -> T:
    """Run `work` on a database whose schema is up to date. With `first`, migrate an empty database before."""
    loaded = load_settings(database)

    async def check_and_run(keeper: Keeper) -> T:
        waiting = await find_pending(keeper.store)
        if first and len(waiting) == len(load_migrations()):
            await migrate(keeper.store)
        elif waiting:
            command = f"gamekeeper migrate --database {show_database(loaded)}"
            raise SchemaMismatch(f"The database's schema is not up to date. Update it with: {command}")
        return await work(keeper)

    if not first:
        require_database(loaded)
    return run_with_keeper(loaded, check_and_run, final=final)


def require_database(loaded: Settings) -> None:
    """Fail if the SQLite file does not exist: SQLite would create an empty one for a mistyped name."""
    with report_failures():
        file = opening.find_database_file(loaded)
        missing = file and not file.exists()
        if file and missing:
            require_whole(file)
    if missing:
        fail(
            f"The database {file} does not exist. Create it with: gamekeeper migrate --database {show_database(loaded)}"
        )


def make_intent() -> Intent:
    return Intent(request_id=f"cli-{secrets.token_hex(8)}")


def show_database(loaded: Settings) -> str:
    """Return the database URL quoted for a shell, with its password masked."""
    return shlex.quote(settings.show_value(loaded, "database"))


def print_json(value: object) -> None:
    click.echo(json.dumps(value, indent=2))


async def print_json_list(values: AsyncIterable[object]) -> None:
    """Print a JSON array element by element, because it may be long."""
    separator = "[\n"
    async for value in values:
        click.echo(separator + json.dumps(value), nl=False)
        separator = ",\n"
    click.echo("[]" if separator == "[\n" else "\n]")


def print_table(rows: Sequence[Sequence[str]]) -> None:
    shown = [[escape(cell) for cell in row] for row in rows]
    widths = [max(len(cell) for cell in column) for column in zip(*shown, strict=True)]
    for row in shown:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        click.echo("  ".join(cells).rstrip())


def format_count(number: int, noun: str) -> str:
    """Return `1 error` or `2 errors`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def escape(text: str) -> str:
    """Escape control characters, so that stored text cannot control the terminal."""
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text)


def format_time(milliseconds: int) -> str:
    return datetime.fromtimestamp(milliseconds // 1000, UTC).isoformat().replace("+00:00", "Z")
