"""Both databases of an Intersect server: open them, match their tables, and count the rows."""

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
MIGRATION_TABLE_PREFIX = "__ef"  # start of the name of Entity Framework's migration table
# tables of Intersect's player database, by Gamekeeper's names → table whose rows own their rows (or itself)
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
}


@dataclass(frozen=True)
class SourceData:
    players: Source
    game: Source
    tables: Mapping[str, SourceTable]  # tables of the Intersect server, by Gamekeeper's names for them
    version: str

    def close(self) -> None:
        self.players.close()
        self.game.close()

    def source_of(self, noun: str) -> Source:
        return self.players if noun in OWNER_TABLES else self.game

    @cached_property
    def names(self) -> dict[str, str]:
        return {noun: table.name for noun, table in self.tables.items()}

    @cached_property
    def fingerprint(self) -> str:
        """Hash of all ids and row counts of an Intersect server. A server with other rows has another fingerprint."""
        digest = blake2b(digest_size=16)
        for noun, table in self.tables.items():
            if noun in OWNER_TABLES and OWNER_TABLES[noun] == noun:
                last = ZERO_GUID
                while some := self.players.read_ids(table, last, IDS_PER_READ):
                    digest.update("".join(some).encode())
                    last = some[-1]
            elif noun not in OWNER_TABLES:
                digest.update("".join(str(row[0]) for row in self.game.read_table(table)).encode())
            digest.update(f"{noun} {self.source_of(noun).count_all(table.name)}\n".encode())
        return digest.hexdigest()

    def count_rows(self) -> CountsByTable:
        """Count the rows of every table of an Intersect server. Rows of unsupported tables count as skipped."""
        found = CountsByTable()
        for noun, table in self.tables.items():
            rows, filled = self.source_of(noun).count_rows(table)
            found[table.name].rows, found[table.name].empty = rows, rows - filled
        for source in (self.players, self.game):
            for name in sorted(source.read_tables()):
                if name not in found.tables and not name.lower().startswith(MIGRATION_TABLE_PREFIX):
                    rows = source.count_all(name)
                    found.tables[name] = RowCounts(rows=rows, left=rows)
        return found


def open_sources(players: str, game: str) -> SourceData:
    """Open and check both databases of an Intersect server before the import starts."""
    first = _open_source(players)
    second = first
    try:
        second = _open_source(game)
        return _match_layouts(first, second)
    except BaseException:
        first.close()
        second.close()
        raise


def _match_layouts(players: Source, game: Source) -> SourceData:
    there = players.read_tables()
    tables = schemas.match_tables(players.name, "player", schemas.PLAYER_TABLES, there)
    tables |= schemas.match_tables(game.name, "game", schemas.GAME_TABLES, game.read_tables())
    for noun in ("users", "players", "bags"):
        players.index_ids(tables[noun])
    return SourceData(players, game, tables, schemas.detect_version(there, players.read_migrations()))


def _open_source(given: str) -> Source:
    if given.startswith(SCHEME):
        return MysqlSource(given)
    if "://" in given:
        raise BadSource(
            f"{given.partition('://')[0]}:// is not supported. Give a file or mysql://user:password@host/name."
        )
    return SqliteSource(Path(given))
