"""The players of a new bulk job: found by name and id before the job's transaction, in parts."""

from collections.abc import Sequence
from typing import NamedTuple

from gamekeeper.game import lookup
from gamekeeper.game.history import Pause
from gamekeeper.store import bulk_jobs
from gamekeeper.store.bulk_jobs import NOT_FOUND, WAITING, GivenName, NewTarget
from gamekeeper.store.engine import Reading

# players of one job: as many as an operator wants to look through, and their ids fit into a body of half a megabyte
MOST_PLAYERS = 10_000
LOOKUP_BATCH = 250  # names that one statement looks up: takes a few milliseconds


class FoundTargets(NamedTuple):
    targets: list[NewTarget]  # in the order given, each player and each unknown text once
    repeated: int  # number of players and texts that were given again

    @property
    def players(self) -> int:
        return sum(each.player_id is not None for each in self.targets)


async def find_targets(tx: Reading, rest: Pause, given: Sequence[str], *, online: bool) -> FoundTargets:
    """Find the players with these names and ids. `online`: also all players who are online now."""
    texts = [*given, *(await bulk_jobs.read_online(tx, MOST_PLAYERS + 1) if online else ())]
    targets, seen, repeated = list[NewTarget](), set[str](), 0
    for first in range(0, len(texts), LOOKUP_BATCH):
        some = texts[first : first + LOOKUP_BATCH]
        found = await _find_players(tx, some)
        for place, text in enumerate(some):
            player_id = found.get(place)
            key = player_id or text
            if key in seen:
                repeated += 1
                continue
            seen.add(key)
            targets.append(NewTarget(WAITING, player_id, None) if player_id else NewTarget(NOT_FOUND, None, text[:255]))
        await rest()
    return FoundTargets(targets, repeated)


async def _find_players(tx: Reading, texts: Sequence[str]) -> dict[int, str]:
    """Find players by name or id; return the id of each by the place of its text."""
    ids = {place: guid for place, text in enumerate(texts) if (guid := lookup.parse_guid(text))}
    known = await bulk_jobs.find_players_by_id(tx, set(ids.values())) if ids else set[str]()
    found = {place: guid for place, guid in ids.items() if guid in known}
    names = [
        GivenName(place, text, lookup.fold(text))
        for place, text in enumerate(texts)
        if place not in ids and lookup.is_nameable(text)
    ]
    for match in sorted(await bulk_jobs.find_players_by_name(tx, names), key=_sort_match) if names else ():
        found.setdefault(match.place, match.player_id)
    return found


def _sort_match(match: bulk_jobs.NameMatch) -> tuple[int, bool, str]:
    """Return the order in which the players of a name are tried: the exact spelling first."""
    return match.place, not match.is_exact, match.fold
