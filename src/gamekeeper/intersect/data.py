"""Playerdata and gamedata together: opened, understood, and counted."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from pathlib import Path

from gamekeeper.game.lookup import ZERO_GUID
from gamekeeper.intersect import eras
from gamekeeper.intersect.eras import BadSource, Table
from gamekeeper.intersect.mysql_source import SCHEME, MysqlSource
from gamekeeper.intersect.report import Count, Counts
from gamekeeper.intersect.source import Source
from gamekeeper.intersect.sqlite_source import SqliteSource

SOME = 10_000
UNCOUNTED = "__ef"  # what the game's own tools know of it
# the rows of each table belong to the rows of another
OWNERS = {
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
class Data:
    players: Source
    game: Source
    tables: Mapping[str, Table]  # by our names for them
    era: str

    def close(self) -> None:
        self.players.close()
        self.game.close()

    def of(self, noun: str) -> Source:
        return self.players if noun in OWNERS else self.game

    @cached_property
    def names(self) -> dict[str, str]:
        return {noun: table.name for noun, table in self.tables.items()}

    @cached_property
    def fingerprint(self) -> str:
        """Of the ids of all that may be taken: where one is missing or new, it is another source."""
        digest = blake2b(digest_size=16)
        for noun, table in self.tables.items():
            if noun in OWNERS and OWNERS[noun] == noun:
                last = ZERO_GUID
                while some := self.players.ids(table, last, SOME):
                    digest.update("".join(some).encode())
                    last = some[-1]
            elif noun not in OWNERS:
                digest.update("".join(str(row[0]) for row in self.game.every(table)).encode())
            digest.update(f"{noun} {self.of(noun).size(table.name)}\n".encode())
        return digest.hexdigest()

    def counts(self) -> Counts:
        """How many rows there are to begin with; those that have no place here are left at once."""
        found = Counts()
        for noun, table in self.tables.items():
            rows, filled = self.of(noun).count(table)
            found[table.name].rows, found[table.name].empty = rows, rows - filled
        for source in (self.players, self.game):
            for name in sorted(source.tables()):
                if name not in found.of and not name.lower().startswith(UNCOUNTED):
                    rows = source.size(name)
                    found.of[name] = Count(rows=rows, left=rows)
        return found


def opened(players: str, game: str) -> Data:
    """Both, looked through, before anything is begun."""
    first = _source(players)
    second = first
    try:
        second = _source(game)
        return _understood(first, second)
    except BaseException:
        first.close()
        second.close()
        raise


def _understood(players: Source, game: Source) -> Data:
    there = players.tables()
    tables = eras.layout(players.name, "player", eras.PLAYERS, there)
    tables |= eras.layout(game.name, "game", eras.GAME, game.tables())
    for noun in ("users", "players", "bags"):
        players.order(tables[noun])
    return Data(players, game, tables, eras.era(there, players.migrations()))


def _source(given: str) -> Source:
    if given.startswith(SCHEME):
        return MysqlSource(given)
    if "://" in given:
        raise BadSource(
            f"{given.partition('://')[0]}:// is not known here. Give a file, or mysql://user:password@host/name."
        )
    return SqliteSource(Path(given))
