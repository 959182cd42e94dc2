"""Guilds and their members: pages of them, sorted and searched as in the engine.

A game has hundreds of guilds, with some hundred members at most. The limits below keep a list from reading more, so the
last page costs no more than the first, whatever is stored.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

from gamekeeper.game import lookup
from gamekeeper.game.guild_refusals import NoSuchGuild
from gamekeeper.store import guilds, players
from gamekeeper.store.engine import Reading
from gamekeeper.store.guilds import Guild, RosterEntry
from gamekeeper.store.players import StoredPlayer
from gamekeeper.store.search import PART_LETTERS

R = TypeVar("R")
MAX_GUILDS = 10_000  # guilds that a list counts, or that a search reads
MAX_MATCHES = 1000  # guilds that a search finds
MAX_MEMBERS = 1000  # members of one guild that are listed

_GUILD_KEYS: Mapping[str, Callable[[tuple[Guild, str]], Any]] = {
    "name": lambda found: (found[1], found[0].id),
    "members": lambda found: (found[0].members, found[1], found[0].id),
    "foundingdate": lambda found: (found[0].founded_at, found[1], found[0].id),
}
_MEMBER_KEYS: Mapping[str, Callable[[RosterEntry], Any]] = {
    "name": lambda member: member.fold,
    "level": lambda member: (member.level, member.exp, member.id),
    "creationdate": lambda member: (member.created_at, member.fold),
    "playtime": lambda member: (member.play_time, member.fold),
    "guildrank": lambda member: (member.rank, member.fold),
}


class GuildSlice(NamedTuple):
    """A part of a sorted list: without the first `offset` entries, at most `limit`."""

    offset: int
    limit: int
    sort_by: str = "name"
    descending: bool = False


class GuildPage(NamedTuple, Generic[R]):
    total: int
    rows: Sequence[R]


async def require(tx: Reading, guild_id: str) -> Guild:
    found = await guilds.find(tx, guild_id)
    if found is None:
        raise NoSuchGuild(id=guild_id)
    return found


def is_search(text: str) -> bool:
    """Tell whether a search text is long enough; a shorter one is ignored."""
    return len(lookup.fold(text)) >= PART_LETTERS


async def load_page(tx: Reading, part: GuildSlice, search: str = "") -> GuildPage[Guild]:
    """Load a page of all guilds, or of those whose name contains the text."""
    if is_search(search):
        found = await guilds.search(tx, lookup.fold(search), MAX_GUILDS, MAX_MATCHES)
        ordered = sorted(found, key=_GUILD_KEYS[part.sort_by], reverse=part.descending)
        return GuildPage(len(found), [each for each, _ in ordered[part.offset : part.offset + part.limit]])
    total = await guilds.count(tx, MAX_GUILDS)
    limit = min(part.limit, total - part.offset)
    if limit <= 0:
        return GuildPage(total, ())
    return GuildPage(total, await guilds.read_page(tx, part.sort_by, limit, part.offset, descending=part.descending))


async def load_members(tx: Reading, guild_id: str, part: GuildSlice, search: str = "") -> GuildPage[StoredPlayer]:
    """Load a page of the members of a guild. A guild that does not exist has none."""
    roster = await guilds.read_roster(tx, guild_id, MAX_MEMBERS)
    if is_search(search):
        sought = lookup.fold(search)
        roster = [each for each in roster if sought in lookup.strip_clash(each.fold)]
    ordered = sorted(roster, key=_MEMBER_KEYS[part.sort_by], reverse=part.descending)
    ids = [each.id for each in ordered[part.offset : part.offset + part.limit]]
    records = await players.read_records_of_ids(tx, ids) if ids else {}
    return GuildPage(len(roster), [records[each] for each in ids])
