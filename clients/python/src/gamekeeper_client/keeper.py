"""What happened, how it was before, taking it back, and one search for everything."""

from dataclasses import replace
from typing import TypedDict, Unpack

from gamekeeper_client.call import Batch, Call, WriteOptions, get, path, query, reading, then, write
from gamekeeper_client.keeper_shapes import Finds, Found, History, ItemsThen, ToldChange, Undone
from gamekeeper_client.shapes import KnownSpell, Variable

KEEPER = "/api/keeper/v1"
LARGEST_PAGE = 1000
Moment = int | str  # the number of a change, or a time


class Wanted(TypedDict, total=False):
    """Filters of the audit log, by id; times as 2026-11-15T12:00:00Z. `from` is a Python keyword: write `from_`."""

    player: str
    user: str
    actor: str
    kind: str
    item: str
    from_: str
    to: str
    request: str
    reason: str


def history(*, page_size: int = LARGEST_PAGE, **wanted: Unpack[Wanted]) -> Call[Batch[ToldChange]]:
    """Every change that is wanted, the newest first, fetched a page at a time."""
    return _from(None, page_size, wanted)


def history_page(before: int | None = None, *, limit: int | None = None, **wanted: Unpack[Wanted]) -> Call[History]:
    """Changes before a number; `next` is the number to go on with, None at the end."""
    return _page(before, limit, wanted)


def undo(seq: int, *, force: bool = False, **options: Unpack[WriteOptions]) -> Call[Undone]:
    """Takes a change back. Raises UndoConflict when what it changed has moved on; nothing is changed then.

    Raises ItemMovedOn when another player may have gained the item that it would give back, unless `force` is true.
    """
    call = write("POST", path(KEEPER + "/changes/{}/undo", str(seq)), reading(Undone), **options)
    return replace(call, query={**call.query, "force": "true"}) if force else call


def items_at(player: str, at: Moment | None = None) -> Call[ItemsThen]:
    """Inventory, bank and bags as they were; of a deleted character by its id."""
    return get(path(KEEPER + "/players/{}/items", player), reading(ItemsThen), query(at=at))


def spells_at(player: str, at: Moment | None = None) -> Call[list[KnownSpell]]:
    return get(path(KEEPER + "/players/{}/spells", player), reading(list[KnownSpell]), query(at=at))


def variables_at(player: str, at: Moment | None = None) -> Call[list[Variable]]:
    return get(path(KEEPER + "/players/{}/variables", player), reading(list[Variable]), query(at=at))


def search(q: str, *, limit: int | None = None) -> Call[list[Found]]:
    """Characters, accounts, the catalogue and changes by id, name or email; the best match first."""
    read = then(reading(Finds), lambda answer: answer.found)
    return get(f"{KEEPER}/search", read, query(q=q, limit=limit))


def _page(before: int | None, limit: int | None, wanted: Wanted) -> Call[History]:
    filters = {name.removesuffix("_"): value for name, value in wanted.items()}
    return get(f"{KEEPER}/changes", reading(History), query(**filters, before=before, limit=limit))


def _from(before: int | None, page_size: int, wanted: Wanted) -> Call[Batch[ToldChange]]:
    """A page may be short, or empty, and have others behind it: few of many were wanted."""
    call = _page(before, page_size, wanted)

    def batch(page: History) -> Batch[ToldChange]:
        return Batch(page.changes, None if page.next is None else _from(page.next, page_size, wanted))

    return Call(call.method, call.path, then(call.read, batch), call.query)
