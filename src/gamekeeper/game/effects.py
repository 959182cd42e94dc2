"""Every kind of change: its effect on the tables and the two sides of its ledger row, from one value.

Only `changes.py` carries them out.
"""

from collections.abc import Callable, Collection, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from gamekeeper.game import rows
from gamekeeper.game.account_effects import (
    EmailChanged,
    GameTold,
    MailRetried,
    PasswordChanged,
    PowersChanged,
    ResetRequested,
    UserBanned,
    UserDeleted,
    UserMuted,
    UserRegistered,
    UserRenamed,
    UsersLoaded,
    UserUnbanned,
    UserUnmuted,
)
from gamekeeper.game.inventory import Outcome, Slots, Stack, Touched
from gamekeeper.game.lookup import fold
from gamekeeper.game.players import FIELDS, Player
from gamekeeper.game.spelling import Spelling, Trace, Whose
from gamekeeper.store import (
    catalogue,
    indexes,
    items,
    ledger,
    lists,
    players,
    presence,
    spells,
    variables,
)
from gamekeeper.store.engine import Writing


@dataclass(frozen=True, slots=True)
class ItemsChanged:
    kind: str  # items_given, items_taken, items_set
    player_id: str
    slots: Slots  # as they were
    outcome: Outcome

    def whose(self) -> Whose:
        return self.player_id, None

    def sides(self) -> tuple[Trace, Trace]:
        before: Touched = {spot: self.slots.get(spot) for spot in self.outcome.touched}
        return (
            Trace(slots=before, bags=self.outcome.lost_bags | self.outcome.resized_bags),
            Trace(slots=self.outcome.touched, bags=self.outcome.new_bags),
        )

    def carry_out(self, tx: Writing, _: Spelling) -> None:
        outcome = self.outcome
        resized = {bag_id: size for bag_id, size in outcome.new_bags.items() if bag_id in outcome.resized_bags}
        _insert_bags(tx, self.player_id, {bag: size for bag, size in outcome.new_bags.items() if bag not in resized})
        if resized:
            items.resize_bags(tx, rows.bag_rows(self.player_id, resized))
        _save_slots(tx, self.player_id, {spot: stack for spot, stack in outcome.touched.items() if stack})
        emptied = [spot for spot, stack in outcome.touched.items() if not stack and spot in self.slots]
        if emptied:
            items.clear_slots(tx, self.player_id, emptied)
        if outcome.lost_bags:
            items.delete_bags(tx, outcome.lost_bags)


@dataclass(frozen=True, slots=True)
class SpellsChanged:
    kind: str  # spell_taught, spell_forgotten, spells_set
    player_id: str
    before: Mapping[int, str | None]
    after: Mapping[int, str | None]

    def whose(self) -> Whose:
        return self.player_id, None

    def sides(self) -> tuple[Trace, Trace]:
        return Trace(spells=self.before), Trace(spells=self.after)

    def carry_out(self, tx: Writing, _: Spelling) -> None:
        _save_spells(tx, self.player_id, {slot: spell for slot, spell in self.after.items() if spell})
        emptied = [slot for slot, spell in self.after.items() if not spell]
        if emptied:
            spells.clear(tx, self.player_id, emptied)


@dataclass(frozen=True, slots=True)
class VariablesSet:
    player_id: str
    before: Mapping[str, int | bool | None]
    after: Mapping[str, int | bool | None]  # None: never set
    kind: ClassVar[str] = "variables_set"

    def whose(self) -> Whose:
        return self.player_id, None

    def sides(self) -> tuple[Trace, Trace]:
        return Trace(variables=self.before), Trace(variables=self.after)

    def carry_out(self, tx: Writing, _: Spelling) -> None:
        _save_variables(tx, self.player_id, {each: value for each, value in self.after.items() if value is not None})
        unset = [each for each, value in self.after.items() if value is None]
        if unset:
            variables.clear(tx, self.player_id, unset)


@dataclass(frozen=True, slots=True)
class World:
    """All that a character has, besides its record."""

    slots: Slots = field(default_factory=dict[tuple[str, int], Stack])
    bags: Mapping[str, int] = field(default_factory=dict[str, int])
    spells: Mapping[int, str] = field(default_factory=dict[int, str])
    variables: Mapping[str, int | bool] = field(default_factory=dict[str, int | bool])

    def trace(self, player: Player) -> Trace:
        return Trace(
            player={name: getattr(player, name) for name in FIELDS},
            slots=self.slots,
            bags=self.bags,
            spells=self.spells,
            variables=self.variables,
            unknown=player.unknown,
        )


@dataclass(frozen=True, slots=True)
class PlayerCreated:
    player: Player
    world: World
    kind: ClassVar[str] = "player_created"

    def whose(self) -> Whose:
        return self.player.id, self.player.user_id

    def sides(self) -> tuple[Trace | None, Trace]:
        return None, self.world.trace(self.player)

    def carry_out(self, tx: Writing, spelling: Spelling) -> None:
        players.insert(tx, [rows.columns(self.player, spelling)])
        _insert_bags(tx, self.player.id, self.world.bags)
        _save_slots(tx, self.player.id, self.world.slots)
        _save_spells(tx, self.player.id, self.world.spells)
        _save_variables(tx, self.player.id, self.world.variables)


@dataclass(frozen=True, slots=True)
class PlayerChanged:
    """Anything in the record: progress, place, looks, name, owner, equipment."""

    before: Player
    after: Player
    named: bool = False  # it is given its name, be it the same: who shared it with another is found by it now
    kind: ClassVar[str] = "player_changed"

    def whose(self) -> Whose:
        return self.after.id, self.after.user_id if self._sets("user_id") else None

    def sides(self) -> tuple[Trace, Trace]:
        names = [name for name in FIELDS if self._sets(name)]
        return (
            Trace(player={name: getattr(self.before, name) for name in names}),
            Trace(player={name: getattr(self.after, name) for name in names}),
        )

    def carry_out(self, tx: Writing, spelling: Spelling) -> None:
        named = self._sets("name")
        players.update(tx, rows.columns(self.after, spelling), named=named)
        if named or self._sets("level") or self._sets("exp"):
            new_fold = fold(self.after.name) if named else None
            presence.update_sort_keys(tx, self.after.id, new_fold, self.after.level, self.after.exp)

    def _sets(self, name: str) -> bool:
        return getattr(self.before, name) != getattr(self.after, name) or (self.named and name == "name")


@dataclass(frozen=True, slots=True)
class PlayerDeleted:
    player: Player
    world: World
    kind: ClassVar[str] = "player_deleted"

    def whose(self) -> Whose:
        return self.player.id, self.player.user_id

    def sides(self) -> tuple[Trace, Trace | None]:
        return self.world.trace(self.player), None

    def carry_out(self, tx: Writing, _: Spelling) -> None:
        players.delete(tx, self.player.id)


@dataclass(frozen=True, slots=True)
class PlayersLoaded:
    """Many characters at once: one ledger row for the batch, with the sums of what they hold."""

    loaded: Sequence[tuple[Player, World]]
    clashing: Collection[str] = ()  # ids of those whose name is another's
    kind: ClassVar[str] = "players_loaded"

    def whose(self) -> Whose:
        return None, None

    def sides(self) -> tuple[Trace | None, Trace]:
        sums: dict[str, int] = {}
        for _, world in self.loaded:
            for stack in world.slots.values():
                sums[stack.item_id] = sums.get(stack.item_id, 0) + stack.quantity
        return None, Trace(catalogue={"players": len(self.loaded)}, sums=sums)

    def carry_out(self, tx: Writing, spelling: Spelling) -> None:
        held = [(player.id, world) for player, world in self.loaded]
        clashing = self.clashing
        players.load(tx, [rows.columns(each, spelling, clashes=each.id in clashing) for each, _ in self.loaded])
        items.load_bags(tx, [row for player_id, world in held for row in rows.bag_rows(player_id, world.bags)])
        items.load_slots(tx, [row for player_id, world in held for row in rows.slot_values(player_id, world.slots)])
        spells.load(tx, [row for player_id, world in held for row in rows.spell_rows(player_id, world.spells)])
        assigned = [row for player_id, world in held for row in rows.variable_rows(player_id, world.variables)]
        variables.load(tx, assigned)


@dataclass(frozen=True, slots=True)
class CataloguePut:
    of: str
    before: Sequence[catalogue.CatalogueEntry]
    after: Sequence[catalogue.CatalogueEntry]
    kind: ClassVar[str] = "catalogue_put"

    def whose(self) -> Whose:
        return None, None

    def sides(self) -> tuple[Trace, Trace]:
        return Trace(catalogue={self.of: self.before}), Trace(catalogue={self.of: self.after})

    def carry_out(self, tx: Writing, _: Spelling) -> None:
        catalogue.save(tx, self.of, self.after)


@dataclass(frozen=True, slots=True)
class LedgerTrimmed:
    """Old rows thrown away: this one carries on what they brought in, so that the ledger still adds up."""

    upto: int
    numbers: Sequence[int]
    sums: Mapping[str, int]
    kind: ClassVar[str] = "ledger_trimmed"

    def whose(self) -> Whose:
        return None, None

    def sides(self) -> tuple[Trace | None, Trace]:
        return None, Trace(catalogue={"upto": self.upto, "rows": len(self.numbers)}, sums=self.sums)

    def carry_out(self, tx: Writing, _: Spelling) -> None:
        ledger.delete(tx, self.numbers)
        ledger.set_trimmed(tx, self.upto)


@dataclass(frozen=True, slots=True)
class Untraced:
    """Who is online and who holds a token are not changes: effects without a ledger row."""

    effect: Callable[[Writing], Coroutine[Any, Any, None]]


# around the changes of a bulk load: what it writes goes past the lists' log
UNLISTED, LISTED = Untraced(lists.begin_bulk_load), Untraced(lists.end_bulk_load)
# before the first batch of one into an empty world
UNINDEXED = Untraced(indexes.drop)


Change = (
    ItemsChanged
    | SpellsChanged
    | VariablesSet
    | PlayerCreated
    | PlayerChanged
    | PlayerDeleted
    | PlayersLoaded
    | UserRegistered
    | UsersLoaded
    | UserRenamed
    | UserDeleted
    | EmailChanged
    | PasswordChanged
    | PowersChanged
    | UserBanned
    | UserMuted
    | UserUnbanned
    | UserUnmuted
    | GameTold
    | ResetRequested
    | MailRetried
    | CataloguePut
    | LedgerTrimmed
)


def _insert_bags(tx: Writing, player_id: str, bags: Mapping[str, int]) -> None:
    if bags:
        items.insert_bags(tx, rows.bag_rows(player_id, bags))


def _save_slots(tx: Writing, player_id: str, slots: Slots) -> None:
    if slots:
        items.save_slots(tx, rows.slot_rows(player_id, slots))


def _save_spells(tx: Writing, player_id: str, known: Mapping[int, str]) -> None:
    if known:
        spells.save(tx, rows.spell_rows(player_id, known))


def _save_variables(tx: Writing, player_id: str, values: Mapping[str, int | bool]) -> None:
    if values:
        variables.save(tx, rows.variable_rows(player_id, values))
