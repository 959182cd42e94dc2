"""Named SQL statements from .sql files, and the forms of their parameters.

A header `-- name: x` is for both engines, `-- name: x (postgres)` for one. A header with several names makes several
statements of the text below it: with `-- name: ban_of, mute_of {table: bans|mutes}`, {table} is `bans` in the first one
and `mutes` in the second; {name} is a statement's own name. `-- part: columns` is a text for all later statements of
the file, which name it {columns}. `INSERT INTO t {rows: id guid, name text}` inserts the rows of a JSON value, which is
the statement's first parameter: its columns are named once, with their types.

Parameters are rows as one JSON value, which both engines read with `json_each`; patterns for `LIKE … ESCAPE '!'`; and
the fold, the name and the end of the range for the statements `…_by_fold`, which look up players and accounts by name.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct

SEPARATOR = "beside"  # name of the column that separates the results of two joined SQL statements
FOLDER = Path(__file__).parent  # has the folder of the migrations
_SPACE = r"(?: |\n--   )"
_HEADER = re.compile(
    rf"^-- (name|part): (\w+(?:,{_SPACE}\w+)*)(?: \((sqlite|postgres)\))?((?:{_SPACE}\{{\w+: [^}}\n]*\}})*)$",
    re.MULTILINE,
)
_END = re.compile(r";\s*\n")
_WORD = re.compile(r"\{(\w+): ([^}]*)\}")
_ROWS = re.compile(r"\{rows: ([^}]*)\}")
_SPECIAL = re.compile(r"[^0-9A-Za-z-]")  # characters that a literal for PostgreSQL has as escapes
_WRITES = re.compile(r"^\s*(INSERT|UPDATE|DELETE)\b", re.MULTILINE)


class Statement(Struct, eq=False, frozen=True):
    name: str
    texts: Mapping[str, str]

    def render(self, engine: str, words: Mapping[str, str]) -> str:
        """Return the engine's variant of an SQL statement, with its {placeholders} filled in."""
        return fill_placeholders(self.texts.get(engine) or self.texts[""], words)

    @property
    def is_write(self) -> bool:
        return any(_WRITES.search(text) for text in self.texts.values())


class Statements:
    """The SQL statements of one .sql file, as attributes."""

    def __init__(self, file: str | Path) -> None:
        """Read the .sql file of that name: that of a module is named like it."""
        self._text = Path(file).with_suffix(".sql").read_text(encoding="utf-8")

    @cached_property
    def named(self) -> Mapping[str, Statement]:
        """The statements by their names. The text is read at start, but parsed at the first use of a statement."""
        return _parse(self._text)

    def __getattr__(self, name: str) -> Statement:
        if name not in self.named:
            raise AttributeError(name)
        vars(self).update(self.named)  # next time, no statement needs this function
        return self.named[name]


def list_files() -> list[Path]:
    """List the .sql files of named statements, by their names."""
    found = (path for path in FOLDER.parent.rglob("*.sql") if path.parent.name != "migrations")
    return sorted(found, key=lambda path: path.stem)


def count_parameters(text: str) -> int:
    return max((int(found) for found in re.findall(r"\$(\d+)", text)), default=0)


def shift_parameters(text: str, by: int) -> str:
    """Renumber the parameters of an SQL statement, so that they follow those of another statement."""
    return re.sub(r"\$(\d+)", lambda found: f"${int(found[1]) + by}", text)


def insert_values(text: str, values: Sequence[object]) -> str:
    """Replace the parameters of an SQL statement for PostgreSQL by literals, for a message that takes no parameters.

    Every character that could mean something in SQL is escaped. A literal has the type and the collation of what it is
    compared with, so that PostgreSQL uses an index; the result of a function would have its own.
    """
    literals = [f"E'{_SPECIAL.sub(_escape, str(value))}'" for value in values]
    return re.sub(r"\$(\d+)", lambda found: literals[int(found[1]) - 1], text)


def combine(texts: Sequence[str]) -> str:
    """Combine INSERT, UPDATE and DELETE statements into one SQL statement; they must change different rows."""
    if len(texts) == 1:
        return texts[0]
    parts: list[str] = []
    shift = 0
    for number, text in enumerate(texts):
        parts.append(f"s{number} AS ({shift_parameters(text, shift)})")
        shift += count_parameters(text)
    return "WITH " + ",\n".join(parts) + "\nSELECT"


def join_side_by_side(first: str, second: str) -> str:
    """Read all rows of the second SQL statement; the single row of the first stands beside its first row, or alone."""
    second = shift_parameters(second, count_parameters(first))
    found = f"SELECT row_number() OVER () AS {SEPARATOR}, found.* FROM ({second}) AS found"  # noqa: S608 - the texts are from .sql files
    one = f"SELECT one.*, 1 AS place FROM ({first}) AS one"  # noqa: S608 - the same
    joined = f"SELECT * FROM ({one}) AS one FULL JOIN ({found}) AS many ON place = {SEPARATOR}"  # noqa: S608 - the same
    return f"{joined} ORDER BY {SEPARATOR} NULLS FIRST"


def fill_placeholders(text: str, words: Mapping[str, str]) -> str:
    return re.sub(r"\{(\w+)\}", lambda word: words[word[1]], text)


def _escape(found: re.Match[str]) -> str:
    return f"\\U{ord(found[0]):08X}"


def _parse(text: str) -> dict[str, Statement]:
    texts: dict[str, dict[str, str]] = {}
    parts: dict[str, str] = {}
    headers = list(_HEADER.finditer(text))
    ends = [header.start() for header in headers[1:]] + [len(text)]
    for header, end in zip(headers, ends, strict=True):
        # In .sql files a comment above a name follows the semicolon of the previous statement, so it is cut off here.
        body = _END.split(text[header.end() : end] + "\n", 1)[0].strip()
        choices = [(word, given.split("|")) for word, given in _WORD.findall(header[4])] if header[4] else []
        for place, name in enumerate(header[2].replace("\n--  ", "").split(", ")):
            filled = body.replace("{name}", name)
            for word, given in choices:
                filled = filled.replace(f"{{{word}}}", given[place])
            for part, words in parts.items():
                filled = filled.replace(f"{{{part}}}", words)
            filled = _ROWS.sub(_insert_rows, filled)
            if header[1] == "part":
                parts[name] = filled
            else:
                texts.setdefault(name, {})[header[3] or ""] = filled
    return {name: Statement(name, variants) for name, variants in texts.items()}


def _insert_rows(found: re.Match[str]) -> str:
    """Return the columns of an INSERT, and the SELECT that reads their values from the JSON that `as_table` makes."""
    kinds = dict(each.split() for each in found[1].split(","))
    texts = {name: f"value->>'{name}'" for name in kinds}
    values = [texts[name] if kind == "text" else f"CAST({texts[name]} AS {{{kind}}})" for name, kind in kinds.items()]
    return f"({', '.join(kinds)}) SELECT {', '.join(values)} FROM json_each($1) WHERE {{true}}"  # noqa: S608 - from .sql files


def as_table(rows: "Iterable[Mapping[str, object] | NamedTuple]") -> str:
    """Encode rows for `json_each($1)` and `value->>'column'`."""
    named = (row._asdict() if isinstance(row, tuple) else row for row in rows)
    return msgspec.json.encode({str(number): row for number, row in enumerate(named)}).decode()


def as_column(name: str, values: Iterable[object]) -> str:
    """Encode the values of one column, like `as_table`."""
    return as_table({name: each} for each in values)


def as_tree(rows: Iterable[tuple[str, ...]], values: Iterable[int]) -> str:
    """Encode rows as nested objects, one level per column, with a number for each row.

    Every level is read with its own `json_each`. That is cheaper than `as_table` for many rows whose first columns are
    equal: no row is parsed by itself. Rows must differ.
    """
    tree: dict[str, Any] = {}
    level, branch = tree, ()
    for row, value in zip(rows, values, strict=False):
        if row[:-1] != branch:  # consecutive rows often differ in the last column only
            level, branch = tree, row[:-1]
            for name in branch:
                level = level.setdefault(name, {})
        level[row[-1]] = value
    return msgspec.json.encode(tree).decode()


def build_prefix_pattern(text: str) -> str:
    return f"{_escape_pattern(text)}%"


def build_substring_pattern(text: str) -> str:
    return f"%{_escape_pattern(text)}%"


def lower_ascii(text: str) -> str:
    """Lower-case A to Z only, like `lower(… {bytewise})` on both engines."""
    return text.encode().lower().decode()


def _escape_pattern(text: str) -> str:
    return lower_ascii(text).replace("!", "!!").replace("%", "!%").replace("_", "!_")


CLASH = "\x01"  # clash suffix: a duplicate name is stored as fold + "\x01" + id, which is unique and not found by name
AFTER_CLASHES = "\x02"  # upper end of the range of duplicate names: sorts after every clash suffix


def build_name_parameters(fold: str, name: str) -> tuple[str, str, str]:
    """Return the parameters of a look-up by name: fold, exact name preferred among duplicates, end of their range.

    With an empty name, only the row that has the fold without a clash suffix is found.
    """
    return fold, name, fold + AFTER_CLASHES


# kinds of changes that the change feed and the audit log treat differently; SQL statements name the lists by
# placeholders, such as {told_once}
# changes of signals: the change feed has them for bots, and game servers have nothing to do with them
SIGNALS = ("signal_raised", "signal_acknowledged")
# kinds of changes without a player that the change feed has too
WITHOUT_PLAYER = ("chat_sent", "server_variables_set", "guild_variables_set", *SIGNALS)
# commands that a game server carries out at most once; they change no stored data of a player
TOLD_ONCE = ("player_killed", "player_warped", "chat_sent")
# commands that a game server may carry out again, because they only tell it of a state
STATE_COMMANDS = ("user_kicked", "user_banned", "user_muted", "user_unmuted")
COMMANDS = (*TOLD_ONCE, *STATE_COMMANDS)
# changes with the name of a moderator or of the target of a chat message; the indexes of the ledger repeat both lists
NAMING = ("user_banned", "user_unbanned", "user_muted", "user_unmuted", "user_kicked", "player_killed", "chat_sent")
LIFTING = ("user_unbanned", "user_unmuted")
KIND_LISTS = {
    name: ", ".join(f"'{each}'" for each in kinds)
    for name, kinds in {
        "without_player": WITHOUT_PLAYER,
        "told_once": TOLD_ONCE,
        "commands": COMMANDS,
        "naming": NAMING,
        "lifting": LIFTING,
    }.items()
}
