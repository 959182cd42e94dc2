"""The databases of an Intersect server: open them, match their tables, and count the rows."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from pathlib import Path

from gamekeeper.game.lookup import ZERO_GUID
from gamekeeper.intersect import schemas
from gamekeeper.intersect.mysql_source import SCHEME, MysqlSource
from gamekeeper.intersect.report import CountsByTable, RowCounts
from gamekeeper.intersect.schemas import BadSource, SourceTable
from gamekeeper.intersect.source import Source
from gamekeeper.intersect.sqlite_source import SqliteSource

IDS_PER_READ = 10_000
REQUEST_LOG = "requests"
MIGRATION_TABLE_PREFIX = "__ef"  # start of the name of Entity Framework's migration table
# tables of Intersect's player and logging databases, by Gamekeeper's names → table with their owners (or itself)
OWNER_TABLES = {
    "users": "users",
    "bans": "users",
    "mutes": "users",
    "players": "players",
    "inventory": "players",
    "bank": "players",
    "spells": "players",
    "variables": "players",
    "switches": "players",
    "bags": "bags",
    "bag_slots": "bags",
    "friends": "players",
    "quests": "players",
    "hotbars": "players",
    "user_variables": "users",
    "guilds": "guilds",
    "guild_values": "guilds",
    "guild_bank": "guilds",
    "activity": "activity",
    "trades": "trades",
}


@dataclass(frozen=True)
class SourceData:
    players: Source
    game: Source
    tables: Mapping[str, SourceTable]  # tables of the Intersect server, by Gamekeeper's names for them
    version: str
    logs: Source | None = None

    @property
    def sources(self) -> list[Source]:
        return [self.players, self.game, *([self.logs] if self.logs else [])]

    def close(self) -> None:
        for source in self.sources:
            source.close()

    def find_source(self, noun: str) -> Source:
        if self.logs and noun in schemas.LOG_TABLES:
            return self.logs
        return self.players if noun in OWNER_TABLES else self.game

    @cached_property
    def names(self) -> dict[str, str]:
        return {noun: table.name for noun, table in self.tables.items()}

    @cached_property
    def fingerprint(self) -> str:
        """Hash of all ids and row counts of an Intersect server. A server with other rows has another fingerprint.

        The same server with its logs has another fingerprint than without them, so that they can be imported later.
        """
        digest = blake2b(b"with logs" if self.logs else b"", digest_size=16)
        for noun, table in self.tables.items():
            if noun in OWNER_TABLES and OWNER_TABLES[noun] == noun:
                last = ZERO_GUID
                while some := self.find_source(noun).read_ids(table, last, IDS_PER_READ):
                    digest.update("".join(some).encode())
                    last = some[-1]
            elif noun not in OWNER_TABLES:
                only_ids = table._replace(columns=(table.key,))
                digest.update("".join(str(row[0]) for row in self.game.read_table(only_ids)).encode())
            digest.update(f"{noun} {self.find_source(noun).count_all(table.name)}\n".encode())
        return digest.hexdigest()

    def count_rows(self) -> CountsByTable:
        """Count the rows of every table of an Intersect server. Rows of unsupported tables count as skipped."""
        found = CountsByTable()
        for noun, table in self.tables.items():
            rows, filled = self.find_source(noun).count_rows(table)
            found[table.name].rows, found[table.name].empty = rows, rows - filled
        for source in self.sources:
            for name in sorted(source.read_tables()):
                if name not in found.tables and not name.lower().startswith(MIGRATION_TABLE_PREFIX):
                    rows = source.count_all(name)
                    found.tables[name] = RowCounts(rows=rows, left=rows)
        return found


def open_sources(players: str, game: str, logs: str | None = None) -> SourceData:
    """Open and check the databases of an Intersect server before the import starts."""
    opened: list[Source] = []
    try:
        for given in (players, game, *([logs] if logs else [])):
            opened.append(_open_source(given))  # noqa: PERF401 - if one cannot be opened, those before it are closed
        return _match_layouts(*opened)
    except BaseException:
        for source in opened:
            source.close()
        raise


def _match_layouts(players: Source, game: Source, logs: Source | None = None) -> SourceData:
    there = players.read_tables()
    tables = schemas.match_tables(players.name, "player", schemas.PLAYER_TABLES, there)
    tables |= schemas.match_tables(game.name, "game", schemas.GAME_TABLES, game.read_tables())
    if logs:
        tables |= schemas.match_tables(logs.name, "logging", schemas.LOG_TABLES, logs.read_tables())
        tables.pop(REQUEST_LOG, None)
    data = SourceData(players, game, tables, schemas.detect_version(there, players.read_migrations()), logs)
    for noun in set(OWNER_TABLES.values()) & tables.keys():
        data.find_source(noun).index_ids(tables[noun])
    return data


def _open_source(given: str) -> Source:
    if given.startswith(SCHEME):
        return MysqlSource(given)
    if "://" in given:
        raise BadSource(
            f"{given.partition('://')[0]}:// is not supported. Give a file or mysql://user:password@host/name."
        )
    return SqliteSource(Path(given))
