"""Reports of game servers about a player: a whole new player, or only what changed."""

from collections.abc import Callable, Iterable, Mapping
from typing import cast

from msgspec import Struct, field
from msgspec.structs import replace

from gamekeeper.game.core import lookup, values
from gamekeeper.game.core.change import Change, Codec, Unlogged
from gamekeeper.game.core.player import BANK, INVENTORY, Capacity, Player, SlotAddress, Stack, unequip_slots
from gamekeeper.game.core.refusals import (
    BadField,
    ChangesTrimmed,
    CursorAhead,
    MissingField,
    NoSuchBag,
    NoSuchItem,
    NoSuchPlayer,
    NoSuchVariable,
    SlotOutOfRange,
    SpellAlreadyKnown,
    StackTooLarge,
    UnappliedChanges,
    WrongVariableType,
)
from gamekeeper.game.core.writes import Decision
from gamekeeper.game.players import items, player_edits, presence, variables
from gamekeeper.game.players.changes import (
    ItemsChanged,
    PlayerChanged,
    PlayerCreated,
    PlayerState,
    SpellsChanged,
    VariablesSet,
)
from gamekeeper.game.players.inventory import (
    InventoryChange,
    SlotChanges,
    Slots,
    apply_slot_changes,
    find_reachable_bags,
    find_stack_limit,
    read_capacity,
)
from gamekeeper.ground.settings import Settings
from gamekeeper.store.core import ledger
from gamekeeper.store.engine import clock
from gamekeeper.store.engine.interface import Reading
from gamekeeper.store.players import items as item_rows
from gamekeeper.store.players import players
from gamekeeper.store.players.players import StoredPlayer
from gamekeeper.store.world import catalogue, feed

MAX_UNAPPLIED = 100


class PlayerReport(Struct, frozen=True):
    """A game server's report about a player: fields of the record, slots, bags, spells and variables."""

    fields: Mapping[str, object] = field(default_factory=dict[str, object])  # attribute of Player → reported value
    slots: SlotChanges = field(default_factory=dict[SlotAddress, Stack | None])
    bags: Mapping[str, int] = field(default_factory=dict[str, int])
    spells: Mapping[int, str | None] = field(default_factory=dict[int, str | None])
    variables: Mapping[str, int | bool] = field(default_factory=dict[str, int | bool])
    applied: int | None = None  # number of the last change to this player that the game server has applied


async def put_player(
    tx: Reading,
    player_id: str,
    report: PlayerReport,
    settings: Settings,
    codec: Codec,
    account_id: str,
    note_bag: Callable[[str], None] | None = None,
) -> Decision[StoredPlayer]:
    """Decide what a report changes. `note_bag` is called with a bag in it that another player has: it is refused."""
    if player_id == lookup.ZERO_GUID:
        raise NoSuchPlayer(by="id", key=player_id)
    locked = await players.lock_by_id(tx, player_id)
    await _require_applied(tx, player_id, report.applied, account_id)
    old = codec.decode_player(locked.document, locked.last_online) if locked else None
    new = await _merge_player(tx, player_id, old, report, settings)
    world = await player_edits.load_state(tx, player_id) if old else PlayerState()
    outcome = await _plan_items(tx, world, report, read_capacity(settings), note_bag)
    if "equipment" in report.fields:
        _check_equipment(new, apply_slot_changes(world.slots, outcome.changed_slots))
    await _check_spells(tx, world.spells, report, settings.spell_slots)
    await _check_variables(tx, world, report)
    if old is None:
        known = {slot: spell for slot, spell in report.spells.items() if spell}
        whole = PlayerState(apply_slot_changes({}, outcome.changed_slots), outcome.new_bags, known, report.variables)
        return Decision([PlayerCreated(new, whole)], await player_edits.build_record(tx, new, codec))
    if "equipment" not in report.fields:
        emptied = {slot for (place, slot), stack in outcome.changed_slots.items() if place == INVENTORY and not stack}
        new = replace(new, equipment=unequip_slots(new, emptied))
    changes: list[Change | Unlogged] = [*_list_changes(old, new, world, outcome, report)]
    if report.applied is not None:
        changes.insert(0, presence.make_receipt(player_id, report.applied))
    return Decision(changes, await player_edits.build_record(tx, new, codec), subject=(player_id, None))


async def _require_applied(tx: Reading, player_id: str, applied: int | None, account_id: str) -> None:
    """Refuse a report if the game server has not applied all changes of the player, which is locked meanwhile."""
    if applied is None:
        return
    newer = await tx.rows(feed.FeedRow, feed.SQL.of_player, player_id, applied, account_id, MAX_UNAPPLIED)
    _, last, trimmed = await ledger.read_state(tx)
    # `newer` may have gaps: a trim of the audit log keeps a player's newest change, but not those before it
    if newer and applied < trimmed:
        raise ChangesTrimmed(trimmed=trimmed)
    if newer:
        raise UnappliedChanges(newer, newer[-1].seq)
    if applied > last:
        raise CursorAhead(last=last)


def _list_changes(
    old: Player, new: Player, world: PlayerState, outcome: InventoryChange, report: PlayerReport
) -> list[Change]:
    changes: list[Change] = []
    if new != old:
        changes.append(PlayerChanged(old, new))
    if outcome.changed_slots or outcome.new_bags or outcome.removed_bags:
        changes.append(ItemsChanged("items_set", old.id, world.slots, outcome))
    learnt = {slot: spell for slot, spell in report.spells.items() if world.spells.get(slot) != spell}
    if learnt:
        before = {slot: world.spells.get(slot) for slot in learnt}
        changes.append(SpellsChanged("spells_set", old.id, before, learnt))
    was = world.variables
    assigned = {each: new for each, new in report.variables.items() if not values.is_same_value(was.get(each), new)}
    if assigned:
        changes.append(VariablesSet(old.id, {each: was.get(each) for each in assigned}, assigned))
    return changes


async def _merge_player(
    tx: Reading, player_id: str, old: Player | None, report: PlayerReport, settings: Settings
) -> Player:
    name, user_id = cast("str | None", report.fields.get("name")), cast("str | None", report.fields.get("user_id"))
    if old is None and name is None:
        raise MissingField(field="Name")
    if old is None and user_id is None:
        raise MissingField(field="UserId")
    if name is not None and (old is None or name != old.name):
        values.require_name(name, "Name", settings)
        await player_edits.require_free_name(tx, name, player_id)
    if user_id is not None and (old is None or user_id != old.user_id):
        await lookup.find_user(tx, user_id)
    given = dict(report.fields)
    if old is not None:
        # ignore a reported last_online: presence sets it, perhaps after the game server read the record
        given.pop("last_online", None)
    else:
        given.setdefault("created_at", await clock.now(tx))
    blank = old or Player(player_id, "", "")
    return replace(blank, **given)  # pyright: ignore[reportArgumentType] - the wire's types are those of Player


async def _plan_items(
    tx: Reading, world: PlayerState, report: PlayerReport, room: Capacity, note_bag: Callable[[str], None] | None
) -> InventoryChange:
    """Work out a report's change of items: create bags for bag items, and remove bags that are in no slot any more."""
    if lookup.ZERO_GUID in report.bags:
        raise NoSuchBag(id=lookup.ZERO_GUID)
    claimed = {stack.bag_id for stack in report.slots.values() if stack and stack.bag_id}
    for bag_id in sorted((claimed | report.bags.keys()) - world.bags.keys()):
        await _refuse_bag_of_other(tx, bag_id, report, note_bag)
    stated = _skip_unchanged_slots(report.slots, world.slots)
    kinds = await _load_items(tx, {stack.item_id for stack in stated.values() if stack})
    new_bags = {bag_id: size for bag_id, size in report.bags.items() if world.bags.get(bag_id) != size}
    touched: SlotChanges = {}
    for spot, stack in stated.items():
        settled = stack and _assign_bag(stack, kinds[stack.item_id], world.slots.get(spot), new_bags)
        if settled != world.slots.get(spot):
            touched[spot] = settled
    bags = {**world.bags, **new_bags}
    _check_slots(stated, kinds, bags, room)
    occupied = apply_slot_changes(world.slots, touched)
    _check_shrunk(occupied, new_bags)
    held = find_reachable_bags(occupied, bags)
    for bag_id in report.bags:
        if bag_id not in held:
            raise BadField(field="Bags", problem=f"has bag '{bag_id}', which is in no slot")
    lost = {bag_id: size for bag_id, size in world.bags.items() if bag_id not in held}
    touched |= {spot: None for spot in world.slots if spot[0] in lost}
    resized = {bag_id: world.bags[bag_id] for bag_id in new_bags if bag_id in world.bags}
    return InventoryChange(touched, new_bags, lost, resized)


def _skip_unchanged_slots(reported: SlotChanges, held: Slots) -> SlotChanges:
    """Skip reported slots whose content is unchanged: they may violate a newer catalogue or smaller sizes."""
    last: dict[str, int] = {}
    for place, slot in held:
        last[place] = max(slot, last.get(place, -1))
    return {
        (place, slot): stack
        for (place, slot), stack in reported.items()
        if stack != held.get((place, slot)) or slot > last.get(place, -1)
    }


async def _load_items(tx: Reading, ids: set[str]) -> dict[str, catalogue.CatalogueItem]:
    found = {each: entry for each, entry in (await catalogue.find_by_ids(tx, "items", ids)).items() if ids}
    if len(found) < len(ids) and await catalogue.has_items(tx):
        raise NoSuchItem
    anything = {each: items.make_uncatalogued_item(each) for each in ids}
    return cast("dict[str, catalogue.CatalogueItem]", {**anything, **found})


async def _refuse_bag_of_other(
    tx: Reading, bag_id: str, report: PlayerReport, note_bag: Callable[[str], None] | None
) -> None:
    """Refuse the list of a report's bags if another player has one. `_check_slots` refuses a slot with such a bag."""
    if await item_rows.find_bag(tx, bag_id):
        if note_bag:
            note_bag(bag_id)
        if bag_id in report.bags:
            raise BadField(field="Bags", problem=f"has bag '{bag_id}', which belongs to another player")


def _assign_bag(stack: Stack, item: catalogue.CatalogueItem, was: Stack | None, new_bags: dict[str, int]) -> Stack:
    """Give a reported bag item its bag: the reported one, the one it had, or a new one."""
    if not item.bag_slots or stack.bag_id:
        return stack
    if was and was.item_id == stack.item_id and was.bag_id:
        return stack._replace(bag_id=was.bag_id)
    bag_id = lookup.new_guid()
    new_bags[bag_id] = item.bag_slots
    return stack._replace(bag_id=bag_id)


def _check_slots(
    slots: SlotChanges, kinds: Mapping[str, catalogue.CatalogueItem], bags: Mapping[str, int], room: Capacity
) -> None:
    for (place, slot), stack in slots.items():
        size = room.count_slots(place) if place in (INVENTORY, BANK) else bags.get(place)
        if size is None:
            raise NoSuchBag(id=place)
        if slot >= size:
            raise SlotOutOfRange(slot=slot, place=place, size=size)
        if stack is None:
            continue
        most = 1 if stack.bag_id else find_stack_limit(kinds[stack.item_id], room)
        if stack.quantity > most:
            raise StackTooLarge(slot=slot, most=most, item=stack.item_id)
        if stack.bag_id and stack.bag_id not in bags:
            raise NoSuchBag(id=stack.bag_id)


def _check_shrunk(occupied: Slots, sizes: Mapping[str, int]) -> None:
    for place, slot in occupied:
        if slot >= sizes.get(place, slot + 1):
            raise SlotOutOfRange(slot=slot, place=place, size=sizes[place])


async def _check_spells(tx: Reading, known: Mapping[int, str], report: PlayerReport, size: int) -> None:
    for slot, spell_id in report.spells.items():
        if slot >= size:
            raise SlotOutOfRange(slot=slot, place="spells", size=size)
        if spell_id:
            await player_edits.require_spell(tx, spell_id)
    merged = [spell for spell in {**known, **report.spells}.values() if spell]
    if len(set(merged)) < len(merged):
        raise SpellAlreadyKnown


async def _check_variables(tx: Reading, world: PlayerState, report: PlayerReport) -> None:
    declared = await _load_declared_types(tx, report.variables)
    for variable_id, value in report.variables.items():
        was = world.variables.get(variable_id)
        variables.require_settable(variable_id, declared.get(variable_id))
        wanted = declared.get(variable_id) or (was is not None and values.find_type(was))
        if wanted and wanted != values.find_type(value):
            raise WrongVariableType(variable=variable_id, type=wanted)


async def _load_declared_types(tx: Reading, ids: Iterable[str]) -> dict[str, str]:
    """Load the types of variables in one query. While the catalogue has no variables, any id is accepted."""
    wanted = set(ids)
    if lookup.ZERO_GUID in wanted:
        raise NoSuchVariable
    found = await catalogue.find_by_ids(tx, "variables", wanted) if wanted else {}
    if len(found) < len(wanted) and await catalogue.has_variables(tx):
        raise NoSuchVariable
    return {each.id: each.type for each in found.values() if isinstance(each, catalogue.CatalogueVariable)}


def _check_equipment(new: Player, occupied: Slots) -> None:
    for slot in new.equipment:
        if slot >= 0 and (INVENTORY, slot) not in occupied:
            raise BadField(field="Equipment", problem=f"names inventory slot {slot}, which is empty")
