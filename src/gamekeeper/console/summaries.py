"""Summarize the creation or deletion of a player in one line: lists of changes show it instead of every field."""

from collections.abc import Mapping, Sequence

from gamekeeper.console.differences import NOTHING
from gamekeeper.console.texts import cache_texts, gettext, ngettext
from gamekeeper.game.player_effects import PlayerCreated, PlayerDeleted
from gamekeeper.http.outlines import PlayerOutline, outline_player
from gamekeeper.store import catalogue
from gamekeeper.store.engine import Reading
from gamekeeper.store.history import HistoryChange

MOST_COUNTS = 256  # texts such as "12 spells" that are kept: most players have few of each
KINDS = frozenset({PlayerCreated.kind, PlayerDeleted.kind})


def outline_players(changes: Sequence[HistoryChange]) -> dict[int, PlayerOutline]:
    """Outline each created or deleted player among the changes, by the number of the change."""
    return {each.seq: outline_player(each.after or each.before or "{}") for each in changes if each.kind in KINDS}


async def summarize(tx: Reading, players: Mapping[int, PlayerOutline]) -> dict[int, str]:
    """Return a line about each player, by the number of the change that created or deleted it."""
    classes = {each.class_id for each in players.values() if each.class_id}
    named = await catalogue.find_by_ids(tx, "classes", classes) if classes else {}
    names = {class_id: entry.name for class_id, entry in named.items()}
    return {seq: _describe(each, names.get(each.class_id) or NOTHING) for seq, each in players.items()}


def _describe(player: PlayerOutline, class_name: str) -> str:
    return gettext(
        "%(name)s, level %(level)s, class %(class)s: %(items)s, %(spells)s, %(variables)s",
        **{"name": player.name or NOTHING, "level": player.level, "class": class_name},
        items=_count_stacks(player.stacks),
        spells=_count_spells(player.spells),
        variables=_count_variables(player.variables),
    )


@cache_texts(MOST_COUNTS)
def _count_stacks(count: int) -> str:
    return ngettext("%(num)s item stack", "%(num)s item stacks", count)


@cache_texts(MOST_COUNTS)
def _count_spells(count: int) -> str:
    return ngettext("%(num)s spell", "%(num)s spells", count)


@cache_texts(MOST_COUNTS)
def _count_variables(count: int) -> str:
    return ngettext("%(num)s variable", "%(num)s variables", count)
