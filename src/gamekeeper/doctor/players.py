"""The doctor's checks of players: document and columns, bags, and items, spells and variables by the audit log."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import msgspec

from gamekeeper.doctor import findings
from gamekeeper.doctor.findings import Check, Examination, Findings
from gamekeeper.game.core.change import ChangeSide, Codec
from gamekeeper.game.core.lookup import ZERO_GUID, make_clashing_fold
from gamekeeper.game.core.player import BANK, INVENTORY, Player, SlotAddress, Stack
from gamekeeper.game.core.values import NUMBER, STRING
from gamekeeper.game.players import changes
from gamekeeper.game.players.changes import PlayerCreated, PlayerDeleted, make_player_columns
from gamekeeper.store.core import ledger
from gamekeeper.store.engine.interface import Reading, Row
from gamekeeper.store.players import items, players, variables


async def check_bags(it: Examination) -> None:
    for bag_id, player_id, count in await items.find_stray_bags(it.tx):
        it.found.error("bags", f"Bag {bag_id} of player {player_id} is in {count} slots instead of one.")
    for player_id, place, slot in await it.tx.all(items.SQL.orphan_slots):
        what = f"Slot {slot} of player {player_id} lies in bag {place}, which that player does not have."
        it.found.error("bags", what)


def check_cycles(player_id: str, slots: Iterable[items.PlayerSlot], found: Findings) -> None:
    """Find bags that contain themselves: they cannot be reached from the inventory or the bank."""
    inside = {each.bag_id: each.place for each in slots if each.bag_id}
    for bag_id, place in inside.items():
        outer, seen = place, set[str]()
        while outer in inside and outer not in seen and outer != bag_id:
            seen.add(outer)
            outer = inside[outer]
        if outer == bag_id:
            found.error("bags", f"Bag {bag_id} of player {player_id} lies inside itself.")


async def check_slot_numbers(it: Examination) -> None:
    """Report items in slots beyond the configured sizes. They are not lost, but an operator should know."""
    tx, settings = it.tx, it.keeper.settings
    beyond = [
        (count, f"{place} slots", f"{place}_slots")
        for place, count in await tx.all(items.SQL.count_slots_beyond, settings.inventory_slots, settings.bank_slots)
    ]
    spells = await tx.value(players.SQL.count_spells_beyond, settings.spell_slots)
    beyond.append((spells, "known spells", "spell_slots"))
    for count, what, setting in beyond:
        if count:
            message = f"{count} {what} are beyond the setting {setting} = {getattr(settings, setting)}."
            it.found.note("sizes", message, "Raise it, or have the game move them.")


R = TypeVar("R", items.PlayerSlot, players.KnownSpell, variables.AssignedVariable)
SLOTS, SPELLS, VARIABLES = "slots", "spells", "variables"
_JSON_TYPES = {STRING: str, NUMBER: float}  # type of a variable → type of its value in JSON
NOTHING = "nothing"
# a slot, spell or variable of a player: name of the doctor's check, and description for people
Place = tuple[str, str]
Holdings = dict[Place, str]  # place (slot, spell or variable) → description of its content; empty places are left out


@dataclass(slots=True)
class LedgerHoldings:
    """A player's items, spells and variables according to the ledger.

    They are complete if the ledger has all changes since the player's creation: then a place that no change mentions
    is empty. After trimmed changes or a bulk load, only the mentioned places are known.
    """

    complete: bool = False
    slots: dict[SlotAddress, Stack | None] = field(default_factory=dict[SlotAddress, Stack | None])
    spells: dict[int, str | None] = field(default_factory=dict[int, str | None])
    variables: dict[str, int | bool | None] = field(default_factory=dict[str, int | bool | None])

    def apply(self, kind: str, before: ChangeSide, after: ChangeSide) -> None:
        if kind in {PlayerCreated.kind, PlayerDeleted.kind}:
            self.complete = True
            for mentioned in (self.slots, self.spells, self.variables):
                mentioned.clear()
        self.slots |= {**dict.fromkeys(before.slots), **after.slots}
        self.spells |= {**dict.fromkeys(before.spells), **after.spells}
        self.variables |= {**dict.fromkeys(before.variables), **after.variables}

    def describe_places(self, player_id: str) -> dict[Place, str | None]:
        """Describe the content of each slot, spell and variable that the audit log mentions; None: empty."""
        stacks = {spot: stack for spot, stack in self.slots.items() if stack}
        known = {slot: spell for slot, spell in self.spells.items() if spell}
        assigned = {each: value for each, value in self.variables.items() if value is not None}
        mentioned = [make_slot_place(*spot) for spot in self.slots]
        mentioned += [make_spell_place(slot) for slot in self.spells]
        mentioned += [make_variable_place(each) for each in self.variables]
        variables_told = changes.make_variable_rows(player_id, assigned)
        held = describe_holdings(
            changes.make_slot_rows(player_id, stacks), changes.make_spell_rows(player_id, known), variables_told
        )
        return {place: held.get(place) for place in mentioned}


async def check_holdings(
    tx: Reading,
    found: Findings,
    spelling: Codec,
    names: Mapping[str, str],
    slots: Mapping[str, Sequence[items.PlayerSlot]],
    trimmed: int,
) -> None:
    """Compare the items, spells and variables of a page of players (id → name, sorted by id) with the audit log."""
    first, last = min(names), max(names)
    told = await _replay(tx, spelling, first, last, trimmed)
    known = _group_by_player(await tx.rows(players.KnownSpell, players.SQL.spells_between, first, last))
    assigned = _group_by_player(await tx.rows(variables.AssignedVariable, variables.SQL.between, first, last))
    _check_texts(found, names, await variables.read_texts_between(tx, first, last))
    for player_id, name in names.items():
        if player_id in told:
            held = describe_holdings(slots.get(player_id, ()), known.get(player_id, ()), assigned.get(player_id, ()))
            _compare_holdings(
                found, f"Player {name} ({player_id})", told[player_id].describe_places(player_id), held, told[player_id]
            )


def _group_by_player(rows: Iterable[R]) -> dict[str, list[R]]:
    grouped: dict[str, list[R]] = {}
    for row in rows:
        grouped.setdefault(row.player_id, []).append(row)
    return grouped


def _check_texts(found: Findings, names: Mapping[str, str], texts: Iterable[variables.AssignedText]) -> None:
    """Check that variables with text and decimals can be read. An import wrote them, so the audit log has none."""
    for each in texts:
        try:
            msgspec.json.decode(each.value, type=_JSON_TYPES[each.type])
        except msgspec.DecodeError:
            who = f"Player {names.get(each.player_id, '')} ({each.player_id})"
            found.error(VARIABLES, f"{who}: variable {each.variable_id} is of type {each.type}, but its value is not.")


async def _replay(tx: Reading, spelling: Codec, first: str, last: str, trimmed: int) -> dict[str, LedgerHoldings]:
    told: dict[str, LedgerHoldings] = {}
    mark: Row = (first, 0)
    while page := await tx.all(ledger.SQL.of_players_between, *mark, last, trimmed, findings.PAGE_ROWS):
        for player_id, _, kind, before, after in page:
            try:
                sides = [spelling.decode_side(side) if side else ChangeSide() for side in (before, after)]
            except (msgspec.DecodeError, ValueError):  # skip unreadable changes: the check of item totals reports them
                continue
            told.setdefault(player_id, LedgerHoldings()).apply(kind, *sides)
        mark = (page[-1][0], page[-1][1])
    return told


def _compare_holdings(
    found: Findings, who: str, wanted: Mapping[Place, str | None], held: Holdings, told: LedgerHoldings
) -> None:
    places = {*wanted, *(held if told.complete else ())}
    for place in sorted(places):
        there, said = held.get(place), wanted.get(place)
        if there != said:
            kind, where = place
            found.error(kind, f"{who}: {where} has {there or NOTHING}; the audit log says {said or NOTHING}.")


def describe_holdings(
    slots: Sequence[items.PlayerSlot],
    known: Sequence[players.KnownSpell],
    assigned: Sequence[variables.AssignedVariable],
) -> Holdings:
    held = {make_slot_place(each.place, each.slot): _describe_slot(each) for each in slots}
    held |= {make_spell_place(each.slot): f"spell {each.spell_id}" for each in known}
    return held | {make_variable_place(each.variable_id): f"{each.type} {each.value}" for each in assigned}


def make_slot_place(place: str, slot: int) -> Place:
    return SLOTS, f"{place} slot {slot}" if place in {INVENTORY, BANK} else f"slot {slot} of bag {place}"


def make_spell_place(slot: int) -> Place:
    return SPELLS, f"spell slot {slot}"


def make_variable_place(variable_id: str) -> Place:
    return VARIABLES, f"variable {variable_id}"


def _describe_slot(slot: items.PlayerSlot) -> str:
    bag = f" (bag {slot.bag_id})" if slot.bag_id else ""
    return f"{slot.quantity} of item {slot.item_id}{bag} with stat buffs {slot.buffs.replace(' ', '')}"


COMPARED = ("id", "user_id", "name", "fold", "level", "exp", "class_id", "map_id", "created_at", "play_time")
_fields = msgspec.json.Decoder(dict[str, msgspec.Raw])
NAME = COMPARED.index("name")


async def check(it: Examination) -> None:
    tx, found, spelling = it.tx, it.found, it.codec
    total, done, last = await players.count(tx), 0, ZERO_GUID
    trimmed = (await ledger.read_state(tx)).trimmed
    while page := await tx.all(players.SQL.columns_after, last, findings.PAGE_ROWS):
        slots = _group_by_player(await tx.rows(items.PlayerSlot, items.SQL.slots_between, page[0][0], page[-1][0]))
        for row in page:
            player, held = _read_document(row, found, spelling), slots.get(row[0], [])
            if player:
                _check_columns(row, player, found, spelling)
                _check_equipment(player, {each.slot for each in held if each.place == INVENTORY}, found)
            check_cycles(row[0], held, found)
        await check_holdings(tx, found, spelling, {row[0]: row[NAME] for row in page}, slots, trimmed)
        last, done = page[-1][0], done + len(page)
        it.progress("players", done, total)


def _read_document(row: Row, found: Findings, spelling: Codec) -> Player | None:
    try:
        return spelling.decode_player(row[-1], None)
    except (msgspec.DecodeError, ValueError) as error:
        found.error("documents", f"The document of player {row[0]} cannot be read: {error}.")
        return None


def _check_columns(row: Row, player: Player, found: Findings, spelling: Codec) -> None:
    clashes = row[COMPARED.index("fold")] == make_clashing_fold(player.name, player.id)
    wanted = make_player_columns(player, spelling, clashes=clashes)
    differing = [name for name, value in zip(COMPARED, row, strict=False) if value != getattr(wanted, name)]
    if not _is_part(row[-1], wanted.document):
        differing.append("document")
    if differing:
        what = f"the stored document and the columns differ in {', '.join(differing)}."
        found.error("documents", f"Player {player.name} ({row[0]}): {what}")


def _is_part(stored: bytes, whole: bytes) -> bool:
    """Return whether a player's stored fields equal those we would write; older versions wrote fewer fields."""
    fields = _fields.decode(stored)
    return msgspec.json.encode(fields) == stored and fields.items() <= _fields.decode(whole).items()


def _check_equipment(player: Player, filled: set[int], found: Findings) -> None:
    empty = [slot for slot in player.equipment if slot >= 0 and slot not in filled]
    if empty:
        slots = ", ".join(str(slot) for slot in empty)
        message = f"Player {player.name} ({player.id}) has equipped inventory slot {slots}, which is empty."
        advice = f"Have the game report the Equipment again: PUT /api/link/v1/players/{player.id}"
        found.error("equipment", message, advice)


CHECKS = (
    Check(20, ("documents", "equipment", "bags", SLOTS, SPELLS, VARIABLES), check),
    Check(70, ("bags",), check_bags),
    Check(100, ("sizes",), check_slot_numbers),
)
