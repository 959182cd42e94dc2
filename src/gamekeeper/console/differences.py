"""What a change changed, line by line, in words: before and after."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from types import MappingProxyType
from typing import NamedTuple, cast

from gamekeeper.console import pages
from gamekeeper.game.codec import ChangeSide
from gamekeeper.game.inventory import BANK, INVENTORY, SlotAddress, Stack
from gamekeeper.game.keeper import Keeper
from gamekeeper.http.instants import instant
from gamekeeper.store import catalogue
from gamekeeper.store.engine import Reading
from gamekeeper.store.ledger import LedgerEntry

NOTHING = "—"
NEW_BAG = "A new bag"
MANY = "\u00d7"  # the multiplication sign
OTHERWISE = "changed"  # as many as before, and not the same: an item with other buffs, entries that say something else
PLACES = {place: place.capitalize() for place in (INVENTORY, BANK)}
WORDS = {
    "class_id": "Class",
    "map_id": "Map",
    "user_id": "Owner",
    "exp": "Experience",
    "ban_reason": "Banned because of",
    "mute_reason": "Muted because of",
    "ends_at": "Until",
    "next_try_at": "Next try",
}
NAMED = {"class_id": "classes", "map_id": "maps"}
TIMES = frozenset({"ends_at", "created_at", "last_online", "next_try_at"})
Side = bytes | str | None


class Line(NamedTuple):
    what: str
    before: str
    after: str


class Names(NamedTuple):
    """What the catalogue calls things, by kind and id; and bags that have no id of their own yet."""

    known: Mapping[str, Mapping[str, catalogue.CatalogueEntry]]
    bags: Mapping[str, str] = MappingProxyType({})

    def of(self, kind: str, each: str) -> str:
        entry = self.known.get(kind, {}).get(each)
        return entry.name if entry and entry.name else each


async def of_request(keeper: Keeper, entries: Sequence[LedgerEntry], *, dry_run: bool) -> list[list[Line]]:
    """Of what a request changed, or would change: then a bag has no id yet, unless an undo brings it back."""
    anew = dry_run and not any(each.undoes for each in entries)
    return await lines(keeper, [(each.before, each.after) for each in entries], made_anew=anew)


async def lines(
    keeper: Keeper, changes: Sequence[tuple[Side, Side]], most: int | None = None, *, made_anew: bool = False
) -> list[list[Line]]:
    """Of each change, given by its two sides; `most`: its first so many; `made_anew`: its new bags have no ids."""
    read = keeper.changes.codec.decode_side
    traces = [
        (read(before) if before else ChangeSide(), read(after) if after else ChangeSide()) for before, after in changes
    ]
    names = await names_of(keeper.store, [side for sides in traces for side in sides])
    return [
        list(islice(_changed(before, after, names._replace(bags=_new(before, after) if made_anew else {})), most))
        for before, after in traces
    ]


async def names_of(tx: Reading, sides: Iterable[ChangeSide]) -> Names:
    """Of all that is mentioned, asked for once."""
    wanted: dict[str, set[str]] = {kind: set() for kind in ("items", "spells", "variables", "classes", "maps")}
    for side in sides:
        wanted["items"] |= {stack.item_id for stack in side.slots.values() if stack} | side.sums.keys()
        wanted["spells"] |= {spell for spell in side.spells.values() if spell}
        wanted["variables"] |= side.variables.keys()
        for name, kind in NAMED.items():
            wanted[kind] |= {str(side.player[name])} if name in side.player else set()
    return Names({kind: await catalogue.find_by_ids(tx, kind, ids) if ids else {} for kind, ids in wanted.items()})


def _changed(before: ChangeSide, after: ChangeSide, names: Names) -> Iterator[Line]:
    """What is the same on both sides did not change: it is left out."""
    return (each for each in _lines(before, after, names) if each.before != each.after)


def _lines(before: ChangeSide, after: ChangeSide, names: Names) -> Iterator[Line]:
    """One by one: a list shows the first few of what may be thousands."""
    fields = [{**side.player, **side.user, **side.catalogue} for side in (before, after)]
    for name in dict.fromkeys([*fields[0], *fields[1]]):
        values = [side.get(name) for side in fields]
        yield _line(_word(name), *(_field(name, each, names) for each in values), same=values[0] == values[1])
    for bag in sorted(before.bags.keys() | after.bags.keys()):
        yield Line(_bag(bag, names), _size(before.bags.get(bag)), _size(after.bags.get(bag)))
    for spot in sorted(before.slots.keys() | after.slots.keys()):
        was, now = before.slots.get(spot), after.slots.get(spot)
        yield _line(where(spot, names), _stack(was, names), _stack(now, names), same=was == now)
    for slot in sorted(before.spells.keys() | after.spells.keys()):
        sides = (_spell(before.spells.get(slot), names), _spell(after.spells.get(slot), names))
        yield Line(f"Spell slot {slot}", *sides)
    for each in sorted(before.variables.keys() | after.variables.keys()):
        sides = (_plain(before.variables.get(each)), _plain(after.variables.get(each)))
        yield Line(names.of("variables", each), *sides)
    for each in sorted(before.sums.keys() | after.sums.keys()):
        sides = (_plain(before.sums.get(each)), _plain(after.sums.get(each)))
        yield Line(names.of("items", each), *sides)


def where(spot: SlotAddress, names: Names) -> str:
    place, slot = spot
    return f"{PLACES.get(place) or _bag(place, names)}, slot {slot}"


def _bag(bag: str, names: Names) -> str:
    return names.bags.get(bag) or f"Bag {bag[:8]}"


def _new(before: ChangeSide, after: ChangeSide) -> dict[str, str]:
    """What to call bags that are not there before; several are told apart by a number."""
    found = sorted(after.bags.keys() - before.bags.keys())
    return {bag: f"{NEW_BAG} ({number})" if len(found) > 1 else NEW_BAG for number, bag in enumerate(found, 1)}


def _word(name: str) -> str:
    return WORDS.get(name) or name.replace("_", " ").capitalize()


def _line(what: str, before: str, after: str, *, same: bool) -> Line:
    """`same`: also in what the words do not say."""
    return Line(what, before, after if same or before != after or after == NOTHING else f"{after}, {OTHERWISE}")


def _stack(stack: Stack | None, names: Names) -> str:
    return f"{stack.quantity:,} {MANY} {names.of('items', stack.item_id)}" if stack else NOTHING


def _spell(spell: str | None, names: Names) -> str:
    return names.of("spells", spell) if spell else NOTHING


def _size(count: int | None) -> str:
    return NOTHING if count is None else f"{count} slots"


def _field(name: str, value: object, names: Names) -> str:
    if name in NAMED and isinstance(value, str):
        return names.of(NAMED[name], value)
    if name in TIMES and isinstance(value, int):
        return pages.clock(instant(value))
    return _plain(value)


def _plain(value: object) -> str:
    if value is None or value == "":
        return NOTHING
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return f"{len(cast('list[object]', value))} entries"
    if isinstance(value, tuple):
        return ", ".join(str(each) for each in cast("tuple[object, ...]", value))
    return f"{value:,}" if isinstance(value, int) else str(value)
