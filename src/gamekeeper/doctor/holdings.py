"""Compare each player's items, spells and variables in the tables with the ledger, slot by slot."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from gamekeeper.doctor import findings
from gamekeeper.doctor.findings import ERROR, REPAIR_ADVICE, Findings
from gamekeeper.game import rows
from gamekeeper.game.codec import ChangeSide, Codec
from gamekeeper.game.inventory import BANK, INVENTORY, SlotAddress, Stack
from gamekeeper.game.player_effects import PlayerCreated, PlayerDeleted
from gamekeeper.game.values import NUMBER, STRING
from gamekeeper.store import items, ledger, player_texts, spells, variables
from gamekeeper.store.engine import Reading, Row

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
            self.slots.clear()
            self.spells.clear()
            self.variables.clear()
        self.slots.update(dict.fromkeys(before.slots))
        self.spells.update(dict.fromkeys(before.spells))
        self.variables.update(dict.fromkeys(before.variables))
        self.slots.update(after.slots)
        self.spells.update(after.spells)
        self.variables.update(after.variables)

    def describe_places(self, player_id: str) -> dict[Place, str | None]:
        """Describe the content of each slot, spell and variable that the audit log mentions; None: empty."""
        stacks = {spot: stack for spot, stack in self.slots.items() if stack}
        known = {slot: spell for slot, spell in self.spells.items() if spell}
        assigned = {each: value for each, value in self.variables.items() if value is not None}
        mentioned = [make_slot_place(*spot) for spot in self.slots]
        mentioned += [make_spell_place(slot) for slot in self.spells]
        mentioned += [make_variable_place(each) for each in self.variables]
        variables_told = rows.make_variable_rows(player_id, assigned)
        held = describe(rows.make_slot_rows(player_id, stacks), rows.make_spell_rows(player_id, known), variables_told)
        return {place: held.get(place) for place in mentioned}


async def check(
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
    known: dict[str, list[spells.KnownSpell]] = {}
    for spell in await spells.read_between(tx, first, last):
        known.setdefault(spell.player_id, []).append(spell)
    assigned: dict[str, list[variables.AssignedVariable]] = {}
    for variable in await variables.read_between(tx, first, last):
        assigned.setdefault(variable.player_id, []).append(variable)
    _check_texts(found, names, await player_texts.read_between(tx, first, last))
    for player_id, name in names.items():
        if player_id in told:
            held = describe(slots.get(player_id, ()), known.get(player_id, ()), assigned.get(player_id, ()))
            _compare(
                found, f"Player {name} ({player_id})", told[player_id].describe_places(player_id), held, told[player_id]
            )


def _check_texts(found: Findings, names: Mapping[str, str], texts: Iterable[player_texts.AssignedText]) -> None:
    """Check that variables with text and decimals can be read. An import wrote them, so the audit log has none."""
    for each in texts:
        try:
            msgspec.json.decode(each.value, type=_JSON_TYPES[each.type])
        except msgspec.DecodeError:
            who = f"Player {names.get(each.player_id, '')} ({each.player_id})"
            message = (
                f"{who}: variable {each.variable_id} is of type {each.type}, but its value is not. {REPAIR_ADVICE}"
            )
            found.add(ERROR, VARIABLES, message)


async def _replay(tx: Reading, spelling: Codec, first: str, last: str, trimmed: int) -> dict[str, LedgerHoldings]:
    told: dict[str, LedgerHoldings] = {}
    mark: Row = (first, 0)
    while page := await ledger.read_of_players_between(tx, mark, last, trimmed, findings.PAGE_ROWS):
        for player_id, _, kind, before, after in page:
            try:
                sides = [spelling.decode_side(side) if side else ChangeSide() for side in (before, after)]
            except (msgspec.DecodeError, ValueError):  # skip unreadable changes: the check of item totals reports them
                continue
            told.setdefault(player_id, LedgerHoldings()).apply(kind, *sides)
        mark = (page[-1][0], page[-1][1])
    return told


def _compare(
    found: Findings, who: str, wanted: Mapping[Place, str | None], held: Holdings, told: LedgerHoldings
) -> None:
    places = {*wanted, *(held if told.complete else ())}
    for place in sorted(places):
        there, said = held.get(place), wanted.get(place)
        if there != said:
            kind, where = place
            message = f"{who}: {where} has {there or NOTHING}; the audit log says {said or NOTHING}. {REPAIR_ADVICE}"
            found.add(ERROR, kind, message)


def describe(
    slots: Sequence[items.PlayerSlot],
    known: Sequence[spells.KnownSpell],
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
