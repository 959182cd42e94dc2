"""Import the variables of an Intersect server itself, and the declarations of its guilds' variables."""

from collections.abc import Iterator

import msgspec

from gamekeeper.game.bulk_loads import load_guild_variables, load_server_variables
from gamekeeper.game.lookup import ZERO_GUID
from gamekeeper.game.values import BOOLEAN, INTEGER, NUMBER, STRING
from gamekeeper.intersect import values
from gamekeeper.intersect.catalogue import TYPES
from gamekeeper.intersect.existing import GUILD_VARIABLE, SERVER_VARIABLE
from gamekeeper.intersect.import_run import ImportBatch, ImportRun
from gamekeeper.intersect.report import CountsByTable, ReportEntry
from gamekeeper.intersect.source import Row
from gamekeeper.store.engine import Reading
from gamekeeper.store.guild_variables import GuildVariableDeclaration
from gamekeeper.store.server_variables import ServerVariable

BAD_ID = "its id is not a guid, or is a duplicate"
NEVER_SET = "its value was never set or cannot be read"
_ARTICLES = {BOOLEAN: "a", INTEGER: "an", STRING: "a", NUMBER: "a"}
# table → type of its variables in versions without a type column
SERVER_TABLES = {"server_variables": INTEGER, "server_switches": BOOLEAN}


def find_type(value: float | bool | str) -> str:  # noqa: FBT001 - a value, not an option
    if isinstance(value, str):
        return STRING
    if isinstance(value, bool):
        return BOOLEAN
    return NUMBER if isinstance(value, float) else INTEGER


def describe_mismatch(found: str, declared: str) -> str:
    return f"its value is {_ARTICLES[found]} {found}, but its variable is {_ARTICLES[declared]} {declared}"


async def import_variables(run: ImportRun) -> None:
    """Import all declared variables of the server, with their values, and of guilds: they are few, so at once."""

    async def turn(tx: Reading | None) -> ImportBatch:
        counts, lines = CountsByTable(), list[ReportEntry]()
        server: list[ServerVariable] = []
        for noun, usual in SERVER_TABLES.items():
            for row in await _find_new(run, tx, noun, SERVER_VARIABLE, counts, lines):
                server.append(_read_server_variable(row, usual, noun == "server_switches"))
                lines += _describe_value(run.data.names[noun], row, server[-1])
        guild = [
            GuildVariableDeclaration(*_read_declaration(row, INTEGER), values.parse_ticks(row[5]))
            for row in await _find_new(run, tx, "guild_variables", GUILD_VARIABLE, counts, lines)
        ]
        run.existing.note(SERVER_VARIABLE, [each.id for each in server])
        run.existing.note(GUILD_VARIABLE, [each.id for each in guild])
        loads = [
            *([load_server_variables(server)] if server else []),
            *([load_guild_variables(guild)] if guild else []),
        ]
        return ImportBatch(loads, counts, lines)

    await run.commit_stage(turn)


async def _find_new(
    run: ImportRun, tx: Reading | None, noun: str, kind: str, counts: CountsByTable, lines: list[ReportEntry]
) -> list[Row]:
    """Return the declared variables of a table that Gamekeeper does not have yet, and count all rows of the table."""
    if noun not in run.data.tables:
        return []
    table = run.data.tables[noun]
    rows: dict[str, Row] = {}
    for row in run.data.game.read_table(table):
        if row[0] is None or row[0] == ZERO_GUID or row[0] in rows:
            counts[table.name].left += 1
            lines.append(ReportEntry(table.name, row[0] or "invalid", BAD_ID))
        else:
            rows[row[0]] = row
    known = await run.existing.find(tx, kind, rows)
    counts[table.name].there, counts[table.name].taken = len(known), len(rows) - len(known)
    return [row for own_id, row in rows.items() if own_id not in known]


def _read_declaration(row: Row, usual: str) -> tuple[str, str, str, str, str]:
    own_id, name, kind, text_id, folder = row[:5]
    texts = values.clean_text(text_id), values.clean_text(folder)
    return own_id, values.clean_text(name), TYPES.get(kind, usual), *texts


def _read_server_variable(row: Row, usual: str, is_switch: bool) -> ServerVariable:  # noqa: FBT001 - one caller
    value = values.parse_flag(row[6]) if is_switch else values.parse_scalar(row[6])
    stored = None if value is None else msgspec.json.encode(value).decode()
    return ServerVariable(*_read_declaration(row, usual), stored, values.parse_ticks(row[5]))


def _describe_value(table: str, row: Row, read: ServerVariable) -> Iterator[ReportEntry]:
    if values.has_replacement(row):
        yield ReportEntry(table, read.id, values.NOT_UTF8, taken=True)
    if read.value is None:
        yield ReportEntry(table, read.id, f"{NEVER_SET}: imported without a value", taken=True)
        return
    kind = find_type(msgspec.json.decode(read.value))
    if kind != read.type:
        yield ReportEntry(table, read.id, f"{describe_mismatch(kind, read.type)}: kept", taken=True)
