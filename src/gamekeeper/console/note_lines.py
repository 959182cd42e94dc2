"""What a change of a note or of tags shows as its differences."""

from typing import TypeVar

import msgspec

from gamekeeper.console.differences import NOTHING, Difference
from gamekeeper.console.texts import gettext
from gamekeeper.http.wire.notes import ShownNoteSide, ShownTagsSide
from gamekeeper.store.history import HistoryChange
from gamekeeper.store.ledger import LedgerEntry

T = TypeVar("T")
NEEDED = "notes.write"
TAGS_SET = "tags_set"


def list_lines(told: HistoryChange | LedgerEntry) -> list[Difference]:
    """List the text of a note, or the tags, before and after; nothing if the viewer may not read them."""
    if told.before is None and told.after is None:
        return []
    if told.kind == TAGS_SET:
        tags = (", ".join(_decode(side, ShownTagsSide).Tags) or NOTHING for side in (told.before, told.after))
        return [Difference(gettext("Tags"), *tags)]
    before, after = (_decode(side, ShownNoteSide) for side in (told.before, told.after))
    label = gettext("Warning") if before.Warning or after.Warning else gettext("Note")
    return [Difference(label, before.Text or NOTHING, after.Text or NOTHING)]


def _decode(side: bytes | str | None, shape: type[T]) -> T:
    return msgspec.json.decode(side or b"{}", type=shape)
