"""What the game knows of, as its servers tell us."""

from collections.abc import Sequence

from gamekeeper.game.changes import Decision
from gamekeeper.game.effects import CataloguePut
from gamekeeper.game.refusals import NoSuchKind
from gamekeeper.store import catalogue
from gamekeeper.store.engine import Reading, Store


def require_kind(kind: str) -> None:
    if kind not in catalogue.KINDS:
        raise NoSuchKind(kind=kind)


async def page(store: Store, kind: str, limit: int, offset: int) -> tuple[int, list[catalogue.Entry]]:
    """How many there are, and some of them, of the same moment."""

    async def look(tx: Reading) -> tuple[int, list[catalogue.Entry]]:
        return await catalogue.count(tx, kind), await catalogue.page(tx, kind, limit, offset)

    return await store.read(look)


async def put(tx: Reading, kind: str, entries: Sequence[catalogue.Entry]) -> Decision[int]:
    """Upserts by id; entries that are as they were leave no trace."""
    before = await catalogue.by_id(tx, kind, [entry.id for entry in entries])
    differing = [entry for entry in entries if before.get(entry.id) != entry]
    replaced = [before[entry.id] for entry in differing if entry.id in before]
    changes = [CataloguePut(kind, replaced, differing)] if differing else []
    return Decision(changes, len(entries))
