"""Shared by all commands: how they are declared, opening a keeper, output as text or JSON, error messages.

A command is a function with `@command`: its parameters are the arguments, its keyword-only parameters the options.
Defaults declare them, by `option(…)` or `argument(…)`; a parameter that several commands have is an `Annotated` type.
A command that begins with a keeper runs on a database, and gets the option --database. One that returns an `Output`
gets the option --json.
"""

import asyncio
import contextlib
import inspect
import json
import os
import secrets
import shlex
import sys
from collections.abc import AsyncIterable, Callable, Collection, Coroutine, Generator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, NamedTuple, NoReturn, TypeVar, get_args, get_origin

import click
from msgspec.structs import replace

from gamekeeper.cli.commands import REGISTERED
from gamekeeper.copies.lines import BadCopy
from gamekeeper.game.access.refusals import NoSuchKey
from gamekeeper.game.core.refusals import EmailTaken, NoSuchMail, NoSuchToken, NoSuchUser, Refusal, UsernameTaken
from gamekeeper.game.core.writes import Decide, Intent
from gamekeeper.game.keeper import Keeper
from gamekeeper.ground import settings
from gamekeeper.ground.settings import BadSetting, Settings
from gamekeeper.http import keeper_builder
from gamekeeper.store.engine.interface import ClaimTaken, DatabaseUnavailable, DiskFull, UnusableDatabase
from gamekeeper.store.engine.migrate import SchemaMismatch, find_pending, load_migrations, migrate
from gamekeeper.store.engine.sqlite_file import require_whole

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])
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


class Parsed(click.ParamType[Any]):
    """Type of options whose texts a function parses, which raises `click.BadParameter` for a wrong one."""

    def __init__(self, name: str, parse: Callable[[str], Any]) -> None:
        self.name = name
        self._parse = parse

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ANN401 - what it parses
        del param, ctx  # click adds them to the error
        return self._parse(value)


def option(about: str, name: str = "", **more: Any) -> Any:  # noqa: ANN401 - click's parameters; fits any parameter
    """Declare an option as the default of a parameter: a bool is a flag, a Sequence is repeatable."""

    def build(parameter: str, kind: object) -> click.Parameter:
        names = [name or f"--{parameter.replace('_', '-')}", parameter]
        shape = {"is_flag": True} if kind is bool else {"multiple": get_origin(kind) is Sequence}
        return click.Option(names, help=about, **{**shape, **more})

    return build


def argument(**more: Any) -> Any:  # noqa: ANN401 - as above
    """Declare an argument that differs from a text: a Sequence takes one or more, one with None is optional."""

    def build(parameter: str, kind: object) -> click.Parameter:
        shape: dict[str, Any] = {
            "nargs": -1 if get_origin(kind) is Sequence else 1,
            "required": NoneType not in get_args(kind),
        }
        return click.Argument([parameter], **{**shape, **more})

    return build


Database = Annotated[
    str | None,
    option(
        "sqlite:///file.db or postgresql://user@host/name.  [default: GAMEKEEPER_DATABASE, or sqlite:///gamekeeper.db]",
        metavar="URL",
    ),
]
FilePath = Annotated[Path, argument(type=click.Path(path_type=Path))]
Force = Annotated[bool, option("Overwrite FILE if it exists.")]
AsJson = Annotated[bool, option("Print JSON.", "--json")]


class Output(NamedTuple):
    """What a command prints: a text or a table, and lines below it; or, with --json, only a value."""

    shown: str | Sequence[Sequence[str]]
    value: object
    lines: Sequence[str] = ()
    notes: Sequence[str] = ()  # printed on standard error
    is_failure: bool = False  # exit code 1


def command(
    path: str, example: str | None = None, *, epilog: str | None = None, writes: bool = False
) -> Callable[[F], F]:
    """Register a function as the command with the full name `path`; `example` has its parameters.

    `writes`: the function makes a change with the keeper, so a late Ctrl-C does not hide what it returns.
    """

    def register(work: F) -> F:
        signature = inspect.signature(work)
        declared = {name: (each.annotation, each.default) for name, each in signature.parameters.items()}
        on_keeper = declared.pop("keeper", None) is not None
        prints_json = Output in (signature.return_annotation, *get_args(signature.return_annotation))
        database = {"database": (Database, inspect.Parameter.empty)} if on_keeper else {}
        if prints_json and "database" in declared:
            database = {"database": declared.pop("database")}
        declared |= ({"as_json": (AsJson, inspect.Parameter.empty)} if prints_json else {}) | database

        def run(as_json: bool = False, **given: Any) -> None:  # noqa: ANN401,FBT001,FBT002 - click passes options by name
            if not prints_json and "as_json" in declared:
                given["as_json"] = as_json
            if on_keeper:
                url = given.pop("database")
                done = run_on_database(url, lambda keeper: work(keeper, **given), final=writes)
            else:
                done = work(**given)
            show(done, as_json=as_json)

        REGISTERED[path] = click.Command(
            path.rpartition(" ")[2],
            callback=run,
            params=[_build_parameter(name, *each) for name, each in declared.items()],
            help=work.__doc__,
            epilog=epilog or (None if example is None else f"Example: gamekeeper {path} {example}".rstrip()),
        )
        return work

    return register


def _build_parameter(name: str, kind: Any, build: Any) -> click.Parameter:  # noqa: ANN401 - annotation and default
    if get_origin(kind) is Annotated:
        kind, build = get_args(kind)
    return (argument() if build is inspect.Parameter.empty else build)(name, kind)


def show(done: Output | str | None, *, as_json: bool) -> None:
    """Print what a command returned."""
    if isinstance(done, str):
        click.echo(done)
    elif done and as_json:
        click.echo(json.dumps(done.value, indent=2))
    elif done:
        for line in [done.shown] if isinstance(done.shown, str) else [*format_table(done.shown), *done.lines]:
            click.echo(line)
        for note in done.notes:
            click.echo(note, err=True)
    if isinstance(done, Output) and done.is_failure:
        sys.exit(1)


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
    return run(keeper_builder.run_with_keeper(loaded, work, final=final))


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
        file = keeper_builder.find_database_file(loaded)
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


async def apply_change(keeper: Keeper, decide: Decide[T], *, dry_run: bool = False) -> T:
    """Apply a change and return its result, mostly the account after the change."""
    results: list[T] = []

    def keep(result: T) -> bytes:
        results.append(result)
        return b""

    await keeper.changes.apply(replace(make_intent(), dry_run=dry_run), decide, keep)
    return results[-1]


async def print_json_list(values: AsyncIterable[object]) -> None:
    """Print a JSON array element by element, because it may be long."""
    separator = "[\n"
    async for value in values:
        click.echo(separator + json.dumps(value), nl=False)
        separator = ",\n"
    click.echo("[]" if separator == "[\n" else "\n]")


def format_table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a table whose columns are aligned."""
    shown = [[escape(cell) for cell in row] for row in rows]
    widths = [max(len(cell) for cell in column) for column in zip(*shown, strict=True)]
    padded = ([cell.ljust(width) for cell, width in zip(row, widths, strict=True)] for row in shown)
    return ["  ".join(cells).rstrip() for cells in padded]


def format_count(number: int, noun: str) -> str:
    """Return `1 error` or `2 errors`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def escape(text: str) -> str:
    """Escape control characters, so that stored text cannot control the terminal."""
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text)


def format_time(milliseconds: int) -> str:
    return datetime.fromtimestamp(milliseconds // 1000, UTC).isoformat().replace("+00:00", "Z")


def format_times(found: dict[str, Any], times: Collection[str]) -> dict[str, Any]:
    """Return the fields of a row for JSON: the named ones are times, which become text."""
    return {name: format_time(value) if name in times and value is not None else value for name, value in found.items()}
