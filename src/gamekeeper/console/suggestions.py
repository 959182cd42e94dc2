"""What of the catalogue is meant by the beginning of a name: for our own scripts, while somebody types."""

from collections import Counter
from collections.abc import Sequence

from gamekeeper.console import pages
from gamekeeper.game import lookup
from gamekeeper.game.catalogue import require_kind
from gamekeeper.http.request import Request
from gamekeeper.store import catalogue

MOST = 12


async def show(request: Request) -> bytes:
    kind, text = request.params[0], request.query.get("q", "").strip().lower()
    require_kind(kind)
    tx = request.keeper.store
    if text and lookup.nameable(text):
        found = await catalogue.called(tx, kind, text, MOST)
    else:
        found = await catalogue.page(tx, kind, MOST, 0)
    return pages.answer(request, {"found": _told_apart(found)})


def _told_apart(found: Sequence[catalogue.Entry]) -> list[dict[str, str]]:
    """Two of one name are told apart by their ids."""
    names = Counter(each.name for each in found)
    labels = [each.name if names[each.name] == 1 else f"{each.name} ({each.id})" for each in found]
    return [{"id": each.id, "label": label} for each, label in zip(found, labels, strict=True)]
