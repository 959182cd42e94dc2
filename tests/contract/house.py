"""The rules of the architecture as functions from source texts to faults, so that tests can seed faults."""

import ast
import io
import re
import sys
import tokenize
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cache
from http import HTTPStatus
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "gamekeeper"
CLIENT = ROOT / "clients" / "python" / "src" / "gamekeeper_client"
Sources = Mapping[str, str]  # source texts by path inside the package or project


def sources(folder: Path, pattern: str = "*.py") -> Sources:
    return {
        path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted(folder.rglob(pattern))
        if "__pycache__" not in path.parts
    }


@cache  # many rules read the same files
def _parse(text: str) -> ast.Module:
    return ast.parse(text)


@cache
def _nodes(text: str) -> list[ast.AST]:
    return list(ast.walk(_parse(text)))


def _collect(given: Sources, but: Collection[str], look: Callable[[str], Iterable[tuple[ast.AST, str]]]) -> list[str]:
    return [
        f"{path}:{getattr(node, 'lineno', 0)}: {what}"
        for path, text in given.items()
        if path not in but
        for node, what in look(text)
    ]


def imports_beyond(given: Sources, allowed: Collection[str]) -> list[str]:
    """List imports other than the standard library and the allowed packages."""

    def look(text: str) -> Iterator[tuple[ast.AST, str]]:
        for node in _nodes(text):
            names = [each.name for each in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            for name in {each.partition(".")[0] for each in names} - sys.stdlib_module_names - set(allowed):
                yield node, f"imports {name}"

    return _collect(given, (), look)


# --- rules for SQL -------------------------------------------------------------------------------------------------

SQL = re.compile(
    r"\b(SELECT\s|INSERT\s+INTO\s|UPDATE\s+\S+\s+SET\s|DELETE\s+FROM\s|PRAGMA\s|TRUNCATE\s|"
    r"(CREATE|ALTER|DROP)\s+(TABLE|INDEX|VIEW|SEQUENCE|DATABASE|UNIQUE)\b)"
)
# Files with SQL in Python: the engines, the assembly of statements, and the importer, whose sources vary in schema.
SPEAKERS = (
    "store/sqlite.py",
    "store/postgres.py",
    "store/postgres_connection.py",
    "store/postgres_durability.py",
    "store/statements.py",
    "intersect/source.py",
    "intersect/sqlite_source.py",
    "intersect/mysql_source.py",
    "intersect/key_set.py",
)

# Modules that may set the derived fields of a request: its route, query, body and caller.
REQUEST_READERS = {"http/dispatcher.py", "console/sessions.py"}


def sql_in_python(given: Sources) -> list[str]:
    def look(text: str) -> Iterator[tuple[ast.AST, str]]:
        for node in _nodes(text):
            if isinstance(node, ast.Constant) and SQL.search(_as_text(node.value)):
                yield node, f"SQL outside a .sql file: {_as_text(node.value)[:40]!r}"

    return _collect(given, SPEAKERS, look)


def _as_text(value: object) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else value if isinstance(value, str) else ""


def writes_to_request(given: Sources) -> list[str]:
    """List assignments to fields of a request outside the modules that may set them."""

    def look(text: str) -> Iterator[tuple[ast.AST, str]]:
        for node in _nodes(text):
            if (
                isinstance(node, ast.Attribute)
                and isinstance(node.ctx, ast.Store)
                and isinstance(node.value, ast.Name)
                and node.value.id == "request"
            ):
                yield node, f"writes request.{node.attr}"

    return _collect(given, REQUEST_READERS, look)


def statement_faults(noun: str, names: Collection[str], text: str) -> list[str]:
    """List statements that the module of a .sql file does not use, and uses of statements that the file lacks."""
    used = set(_statements(_parse(text)))
    unused = [f"{noun}.sql: '{name}' is not used" for name in sorted(set(names) - used)]
    return unused + [f"{noun}.py: no statement '{name}'" for name in sorted(used - set(names))]


def _statements(tree: ast.AST) -> list[str]:
    return [
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "SQL"
    ]


WRITING_CALLS = {"defer", "returning", "require_absent"}  # methods of `Writing` that take a statement


def wrong_transaction(given: Sources, writes: Callable[[str, str], bool]) -> list[str]:
    """List store functions with a wrong transaction: `Writing` if the statement writes, else `Reading` or `Locking`."""
    faults: list[str] = []
    for path, text in given.items():
        noun = Path(path).stem
        for function in _functions(text):
            names = _statements(function)
            takes = _transaction(function)
            if takes is None or not (names or _calls(function, {*WRITING_CALLS, "all", "one"})):
                continue
            wanted = any(writes(noun, name) for name in names) or _calls(function, WRITING_CALLS)
            if takes not in ({"Writing"} if wanted else {"Reading", "Locking"}):
                faults.append(f"{path}: {function.name} takes {takes}")
    return faults


def _functions(text: str) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    return (node for node in _nodes(text) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def _transaction(function: ast.FunctionDef | ast.AsyncFunctionDef) -> str | None:
    first = next(iter(function.args.args), None)
    if first is None or first.arg != "tx" or first.annotation is None:
        return None
    return ast.unparse(first.annotation)


def _calls(tree: ast.AST, methods: Collection[str]) -> bool:
    return any(
        isinstance(node, ast.Attribute)
        and node.attr in methods
        and isinstance(node.value, ast.Name)
        and node.value.id == "tx"
        for node in ast.walk(tree)
    )


# --- rules for the write path --------------------------------------------------------------------------------------

MAY_WRITE = frozenset(
    {
        "game/changes.py",  # may write: it is the write path itself, with audit log and idempotency keys
        "game/effects.py",
        "game/account_effects.py",
        "game/api_keys.py",
        "game/approvals.py",  # may write: the write path calls it to hold changes; renews previews
        "game/approval_decisions.py",
        "game/bulk_effects.py",
        "game/bulk_jobs.py",  # may write: stores jobs and their results; each change is one of the write path
        "game/saved_views.py",  # may write: views of the console are not changes of the game
        "game/gifts.py",  # may write: the write path calls it to count gifts
        "game/second_factor_effects.py",
        "game/passkeys.py",
        "game/second_factors.py",  # may write: uses up a code, which is not a change of the account
        "game/invitation_effects.py",
        "game/identity_effects.py",
        "game/world_effects.py",
        "game/identities.py",  # may write: uses up a sign-in, which is not a change of the account
        "game/invitations.py",  # may write: removes an invitation that was accepted or replaced
        "game/tokens.py",
        "game/guesses.py",
        "game/registrations.py",  # may write: counts registrations for the rate limit
        "game/credentials.py",
        "game/hash_upgrades.py",  # may write: rehashes a password, which is not a change of the account
        "game/presence.py",
        "game/deliveries.py",
        "mail/outbox.py",  # may write: delivery attempts of mails are not changes
        "game/economy.py",  # may write: stores sums over the audit log
        "game/item_days.py",  # the same
        "game/holdings.py",
        "game/lists.py",  # may write: stores the counts of the ordered lists
        "game/security.py",  # may write: the security log is beside the audit log
        "game/guild_effects.py",
        "game/note_effects.py",
        "game/picture_effects.py",
        "game/board_effects.py",
        "game/board_seasons.py",
        "game/board_follower.py",  # may write: standings follow the audit log
        "game/ranked_buckets.py",
        "game/standings.py",
        "game/signal_effects.py",
        "game/signals.py",  # may write: raises signals, each with its change
        "game/signal_checks.py",  # may write: what is still to be examined is not a change
        "game/signal_watch.py",  # may write: sums of the last hour are not changes
        "game/logs.py",  # may write: the game's logs are beside the audit log
        "game/rollups.py",
        "game/activity.py",  # may write: numbers over time are not changes
        "game/retention.py",  # may write: deletes old rows
        "game/former_epochs.py",  # may write: jobs, mails and approvals of a restored database are not changes
        "game/erasure_jobs.py",  # may write: continues an erasure whose change is already recorded
        "game/past_loads.py",  # may write: times of the demo's past; what has a rule is changed by it
        "game/bulk_loads.py",  # may write: progress, logs, guilds and leftovers of an import; players are changes
        "http/health.py",  # may write: a test row shows whether the database accepts writes
        "backup/filling.py",  # may write: restores rows into an empty database
        "backup/restoring.py",
        "backup/importing.py",
        "backup/moving.py",  # may write: marks the source of a move as closed
    }
)


def writing_functions(store: Sources) -> set[tuple[str, str]]:
    """Return module and name of every store function with a writing transaction."""
    return {
        (Path(path).stem, function.name)
        for path, text in store.items()
        for function in _functions(text)
        if _transaction(function) == "Writing"
    }


def stray_writes(given: Sources, writing: Collection[tuple[str, str]], may: Collection[str] = MAY_WRITE) -> list[str]:
    def look(text: str) -> Iterator[tuple[ast.AST, str]]:
        modules = _store_modules(text)
        for node in _nodes(text):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                called = (modules.get(node.value.id, ""), node.attr)
                if called in writing:
                    yield node, f"writes by {'.'.join(called)} outside the write path"
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("gamekeeper.store."):
                noun = (node.module or "").rpartition(".")[2]
                for each in node.names:
                    if (noun, each.name) in writing:
                        yield node, f"imports {noun}.{each.name}, which writes"

    return _collect({path: text for path, text in given.items() if not path.startswith("store/")}, may, look)


def _store_modules(text: str) -> dict[str, str]:
    """Return the names under which a file imports store modules."""
    return {
        each.asname or each.name: each.name
        for node in _nodes(text)
        if isinstance(node, ast.ImportFrom) and node.module == "gamekeeper.store"
        for each in node.names
    }


def stray_effects(given: Sources) -> list[str]:
    def look(text: str) -> Iterator[tuple[ast.AST, str]]:
        for node in _nodes(text):
            if isinstance(node, ast.Attribute) and node.attr == "carry_out":
                yield node, "carries a change out without its ledger row"

    return _collect(given, {"game/changes.py"}, look)


# --- rules for refusals --------------------------------------------------------------------------------------------

REFUSING = frozenset(status.value for status in HTTPStatus if status >= HTTPStatus.BAD_REQUEST)


def kinds_of(root: type[Any]) -> list[type[Any]]:
    return [kind for each in root.__subclasses__() for kind in (each, *kinds_of(each))]


def refusal_faults(kinds: Iterable[type[Any]], status: Callable[[type[Any]], int]) -> list[str]:
    faults: list[str] = []
    codes: dict[str, str] = {}
    for kind in kinds:
        if not (vars(kind).get("__doc__") or "").strip():
            faults.append(f"{kind.__name__} has no message")
        try:
            if status(kind) not in REFUSING:
                faults.append(f"{kind.__name__} has the status {status(kind)}")
        except StopIteration:
            faults.append(f"{kind.__name__} has no status")
        code: str = Exception.__new__(kind).code  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType] - any kind of refusal
        if code in codes:
            faults.append(f"{kind.__name__} and {codes[code]} have the code {code}")
        codes[code] = kind.__name__
    return faults


# --- rules for file size and lint exceptions -----------------------------------------------------------------------

LONGEST_FILE = 400
EXCUSE = re.compile(r"#\s*(noqa|type:\s*ignore|pyright:\s*ignore)(?P<rest>.*)")
REASONED = re.compile(r"(:\s*[A-Z]+[0-9]+(,\s*[A-Z]+[0-9]+)*|\[[\w, -]+\])\s+-\s+\S.{2,}")


def too_long(given: Sources) -> list[str]:
    lines = {path: len(text.splitlines()) for path, text in given.items()}
    return [f"{path} has {count} lines" for path, count in lines.items() if count > LONGEST_FILE]


def list_unreasoned(given: Sources) -> list[str]:
    """List lint exceptions without a rule name or a reason."""
    faults: list[str] = []
    for path, text in given.items():
        # Splitting a file into tokens is slow, and only needed for what may be an exception without a reason.
        if all(REASONED.match(excuse["rest"]) for excuse in EXCUSE.finditer(text)):
            continue
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            excuse = EXCUSE.search(token.string) if token.type == tokenize.COMMENT else None
            if excuse and not REASONED.match(excuse["rest"]):
                faults.append(f"{path}:{token.start[0]}: {token.string}")
    return faults
