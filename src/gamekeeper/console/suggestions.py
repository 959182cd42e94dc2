"""Suggestions while the user types the name of a catalogue entry: names with the text, or else similar names."""

from collections import Counter
from collections.abc import Sequence

from gamekeeper.console import pages
from gamekeeper.game import catalogue, finder, lookup
from gamekeeper.http.request import Request
from gamekeeper.http.response import Response
from gamekeeper.store import catalogue as entries

MAX_SUGGESTIONS = 12


async def show(request: Request) -> Response:
    kind, text = request.params[0], request.query.get("q", "").strip()
    catalogue.require_kind(kind)
    tx = request.services.keeper.store
    found = (
        await catalogue.find_by_name(tx, kind, text, MAX_SUGGESTIONS)
        if text
        else await entries.read_page(tx, kind, MAX_SUGGESTIONS, 0)
    )
    near = await finder.find_similar_entries(tx, kind, text, MAX_SUGGESTIONS) if text and not found else []
    return pages.answer_json({"found": _label_entries(found or near), "near": bool(near)})


def _label_entries(found: Sequence[entries.CatalogueEntry]) -> list[dict[str, str]]:
    """Label entries by name. Entries with the same name, in any letter case, also show their ids."""
    names = Counter(lookup.fold(each.name) for each in found)
    labels = [each.name if names[lookup.fold(each.name)] == 1 else f"{each.name} ({each.id})" for each in found]
    return [{"id": each.id, "label": label} for each, label in zip(found, labels, strict=True)]
