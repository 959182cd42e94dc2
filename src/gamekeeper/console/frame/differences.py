"""Describe a change in words: each field, slot, spell and variable that differs, with its value before and after."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar, cast

from gamekeeper.console.frame.formats import format_number, format_time
from gamekeeper.console.frame.labels import HIDDEN, LABELS, PARTS, SHORT_PARTS, TIMES, VALUES
from gamekeeper.console.frame.texts import PerLanguage, cache_texts, gettext, ngettext, translate
from gamekeeper.game.core.change import ChangeSide
from gamekeeper.game.core.lookup import ZERO_GUID
from gamekeeper.game.core.player import BANK, INVENTORY, SlotAddress, Stack
from gamekeeper.game.keeper import Keeper
from gamekeeper.ground.instants import format_instant
from gamekeeper.store.accounts import users
from gamekeeper.store.audit.history import HistoryChange
from gamekeeper.store.core.ledger import LedgerEntry, LedgerRow
from gamekeeper.store.engine.interface import Reading
from gamekeeper.store.players import items, players
from gamekeeper.store.world import catalogue, guilds

K = TypeVar("K", bound=int | str | SlotAddress | tuple[str, str])
NOTHING = "—"
MOST_SLOT_NAMES = 256  # names of slots that are kept, since most changes are about the first slots of an inventory
TIMES_SIGN = "\u00d7"  # the multiplication sign between a quantity and an item
CHANGED = PerLanguage(
    lambda: gettext("changed")
)  # marks two values that read the same but differ, such as an item whose stat buffs changed
PLACES = PerLanguage(lambda: {INVENTORY: gettext("Inventory"), BANK: gettext("Bank")})
NAMED_KINDS = ("items", "spells", "variables", "servervariables", "guildvariables", "classes", "maps")
CATALOGUE_KINDS = {"class_id": "classes", "map_id": "maps", "itemid": "items"}
Inventory = Mapping[int, str | None]  # item ids by slot; None: the slot is empty
DecodedSides = tuple[ChangeSide, ChangeSide]  # the values of a change before and after it
Recorded = HistoryChange | LedgerEntry | LedgerRow  # a change as the audit log or a dry run has it
NO_VALUES = ChangeSide()  # the missing side of a creation or a deletion


class Difference(NamedTuple):
    what: str
    before: str
    after: str


class Names(NamedTuple):
    """Names of items, spells, variables, classes and maps, by kind and id, and of accounts, bags and guilds, by id."""

    known: Mapping[str, Mapping[str, catalogue.CatalogueEntry]]
    accounts: Mapping[str, str] = MappingProxyType({})
    bags: Mapping[str, str] = MappingProxyType({})
    sees_accounts: bool = False  # whether the viewer may see names of accounts
    guilds: Mapping[str, str] = MappingProxyType({})
    pictures: Mapping[str, str] = MappingProxyType({})  # item → hash of its picture; only pages with slots load them

    def find_name(self, kind: str, each: str) -> str:
        """Return the name of a catalogue entry, or its id if the catalogue has no name for it."""
        entry = self.known.get(kind, {}).get(each)
        return entry.name if entry and entry.name else each


class _Sides(NamedTuple):
    """A change with the inventory of its player before and after the request, as far as it is known."""

    before: ChangeSide
    after: ChangeSide
    inventory_before: Inventory
    inventory_after: Inventory


def decode_sides(read: Callable[[bytes | str], ChangeSide], change: Recorded) -> DecodedSides:
    """Decode `before` and `after` of a change with a function of the codec."""
    return read(change.before) if change.before else NO_VALUES, read(change.after) if change.after else NO_VALUES


def count_items(*sides: ChangeSide) -> Counter[str]:
    """Count the items in all slots of the first side, without those of the second one."""
    counts: Counter[str] = Counter()
    for side, sign in zip(sides, (1, -1), strict=False):
        for stack in side.slots.values():
            if stack:
                counts[stack.item_id] += sign * stack.quantity
    return counts


async def list_differences(
    keeper: Keeper,
    changes: Sequence[Recorded],
    most: int | None = None,
    *,
    sees_accounts: bool,
    is_preview: bool = False,
    is_done: bool = False,
    decoded: Sequence[DecodedSides] | None = None,
) -> list[list[Difference]]:
    """List the differences of each change, the first `most` of each.

    `sees_accounts`: show names of accounts. `is_preview`: the changes are a dry run, so the database still holds the
    inventories that they start from. `is_done`: the changes were just made, so the database holds the inventories that
    they led to. `decoded`: the decoded sides of each change, if the caller has them.
    """
    if decoded is None:
        decoded = [decode_sides(keeper.changes.codec.decode_side, each) for each in changes]
    sides = await _read_sides(keeper, changes, decoded, is_preview=is_preview, is_done=is_done)
    traces = [trace for each in sides for trace in (each.before, each.after)]
    worn = {item for each in sides for side in (each.inventory_before, each.inventory_after) for item in side.values()}
    names = await load_names(keeper.store, traces, worn, sees_accounts=sees_accounts)
    return [list(islice(_compare(each, names), most)) for each in sides]


async def load_names(
    tx: Reading, sides: Iterable[ChangeSide], item_ids: Iterable[str | None] = (), *, sees_accounts: bool = False
) -> Names:
    """Load the names of all items, spells, accounts and other things in these changes, with one query per kind."""
    wanted: dict[str, set[str]] = {kind: set() for kind in NAMED_KINDS}
    wanted["items"].update(each for each in item_ids if each)
    owners: set[str] = set()
    owning_guilds: set[str] = set()
    for side in sides:
        wanted["items"].update([stack.item_id for stack in side.slots.values() if stack], side.sums)
        wanted["variables"].update(side.variables)
        wanted["servervariables"].update(side.server_variables)
        wanted["guildvariables"].update(variable for _, variable in side.guild_variables)
        owning_guilds.update(guild for guild, _ in side.guild_variables)
        if side.spells:
            wanted["spells"].update(spell for spell in side.spells.values() if spell)
        if "itemid" in side.catalogue:
            wanted["items"].add(str(side.catalogue["itemid"]))
        if side.player:
            for name in CATALOGUE_KINDS.keys() & side.player.keys():
                wanted[CATALOGUE_KINDS[name]].add(str(side.player[name]))
            if sees_accounts and "user_id" in side.player:
                owners.add(str(side.player["user_id"]))
    known = {kind: await catalogue.find_by_ids(tx, kind, ids) if ids else {} for kind, ids in wanted.items()}
    accounts = {each.id: each.name for each in await users.read_by_ids(tx, owners)} if owners else {}
    named = await guilds.find_names(tx, owning_guilds) if owning_guilds else {}
    return Names(known, accounts, sees_accounts=sees_accounts, guilds=named)


async def _read_sides(
    keeper: Keeper, changes: Sequence[Recorded], traces: Sequence[DecodedSides], *, is_preview: bool, is_done: bool
) -> list[_Sides]:
    """Add the inventory before and after the request to each change of equipment: it has the names of the items."""
    if not any("equipment" in side.player for sides in traces for side in sides):
        return [_Sides(*sides, {}, {}) for sides in traces]
    keys = [(each.request_id, each.player_id or "") for each in changes]
    inventories: dict[tuple[str, str], tuple[dict[int, str | None], dict[int, str | None]]] = {}
    for key, (before, after) in zip(keys, traces, strict=True):
        changes_equipment = "equipment" in before.player and "equipment" in after.player
        # reads one inventory at most: a dry run changes the equipment of one player
        if (is_preview or is_done) and changes_equipment and key not in inventories:
            stored = await items.read_slots_of_place(keeper.store, key[1], INVENTORY)
            held: dict[int, str | None] = {each.slot: each.item_id for each in stored}
            inventories[key] = (held, dict(held))
    for key, (_, after) in zip(keys, traces, strict=True):
        inventories.setdefault(key, ({}, {}))[1].update(_list_inventory(after))
    for key, (before, _) in zip(reversed(keys), reversed(traces), strict=True):  # the first change of a slot decides
        inventories[key][0].update(_list_inventory(before))
    return [_Sides(*sides, *inventories[key]) for key, sides in zip(keys, traces, strict=True)]


def _list_inventory(side: ChangeSide) -> dict[int, str | None]:
    return {slot: stack and stack.item_id for (place, slot), stack in side.slots.items() if place == INVENTORY}


def _compare(sides: _Sides, names: Names) -> Iterator[Difference]:
    """Yield one difference at a time: a list shows the first few of what may be thousands."""
    bags = _name_bags(sides, names)
    names = names._replace(bags=bags) if bags else names
    return (each for each in _pair(sides, names) if each.before != each.after)


def _pair(sides: _Sides, names: Names) -> Iterator[Difference]:
    """Yield every value of a change, before and after, even if both are equal."""
    before, after = sides.before, sides.after
    if before.player or after.player or before.user or after.user or before.catalogue or after.catalogue:
        yield from _pair_fields(sides, names)
    for bag in _list_keys(before.bags, after.bags):
        yield Difference(_name_bag(bag, names), _count_slots(before.bags.get(bag)), _count_slots(after.bags.get(bag)))
    for spot in _list_keys(before.slots, after.slots):
        was, now = before.slots.get(spot), after.slots.get(spot)
        texts = (_describe_stack(was, names), _describe_stack(now, names))
        yield _mark_difference(name_spot(spot, names), *texts, is_equal=was == now)
    for slot in _list_keys(before.spells, after.spells):
        spells = (before.spells.get(slot), after.spells.get(slot))
        was, now = (names.find_name("spells", spell) if spell else NOTHING for spell in spells)
        yield Difference(gettext("Spell slot %(slot)s", slot=slot), was, now)
    yield from _pair_values("variables", before.variables, after.variables, names)
    yield from _pair_values("servervariables", before.server_variables, after.server_variables, names)
    for guild, variable in _list_keys(before.guild_variables, after.guild_variables):
        values = (describe_value(side.guild_variables.get((guild, variable))) for side in (before, after))
        facts = {"variable": names.find_name("guildvariables", variable), "guild": names.guilds.get(guild) or guild}
        yield Difference(gettext("%(variable)s of the guild %(guild)s", **facts), *values)
    yield from _pair_values("items", before.sums, after.sums, names)


def _pair_values(kind: str, before: Mapping[str, Any], after: Mapping[str, Any], names: Names) -> Iterator[Difference]:
    for each in _list_keys(before, after):
        yield Difference(names.find_name(kind, each), describe_value(before.get(each)), describe_value(after.get(each)))


def _list_keys(before: Mapping[K, object], after: Mapping[K, object]) -> Sequence[K]:
    """Return the keys of both sides in order. Most changes have none of most kinds."""
    return sorted(before.keys() | after.keys()) if before or after else ()


def _pair_fields(sides: _Sides, names: Names) -> Iterator[Difference]:
    before, after = ({**side.player, **side.user, **side.catalogue} for side in (sides.before, sides.after))
    if "name" in after and "password" in after:  # a new account
        after["password"] = gettext("set")
    for name in dict.fromkeys([*before, *after]):
        was, now = before.get(name), after.get(name)
        if name in PARTS():
            parts = (
                _describe_parts(name, was, names, sides.inventory_before),
                _describe_parts(name, now, names, sides.inventory_after),
            )
            if name == "equipment":
                _add_slots(*parts, _zip_slots(was), _zip_slots(now))
            yield from _pair_parts(name, *parts, is_change=name in before and name in after)
        elif name not in HIDDEN and (name != "moderator" or names.sees_accounts or name not in before):
            texts = (_describe_field(name, was, names), _describe_field(name, now, names))
            yield _mark_difference(_label(name), *texts, is_equal=was == now)


def _pair_parts(
    name: str, before: Mapping[str, str], after: Mapping[str, str], *, is_change: bool
) -> Iterator[Difference]:
    """Yield a difference per part of a change; a new or deleted player has one for all parts together."""
    if is_change:
        for part in PARTS()[name]:
            yield Difference(part, before.get(part, NOTHING), after.get(part, NOTHING))
    else:
        short = dict(zip(PARTS()[name], PARTS()[SHORT_PARTS.get(name, name)], strict=True))
        texts = (", ".join(f"{short[part]}: {text}" for part, text in side.items()) for side in (before, after))
        yield Difference(_label(name), *(text or NOTHING for text in texts))


def compare_equipment(states: DecodedSides, slots: Sequence[Sequence[int]], names: Names) -> Iterator[Difference]:
    """Yield each place whose item differs between two states of a player. `slots`: the equipment of both states."""
    worn = [tuple(each) for each in slots]
    before, after = (
        _describe_parts("equipment", value, names, _list_inventory(side))
        for value, side in zip(worn, states, strict=True)
    )
    _add_slots(before, after, _zip_slots(worn[0]), _zip_slots(worn[1]))
    for each in _pair_parts("equipment", before, after, is_change=True):
        if each.before != each.after:
            yield each


def _zip_slots(value: object) -> dict[str, int]:
    return dict(
        zip(PARTS()["equipment"], cast("tuple[int, ...]", value) if isinstance(value, tuple) else (), strict=False)
    )


def _add_slots(
    before: dict[str, str], after: dict[str, str], slots_before: Mapping[str, int], slots_after: Mapping[str, int]
) -> None:
    """Add the inventory slot to both texts where one item is replaced by another with the same name."""
    for part in before.keys() & after.keys():
        if before[part] == after[part] and slots_before[part] != slots_after[part]:
            for texts, slots in ((before, slots_before), (after, slots_after)):
                texts[part] = gettext("%(item)s in slot %(slot)s", item=texts[part], slot=slots[part])


def _describe_parts(name: str, value: object, names: Names, inventory: Inventory) -> dict[str, str]:
    numbers = cast("tuple[int, ...]", value) if isinstance(value, tuple) else ()
    parts = zip(PARTS()[name], numbers, strict=False)
    if name != "equipment":
        return {part: describe_value(number) for part, number in parts}
    return {
        part: names.find_name("items", item)
        if (item := inventory.get(slot))
        else gettext("the item in inventory slot %(slot)s", slot=slot)
        for part, slot in parts
        if slot >= 0
    }


def name_spot(spot: SlotAddress, names: Names) -> str:
    place, slot = spot
    return _name_slot(PLACES().get(place) or _name_bag(place, names), slot)


@cache_texts(MOST_SLOT_NAMES)
def _name_slot(place: str, slot: int) -> str:
    return gettext("%(place)s, slot %(slot)s", place=place, slot=slot)


def _name_bag(bag: str, names: Names) -> str:
    return names.bags.get(bag) or gettext("Bag %(id)s", id=bag[:8])


def _name_bags(sides: _Sides, names: Names) -> dict[str, str]:
    """Name each bag by its item and the slot of that item; a bag in a dry run has no lasting id yet."""
    return {
        stack.bag_id: f"{names.find_name('items', stack.item_id)} ({name_spot(spot, names)})"
        for spot, stack in [*sides.before.slots.items(), *sides.after.slots.items()]
        if stack and stack.bag_id
    }


def _label(name: str) -> str:
    return LABELS().get(name) or name.replace("_", " ").capitalize()


def _mark_difference(what: str, before: str, after: str, *, is_equal: bool) -> Difference:
    """Mark values that read the same but are not equal."""
    reads_same = before == after and after != NOTHING
    return Difference(what, before, f"{after}, {CHANGED()}" if reads_same and not is_equal else after)


def _describe_stack(stack: Stack | None, names: Names) -> str:
    return (
        f"{format_number(stack.quantity)} {TIMES_SIGN} {names.find_name('items', stack.item_id)}" if stack else NOTHING
    )


def _count_slots(count: int | None) -> str:
    return NOTHING if count is None else ngettext("%(num)s slot", "%(num)s slots", count)


def _describe_field(name: str, value: object, names: Names) -> str:
    if value in (ZERO_GUID, ()):
        return NOTHING
    if name in CATALOGUE_KINDS and isinstance(value, str):
        return names.find_name(CATALOGUE_KINDS[name], value)
    if name == "user_id":
        return names.accounts.get(str(value)) or describe_value(value)
    if name in TIMES and isinstance(value, int | str):
        return format_time(value if isinstance(value, str) else format_instant(value))
    if name == "play_time_seconds" and isinstance(value, int):
        return gettext("%(hours)s h %(minutes)s min", hours=format_number(value // 3600), minutes=value % 3600 // 60)
    words = VALUES().get(name, {})
    return words[value] if isinstance(value, int | str) and value in words else describe_value(value)


def describe_value(value: object) -> str:
    if value is None or value == "":
        return NOTHING
    if isinstance(value, bool):
        return gettext("yes") if value else gettext("no")
    if isinstance(value, list):
        return ngettext("%(num)s entry", "%(num)s entries", len(cast("list[object]", value)))
    if isinstance(value, tuple):
        return ", ".join(str(each) for each in cast("tuple[object, ...]", value))
    return format_number(value) if isinstance(value, int) else str(value)


async def find_subject_name(tx: Reading, player_id: str | None, user_id: str | None) -> str:
    """Return the name of a player, else that of an account; empty if it is not stored."""
    found = await players.read_summaries(tx, {player_id}) if player_id else await users.read_by_ids(tx, {user_id or ""})
    return next((each.name for each in found), "")


class Undo(NamedTuple):
    """The change that an undo makes, and the name of the player or account that it is about."""

    before: ChangeSide
    after: ChangeSide
    names: Names
    name: str


class UndoTitle(NamedTuple):
    """What the button of an undo says, by the kind of change that the undo makes. Rooms register it: `UNDO_TITLES`."""

    kind: str
    text: str | Callable[[Undo], str]  # a text is in English; its placeholders are the name, and an account's old data
    about: str = ""  # in English, what the change is about if that is no player and no account

    def describe(self, undo: Undo) -> str:
        if not isinstance(self.text, str):
            return self.text(undo)
        former = {f"former_{key}": value for key, value in undo.after.user.items()}
        return translate(self.text) % {"name": undo.name, **former}
