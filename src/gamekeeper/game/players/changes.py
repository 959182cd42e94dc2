"""Changes of players (their records, items, spells and variables), and the database rows made from them."""

from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache

import msgspec
from msgspec import Struct

from gamekeeper.game.core.change import GLOBAL, PLAYERS, Attachments, Change, ChangeSide, Codec, Kind, SubjectIds
from gamekeeper.game.core.lookup import fold, make_clashing_fold
from gamekeeper.game.core.player import FIELDS, Player
from gamekeeper.game.core.values import BOOLEAN, INTEGER
from gamekeeper.game.players.inventory import InventoryChange, SlotChanges, Slots
from gamekeeper.store.audit.history import HistoryChange
from gamekeeper.store.engine.interface import Writing
from gamekeeper.store.engine.statements import as_column, as_table
from gamekeeper.store.players import items, presence, variables
from gamekeeper.store.players import players as stored_players
from gamekeeper.store.world import guilds, imports


def make_player_columns(player: Player, codec: Codec, *, clashes: bool = False) -> stored_players.PlayerColumns:
    """Make a player's row: the JSON document, and the columns that repeat some of its fields."""
    return stored_players.PlayerColumns(
        player.id,
        player.user_id,
        player.name,
        make_clashing_fold(player.name, player.id) if clashes else fold(player.name),
        player.level,
        player.exp,
        player.class_id,
        player.map_id,
        player.created_at,
        player.last_online,
        codec.encode_player(player),
        player.play_time_seconds,
    )


def make_slot_rows(player_id: str, slots: Slots) -> list[items.PlayerSlot]:
    return [
        items.PlayerSlot(
            player_id, place, slot, stack.item_id, stack.quantity, stack.bag_id, _encode_buffs(stack.buffs)
        )
        for (place, slot), stack in slots.items()
    ]


def make_spell_rows(player_id: str, known: Mapping[int, str]) -> list[stored_players.KnownSpell]:
    return [stored_players.KnownSpell(player_id, slot, spell) for slot, spell in known.items()]


def make_variable_rows(player_id: str, values: Mapping[str, int | bool]) -> list[variables.AssignedVariable]:
    return [
        variables.AssignedVariable(player_id, variable_id, BOOLEAN if isinstance(value, bool) else INTEGER, int(value))
        for variable_id, value in values.items()
    ]


@lru_cache(maxsize=1024)
def _encode_buffs(buffs: tuple[int, ...]) -> str:
    """Encode an item's buffs as JSON. The cache helps because most items have none, or those of their kind."""
    return msgspec.json.encode(buffs).decode()


def _sets(what: str) -> str:
    """Say what a game does when it reads a change of a player's items, spells or variables."""
    return f"sets the {what} to those of `After`"


GIVE, TAKE, SPELLS = frozenset({"items.give"}), frozenset({"items.take"}), frozenset({"spells.write"})
ITEMS_GIVEN = Kind("items_given", "Items given", PLAYERS, 1, needs=GIVE, reaction=_sets("slots")).name
ITEMS_TAKEN = Kind("items_taken", "Items taken", PLAYERS, 2, needs=TAKE, reaction=_sets("slots")).name
ITEMS_SET = Kind(
    "items_set", "Items changed", PLAYERS, 3, needs=GIVE | TAKE, reaction=_sets("slots"), by_undo=True
).name
ITEM_KINDS = (ITEMS_GIVEN, ITEMS_TAKEN, ITEMS_SET)


class ItemsChanged(Change, msgspec.Struct, frozen=True):
    kind: str  # one of ITEM_KINDS
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
            spots = as_table({"place": place, "slot": slot} for place, slot in emptied)
            tx.defer(items.SQL.clear_slots, self.player_id, spots)
        if outcome.removed_bags:
            tx.defer(items.SQL.delete_bags, as_column("id", outcome.removed_bags))

    def _save_bags(self, tx: Writing) -> None:
        outcome = self.outcome
        resized = {bag_id: size for bag_id, size in outcome.new_bags.items() if bag_id in outcome.resized_bags}
        _insert_bags(tx, self.player_id, {bag: size for bag, size in outcome.new_bags.items() if bag not in resized})
        if resized:
            tx.defer(items.SQL.resize_bags, as_table({"id": bag, "slot_count": size} for bag, size in resized.items()))


SPELL_TAUGHT = Kind("spell_taught", "Spell taught", PLAYERS, 4, needs=SPELLS, reaction=_sets("spells")).name
SPELL_FORGOTTEN = Kind("spell_forgotten", "Spell removed", PLAYERS, 5, needs=SPELLS, reaction=_sets("spells")).name
SPELLS_SET = Kind("spells_set", "Spells changed", PLAYERS, 6, needs=SPELLS, reaction=_sets("spells"), by_undo=True).name
SPELL_KINDS = (SPELL_TAUGHT, SPELL_FORGOTTEN, SPELLS_SET)


class SpellsChanged(Change, Struct, frozen=True):
    kind: str  # one of SPELL_KINDS
    player_id: str
    before: Mapping[int, str | None]
    after: Mapping[int, str | None]
    held_by = "spells.write"

    def whose(self) -> SubjectIds:
        return self.player_id, None

    def sides(self) -> tuple[ChangeSide, ChangeSide]:
        return ChangeSide(spells=self.before), ChangeSide(spells=self.after)

    def carry_out(self, tx: Writing, _: Codec) -> None:
        _save_spells(tx, self.player_id, {slot: spell for slot, spell in self.after.items() if spell})
        emptied = [slot for slot, spell in self.after.items() if not spell]
        if emptied:
            tx.defer(stored_players.SQL.clear_spells, self.player_id, as_column("slot", emptied))


class VariablesSet(Change, Struct, frozen=True):
    player_id: str
    before: Mapping[str, int | bool | None]
    after: Mapping[str, int | bool | None]  # variable id → its value after the change; None: the variable has no value
    kind = Kind(
        "variables_set",
        "Variables set",
        PLAYERS,
        7,
        needs={"variables.write"},
        reaction=_sets("variables"),
        by_undo=True,
    ).name
    held_by = "variables.write"

    def whose(self) -> SubjectIds:
        return self.player_id, None

    def sides(self) -> tuple[ChangeSide, ChangeSide]:
        return ChangeSide(variables=self.before), ChangeSide(variables=self.after)

    def carry_out(self, tx: Writing, _: Codec) -> None:
        _save_variables(tx, self.player_id, {each: value for each, value in self.after.items() if value is not None})
        unset = [each for each, value in self.after.items() if value is None]
        if unset:
            tx.defer(variables.SQL.clear, self.player_id, as_column("id", unset))


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


class PlayerCreated(Change, Struct, frozen=True):
    player: Player
    state: PlayerState
    kind = Kind(
        "player_created",
        "Player created",
        PLAYERS,
        8,
        needs={"players.delete"},
        reaction="loads the player when it logs in",
        by_undo=True,
    ).name

    def whose(self) -> SubjectIds:
        return self.player.id, self.player.user_id

    def sides(self) -> tuple[ChangeSide | None, ChangeSide]:
        return None, self.state.make_side(self.player)

    def carry_out(self, tx: Writing, codec: Codec) -> None:
        stored_players.insert(tx, [make_player_columns(self.player, codec)])
        _insert_bags(tx, self.player.id, self.state.bags)
        _save_slots(tx, self.player.id, self.state.slots)
        _save_spells(tx, self.player.id, self.state.spells)
        _save_variables(tx, self.player.id, self.state.variables)
        _save_attached(tx, self.player.id, self.state.attached)


def find_record_permissions(told: HistoryChange) -> frozenset[str]:
    """Return the permission for a change of a player's record: that of a rename if it set the name.

    The stored JSON has the field then, which is cheaper to find than to decode.
    """
    after = told.after or ""
    text = after if isinstance(after, str) else after.decode()
    return frozenset({"players.rename" if '"Name":' in text else "players.progress"})


class PlayerChanged(Change, Struct, frozen=True):
    """A change of the player's record: progress, position, appearance, name, owner or equipment."""

    before: Player
    after: Player
    # store the name even if it is unchanged: a player whose name was taken by another can then be found by it;
    # a report of a game server never does this
    claims_name: bool = False
    kind = Kind(
        "player_changed",
        "Player changed",
        PLAYERS,
        9,
        needs=find_record_permissions,
        reaction="sets these fields of the record",
        by_undo=True,
    ).name

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
        stored_players.update(tx, make_player_columns(self.after, codec), named=named)
        if named or self._sets("level") or self._sets("exp"):
            new_fold = fold(self.after.name) if named else None
            tx.defer(presence.SQL.update_sort_keys, self.after.id, new_fold, self.after.level, self.after.exp)

    def _sets(self, name: str) -> bool:
        return getattr(self.before, name) != getattr(self.after, name) or (self.claims_name and name == "name")


class PlayerDeleted(Change, Struct, frozen=True):
    player: Player
    state: PlayerState
    kind = Kind(
        "player_deleted",
        "Player deleted",
        PLAYERS,
        10,
        needs={"players.delete"},
        reaction="removes the player",
        by_undo=True,
    ).name
    held_by = "players.delete"

    def whose(self) -> SubjectIds:
        return self.player.id, self.player.user_id

    def sides(self) -> tuple[ChangeSide, ChangeSide | None]:
        return self.state.make_side(self.player), None

    def carry_out(self, tx: Writing, _: Codec) -> None:
        stored_players.delete(tx, self.player.id)


class PlayersLoaded(Change, Struct, frozen=True):
    """A bulk load of players. The batch is one entry of the audit log, with the totals of their items."""

    players: Sequence[tuple[Player, PlayerState]]
    taken_name_ids: Collection[str] = ()  # players whose name another player already has
    kind = Kind("players_loaded", "Players imported", GLOBAL, 6).name

    def sides(self) -> tuple[ChangeSide | None, ChangeSide]:
        sums: dict[str, int] = {}
        for _, world in self.players:
            for stack in world.slots.values():
                sums[stack.item_id] = sums.get(stack.item_id, 0) + stack.quantity
        return None, ChangeSide(catalogue={"players": len(self.players)}, sums=sums)

    def carry_out(self, tx: Writing, codec: Codec) -> None:
        clashing = self.taken_name_ids
        stored_players.load(
            tx, [make_player_columns(each, codec, clashes=each.id in clashing) for each, _ in self.players]
        )
        # plain tuples: APSW reads named ones more slowly
        owned = [(player.id, state) for player, state in self.players]
        bags = [(bag_id, own, size) for own, state in owned for bag_id, size in state.bags.items()]
        slots = [
            (own, place, slot, item_id, quantity, bag_id, _encode_buffs(buffs))
            for own, state in owned
            for (place, slot), (item_id, quantity, bag_id, buffs) in state.slots.items()
        ]
        spells = [(own, slot, spell) for own, state in owned for slot, spell in state.spells.items()]
        assigned = [
            (own, variable_id, BOOLEAN if isinstance(value, bool) else INTEGER, int(value))
            for own, state in owned
            for variable_id, value in state.variables.items()
        ]
        tx.load(items.SQL.load_bags, bags)
        tx.load(items.SQL.load_slots, slots)
        tx.load(stored_players.SQL.load_spells, spells)
        tx.load(variables.SQL.load, assigned)


def _insert_bags(tx: Writing, player_id: str, bags: Mapping[str, int]) -> None:
    if bags:
        rows = ({"id": bag_id, "player_id": player_id, "slot_count": size} for bag_id, size in bags.items())
        tx.defer(items.SQL.insert_bags, as_table(rows))


def _save_slots(tx: Writing, player_id: str, slots: Slots) -> None:
    if slots:
        items.save_slots(tx, make_slot_rows(player_id, slots))


def _save_spells(tx: Writing, player_id: str, known: Mapping[int, str]) -> None:
    if known:
        tx.defer(stored_players.SQL.save_spells, as_table(each._asdict() for each in make_spell_rows(player_id, known)))


def _save_variables(tx: Writing, player_id: str, values: Mapping[str, int | bool]) -> None:
    if values:
        tx.defer(variables.SQL.save, as_table(each._asdict() for each in make_variable_rows(player_id, values)))


def _save_attached(tx: Writing, player_id: str, attached: Attachments) -> None:
    if attached.texts:
        rows = ({"player_id": player_id, **each._asdict()} for each in attached.texts)
        tx.defer(variables.SQL.insert_texts, as_table(rows))
    if attached.membership:
        tx.defer(guilds.SQL.restore_member, *attached.membership._replace(player_id=player_id))
    if attached.leftovers:
        rows = ({**each._asdict(), "owner_id": player_id} for each in attached.leftovers)
        tx.defer(imports.SQL.insert_leftovers_of_player, as_table(rows))
