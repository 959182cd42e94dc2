"""The page of the game's catalogue: items, spells, variables, classes, maps and the game's other objects."""

from typing import NamedTuple

import msgspec

from gamekeeper.console import lists, pages
from gamekeeper.console.change_fields import LABELS
from gamekeeper.console.queries import CatalogueQuery
from gamekeeper.console.texts import PerLanguage, gettext
from gamekeeper.console.tiles import make_tile
from gamekeeper.game import catalogue, lookup
from gamekeeper.http import paging, queries
from gamekeeper.http.request import Request
from gamekeeper.http.response import Response
from gamekeeper.store import catalogue as entries
from gamekeeper.store import pictures

MAX_MATCHES = 1_000  # a search by name stops after this many catalogue entries

MAX_SHOWN = 1_000  # characters of one further field of an entry that the page shows
# kinds that are no field of a change, or have another name there
OWN_LABELS = PerLanguage(
    lambda: {
        "crafttables": gettext("Craft tables"),
        "servervariables": gettext("Server variables"),
        "guildvariables": gettext("Guild variables"),
        "uservariables": gettext("Account variables"),
        "time": gettext("Day and night"),
    }
)
_details_decoder = msgspec.json.Decoder(dict[str, msgspec.Raw])


class DetailField(NamedTuple):
    """A further field of a catalogue entry, as text."""

    name: str
    value: str


async def show(request: Request) -> Response:
    kind = request.query.get("kind", "") or "items"
    catalogue.require_kind(kind)
    query = queries.decode(CatalogueQuery, request.query)
    sought = query.search.strip()
    page = paging.read_query(query, request.services.keeper.settings.max_page_size)
    store, alone = request.services.keeper.store, request.query.get("id", "")
    if alone:
        wanted = lookup.parse_guid(alone)
        found = list((await entries.find_by_ids(store, kind, [wanted] if wanted else [])).values())
        total = len(found)
    elif sought:
        called = await catalogue.find_by_name(store, kind, sought, MAX_MATCHES)
        total, found = len(called), called[page.offset : page.offset + page.limit]
    else:
        total, found = await catalogue.load_page(store, kind, page.limit, page.offset)
    found = await entries.add_details(store, kind, found)
    hashes = await pictures.find_hashes(store, [each.id for each in found]) if kind == "items" else {}
    labels = LABELS() | OWN_LABELS()
    return pages.render(
        request,
        "catalogue.html",
        kind=kind,
        kinds={each: labels[each] for each in entries.KINDS},
        entries=found,
        details={each.id: list_details(each.details) for each in found},
        tiles={each.id: make_tile(each.id, each.name, each, hashes.get(each.id)) for each in found}
        if kind == "items"
        else {},
        alone=bool(alone),
        part=lists.make_page(request, page, total, len(found), cut=bool(sought) and total >= MAX_MATCHES),
        sought=query.search,
    )


def list_details(details: str | None) -> list[DetailField]:
    """List the further fields of an entry. A text is shown as it is, everything else as JSON."""
    fields = _details_decoder.decode(details) if details else {}
    return [DetailField(name, _show_value(value)) for name, value in fields.items()]


def _show_value(value: msgspec.Raw) -> str:
    decoded: object = msgspec.json.decode(value)
    text = decoded if isinstance(decoded, str) else bytes(value).decode()
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}…"
