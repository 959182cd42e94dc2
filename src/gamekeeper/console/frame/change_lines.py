"""Lines that a change shows in place of its differences: the text of a note, tags, or one line about a player.

Lists of changes summarize the creation or deletion of a player in one line instead of every field.
"""

from collections.abc import Mapping, Sequence
from typing import TypeVar

import msgspec

from gamekeeper.console.frame.differences import NOTHING, Difference
from gamekeeper.console.frame.texts import cache_texts, gettext, ngettext
from gamekeeper.game.players.changes import PlayerCreated, PlayerDeleted
from gamekeeper.http.accounts.account_shapes import ShownNoteSide, ShownTagsSide
from gamekeeper.http.audit.side_decoder import PlayerOutline, outline_player
from gamekeeper.store.audit.history import HistoryChange
from gamekeeper.store.core.ledger import LedgerEntry
from gamekeeper.store.engine.interface import Reading
from gamekeeper.store.world import catalogue

T = TypeVar("T")
NOTES_NEEDED = "notes.write"
TAGS_SET = "tags_set"


def list_note_lines(told: HistoryChange | LedgerEntry) -> list[Difference]:
    """List the text of a note, or the tags, before and after; nothing if the viewer may not read them."""
    if told.before is None and told.after is None:
        return []
    if told.kind == TAGS_SET:
        tags = (", ".join(_decode_note(side, ShownTagsSide).Tags) or NOTHING for side in (told.before, told.after))
        return [Difference(gettext("Tags"), *tags)]
    before, after = (_decode_note(side, ShownNoteSide) for side in (told.before, told.after))
    label = gettext("Warning") if before.Warning or after.Warning else gettext("Note")
    return [Difference(label, before.Text or NOTHING, after.Text or NOTHING)]


def _decode_note(side: bytes | str | None, shape: type[T]) -> T:
    return msgspec.json.decode(side or b"{}", type=shape)


MOST_COUNTS = 256  # texts such as "12 spells" that are kept: most players have few of each
SUMMARIZED_KINDS = frozenset({PlayerCreated.kind, PlayerDeleted.kind})


def outline_players(changes: Sequence[HistoryChange]) -> dict[int, PlayerOutline]:
    """Outline each created or deleted player among the changes, by the number of the change."""
    return {
        each.seq: outline_player(each.after or each.before or "{}") for each in changes if each.kind in SUMMARIZED_KINDS
    }


async def summarize_players(tx: Reading, players: Mapping[int, PlayerOutline]) -> dict[int, str]:
    """Return a line about each player, by the number of the change that created or deleted it."""
    classes = {each.class_id for each in players.values() if each.class_id}
    named = await catalogue.find_by_ids(tx, "classes", classes) if classes else {}
    names = {class_id: entry.name for class_id, entry in named.items()}
    return {seq: _describe_player(each, names.get(each.class_id) or NOTHING) for seq, each in players.items()}


def _describe_player(player: PlayerOutline, class_name: str) -> str:
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
