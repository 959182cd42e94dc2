"""Changes of players: their records, items, spells and variables."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import msgspec

from gamekeeper.game import rows
from gamekeeper.game.codec import Attachments, ChangeSide, Codec, SubjectIds
from gamekeeper.game.inventory import InventoryChange, SlotChanges, Slots
from gamekeeper.game.lookup import fold
from gamekeeper.game.players import FIELDS, Player
from gamekeeper.store import (
    guilds,
    items,
    leftovers,
    player_texts,
    players,
    presence,
    spells,
    variables,
)
from gamekeeper.store.engine import Writing


class ItemsChanged(msgspec.Struct, frozen=True):
    kind: str  # kind of the change in the audit log: items_given, items_taken, items_set
    player_id: str
    slots: Slots  # the player's slots before the change
    outcome: InventoryChange

    def whose(self) -> SubjectIds:
        return self.player_id, None

    def sides(self) -> tuple[ChangeSide, ChangeSide]:
        before: SlotChanges = {spot: self.slots.get(spot) for spot in self.outcome.changed_slots}
        return (
            ChangeSide(slots=before, bags=self.outcome.removed_bags | self.outcome.resized_bags),
            ChangeSide(slots=self.outcome.changed_slots, bags=self.outcome.new_bags),
        )

    def carry_out(self, tx: Writing, _: Codec) -> None:
        outcome = self.outcome
        if outcome.new_bags:
            self._save_bags(tx)
        _save_slots(tx, self.player_id, {spot: stack for spot, stack in outcome.changed_slots.items() if stack})
        emptied = [spot for spot, stack in outcome.changed_slots.items() if not stack and spot in self.slots]
        if emptied:
            items.clear_slots(tx, self.player_id, emptied)
        if outcome.removed_bags:
            items.delete_bags(tx, outcome.removed_bags)

    def _save_bags(self, tx: Writing) -> None:
        outcome = self.outcome
        resized = {bag_id: size for bag_id, size in outcome.new_bags.items() if bag_id in outcome.resized_bags}
        _insert_bags(tx, self.player_id, {bag: size for bag, size in outcome.new_bags.items() if bag not in resized})
        if resized:
            items.resize_bags(tx, rows.make_bag_rows(self.player_id, resized))


@dataclass(frozen=True, slots=True)
class SpellsChanged:
    kind: str  # kind of the change in the audit log: spell_taught, spell_forgotten, spells_set
    player_id: str
    before: Mapping[int, str | None]
    after: Mapping[int, str | None]

    def whose(self) -> SubjectIds:
        return self.player_id, None

    def sides(self) -> tuple[ChangeSide, ChangeSide]:
        return ChangeSide(spells=self.before), ChangeSide(spells=self.after)

    def carry_out(self, tx: Writing, _: Codec) -> None:
        _save_spells(tx, self.player_id, {slot: spell for slot, spell in self.after.items() if spell})
        emptied = [slot for slot, spell in self.after.items() if not spell]
        if emptied:
            spells.clear(tx, self.player_id, emptied)


@dataclass(frozen=True, slots=True)
class VariablesSet:
    player_id: str
    before: Mapping[str, int | bool | None]
    after: Mapping[str, int | bool | None]  # variable id → its value after the change; None: the variable has no value
    kind = "variables_set"

    def whose(self) -> SubjectIds:
        return self.player_id, None

    def sides(self) -> tuple[ChangeSide, ChangeSide]:
        return ChangeSide(variables=self.before), ChangeSide(variables=self.after)

    def carry_out(self, tx: Writing, _: Codec) -> None:
        _save_variables(tx, self.player_id, {each: value for each, value in self.after.items() if value is not None})
        unset = [each for each, value in self.after.items() if value is None]
        if unset:
            variables.clear(tx, self.player_id, unset)


class PlayerState(msgspec.Struct, frozen=True, gc=False):
    """A player's items, bags, spells and variables: everything except its record."""

    slots: Slots = {}
    bags: Mapping[str, int] = {}
    spells: Mapping[int, str] = {}
    variables: Mapping[str, int | bool] = {}
    attached: Attachments = Attachments()  # read only for a deletion

    def make_side(self, player: Player) -> ChangeSide:
        return ChangeSide(
            player={name: getattr(player, name) for name in FIELDS},
            slots=self.slots,
            bags=self.bags,
            spells=self.spells,
            variables=self.variables,
            attached=self.attached,
            unknown=player.unknown,
        )


@dataclass(frozen=True, slots=True)
class PlayerCreated:
    player: Player
    state: PlayerState
    kind = "player_created"

    def whose(self) -> SubjectIds:
        return self.player.id, self.player.user_id

    def sides(self) -> tuple[ChangeSide | None, ChangeSide]:
        return None, self.state.make_side(self.player)

    def carry_out(self, tx: Writing, codec: Codec) -> None:
        players.insert(tx, [rows.make_player_columns(self.player, codec)])
        _insert_bags(tx, self.player.id, self.state.bags)
        _save_slots(tx, self.player.id, self.state.slots)
        _save_spells(tx, self.player.id, self.state.spells)
        _save_variables(tx, self.player.id, self.state.variables)
        _save_attached(tx, self.player.id, self.state.attached)


@dataclass(frozen=True, slots=True)
class PlayerChanged:
    """A change of the player's record: progress, position, appearance, name, owner or equipment."""

    before: Player
    after: Player
    # store the name even if it is unchanged: a player whose name was taken by another can then be found by it
    claims_name: bool = False
    kind = "player_changed"

    def whose(self) -> SubjectIds:
        return self.after.id, self.after.user_id if self._sets("user_id") else None

    def sides(self) -> tuple[ChangeSide, ChangeSide]:
        names = [name for name in FIELDS if self._sets(name)]
        return (
            ChangeSide(player={name: getattr(self.before, name) for name in names}),
            ChangeSide(player={name: getattr(self.after, name) for name in names}),
        )

    def carry_out(self, tx: Writing, codec: Codec) -> None:
        named = self._sets("name")
        players.update(tx, rows.make_player_columns(self.after, codec), named=named)
        if named or self._sets("level") or self._sets("exp"):
            new_fold = fold(self.after.name) if named else None
            presence.update_sort_keys(tx, self.after.id, new_fold, self.after.level, self.after.exp)

    def _sets(self, name: str) -> bool:
        return getattr(self.before, name) != getattr(self.after, name) or (self.claims_name and name == "name")


@dataclass(frozen=True, slots=True)
class PlayerDeleted:
    player: Player
    state: PlayerState
    kind = "player_deleted"

    def whose(self) -> SubjectIds:
        return self.player.id, self.player.user_id

    def sides(self) -> tuple[ChangeSide, ChangeSide | None]:
        return self.state.make_side(self.player), None

    def carry_out(self, tx: Writing, _: Codec) -> None:
        players.delete(tx, self.player.id)


@dataclass(frozen=True, slots=True)
class PlayersLoaded:
    """A bulk load of players. The batch is one entry of the audit log, with the totals of their items."""

    players: Sequence[tuple[Player, PlayerState]]
    taken_name_ids: Collection[str] = ()  # players whose name another player already has
    kind = "players_loaded"

    def whose(self) -> SubjectIds:
        return None, None

    def sides(self) -> tuple[ChangeSide | None, ChangeSide]:
        sums: dict[str, int] = {}
        for _, world in self.players:
            for stack in world.slots.values():
                sums[stack.item_id] = sums.get(stack.item_id, 0) + stack.quantity
        return None, ChangeSide(catalogue={"players": len(self.players)}, sums=sums)

    def carry_out(self, tx: Writing, codec: Codec) -> None:
        clashing = self.taken_name_ids
        players.load(
            tx, [rows.make_player_columns(each, codec, clashes=each.id in clashing) for each, _ in self.players]
        )
        items.load_bags(tx, rows.list_bag_values((player.id, state.bags) for player, state in self.players))
        items.load_slots(tx, rows.list_slot_values((player.id, state.slots) for player, state in self.players))
        spells.load(tx, rows.list_spell_values((player.id, state.spells) for player, state in self.players))
        variables.load(tx, rows.list_variable_values((player.id, state.variables) for player, state in self.players))


def _insert_bags(tx: Writing, player_id: str, bags: Mapping[str, int]) -> None:
    if bags:
        items.insert_bags(tx, rows.make_bag_rows(player_id, bags))


def _save_slots(tx: Writing, player_id: str, slots: Slots) -> None:
    if slots:
        items.save_slots(tx, rows.make_slot_rows(player_id, slots))


def _save_spells(tx: Writing, player_id: str, known: Mapping[int, str]) -> None:
    if known:
        spells.save(tx, rows.make_spell_rows(player_id, known))


def _save_variables(tx: Writing, player_id: str, values: Mapping[str, int | bool]) -> None:
    if values:
        variables.save(tx, rows.make_variable_rows(player_id, values))


def _save_attached(tx: Writing, player_id: str, attached: Attachments) -> None:
    if attached.texts:
        player_texts.insert(tx, player_id, attached.texts)
    if attached.membership:
        guilds.restore_member(tx, attached.membership._replace(player_id=player_id))
    if attached.leftovers:
        leftovers.insert_of_player(tx, [each._replace(owner_id=player_id) for each in attached.leftovers])
