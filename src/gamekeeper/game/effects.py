"""Every kind of change: its effect on the tables and the two sides of its ledger row, from one value.

Only `changes.py` carries them out.
"""

from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar

from gamekeeper.game import rows
from gamekeeper.game.inventory import Outcome, Slots, Stack, Touched
from gamekeeper.game.lookup import fold
from gamekeeper.game.players import Player
from gamekeeper.game.spelling import Spelling, Trace
from gamekeeper.store import catalogue, items, lists, mails, players, presence, resets, spells, tokens, users, variables
from gamekeeper.store.engine import Writing

Whose = tuple[str | None, str | None]  # the player's id, the user's id


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
    after: Mapping[str, int | bool]
    kind: ClassVar[str] = "variables_set"

    def whose(self) -> Whose:
        return self.player_id, None

    def sides(self) -> tuple[Trace, Trace]:
        return Trace(variables=self.before), Trace(variables=self.after)

    def carry_out(self, tx: Writing, _: Spelling) -> None:
        _save_variables(tx, self.player_id, self.after)


@dataclass(frozen=True, slots=True)
class World:
    """All that a character has, besides its record."""

    slots: Slots = field(default_factory=dict[tuple[str, int], Stack])
    bags: Mapping[str, int] = field(default_factory=dict[str, int])
    spells: Mapping[int, str] = field(default_factory=dict[int, str])
    variables: Mapping[str, int | bool] = field(default_factory=dict[str, int | bool])

    def trace(self, player: Player) -> Trace:
        return Trace(
            player={each.name: getattr(player, each.name) for each in fields(Player)},
            slots=self.slots,
            bags=self.bags,
            spells=self.spells,
            variables=self.variables,
        )


@dataclass(frozen=True, slots=True)
class PlayerCreated:
    player: Player
    world: World
    kind: ClassVar[str] = "player_created"

    def whose(self) -> Whose:
        return self.player.id, None

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
    kind: ClassVar[str] = "player_changed"

    def whose(self) -> Whose:
        return self.after.id, None

    def sides(self) -> tuple[Trace, Trace]:
        names = [each.name for each in fields(Player) if self._differs(each.name)]
        return (
            Trace(player={name: getattr(self.before, name) for name in names}),
            Trace(player={name: getattr(self.after, name) for name in names}),
        )

    def carry_out(self, tx: Writing, spelling: Spelling) -> None:
        players.update(tx, rows.columns(self.after, spelling))
        if self._differs("name"):
            presence.rename(tx, self.after.id, fold(self.after.name))

    def _differs(self, name: str) -> bool:
        return getattr(self.before, name) != getattr(self.after, name)


@dataclass(frozen=True, slots=True)
class PlayerDeleted:
    player: Player
    world: World
    kind: ClassVar[str] = "player_deleted"

    def whose(self) -> Whose:
        return self.player.id, None

    def sides(self) -> tuple[Trace, Trace | None]:
        return self.world.trace(self.player), None

    def carry_out(self, tx: Writing, _: Spelling) -> None:
        players.delete(tx, self.player.id)


@dataclass(frozen=True, slots=True)
class PlayersLoaded:
    """Many characters at once: one ledger row for the batch, with the sums of what they hold."""

    loaded: Sequence[tuple[Player, World]]
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
        players.load(tx, [rows.columns(player, spelling) for player, _ in self.loaded])
        items.load_bags(tx, [row for player_id, world in held for row in rows.bag_rows(player_id, world.bags)])
        items.load_slots(tx, [row for player_id, world in held for row in rows.slot_rows(player_id, world.slots)])
        spells.load(tx, [row for player_id, world in held for row in rows.spell_rows(player_id, world.spells)])
        assigned = [row for player_id, world in held for row in rows.variable_rows(player_id, world.variables)]
        variables.load(tx, assigned)


@dataclass(frozen=True, slots=True)
class _OfUser:
    user: users.User  # as it was

    def whose(self) -> Whose:
        return None, self.user.id


@dataclass(frozen=True, slots=True)
class UserRegistered(_OfUser):
    kind: ClassVar[str] = "user_registered"

    def sides(self) -> tuple[Trace | None, Trace]:
        known = {"name": self.user.name, "email": self.user.email, "password": "changed"}
        return None, Trace(user=known | _held(self.user.powers))

    def carry_out(self, tx: Writing, _: Spelling) -> None:
        users.insert(tx, [rows.user_columns(self.user)])


@dataclass(frozen=True, slots=True)
class UsersLoaded:
    """Many accounts at once: one ledger row for the batch."""

    loaded: Sequence[users.User]
    created_at: int
    kind: ClassVar[str] = "users_loaded"

    def whose(self) -> Whose:
        return None, None

    def sides(self) -> tuple[Trace | None, Trace]:
        return None, Trace(catalogue={"users": len(self.loaded)})

    def carry_out(self, tx: Writing, _: Spelling) -> None:
        users.load(tx, [rows.user_columns(user) for user in self.loaded], self.created_at)


@dataclass(frozen=True, slots=True)
class EmailChanged(_OfUser):
    email: str
    kind: ClassVar[str] = "email_changed"

    def sides(self) -> tuple[Trace, Trace]:
        return Trace(user={"email": self.user.email}), Trace(user={"email": self.email})

    def carry_out(self, tx: Writing, _: Spelling) -> None:
        users.set_email(tx, self.user.id, self.email, fold(self.email))
        resets.forget(tx, self.user.id)


@dataclass(frozen=True, slots=True)
class PasswordChanged(_OfUser):
    """A new password ends all that the old one opened: tokens and reset codes."""

    password: str
    kind: ClassVar[str] = "password_changed"

    def sides(self) -> tuple[Trace | None, Trace]:
        return None, Trace(user={"password": "changed"})

    def carry_out(self, tx: Writing, _: Spelling) -> None:
        users.set_password(tx, self.user.id, self.password)
        tokens.revoke_of_user(tx, self.user.id)
        resets.forget(tx, self.user.id)


@dataclass(frozen=True, slots=True)
class PowersChanged(_OfUser):
    powers: users.Powers
    kind: ClassVar[str] = "powers_changed"

    def sides(self) -> tuple[Trace, Trace]:
        return Trace(user=_held(self.user.powers)), Trace(user=_held(self.powers))

    def carry_out(self, tx: Writing, _: Spelling) -> None:
        users.set_powers(tx, self.user.id, self.powers)


@dataclass(frozen=True, slots=True)
class UserMuted(_OfUser):
    reason: str
    ends_at: int | None = None
    kind: ClassVar[str] = "user_muted"

    def sides(self) -> tuple[Trace, Trace]:
        return Trace(user={"mute_reason": self.user.mute_reason}), Trace(user={"mute_reason": self.reason})

    def carry_out(self, tx: Writing, _: Spelling) -> None:
        users.save_mute(tx, self.user.id, self.reason, self.ends_at)


@dataclass(frozen=True, slots=True)
class ResetRequested(_OfUser):
    """The code itself is in no ledger."""

    code: str
    tries: int
    life_ms: int
    mail_id: str
    caller_id: str
    kind: ClassVar[str] = "reset_requested"

    def sides(self) -> tuple[Trace | None, Trace]:
        return None, Trace(user={"reset_code": "changed"})

    def carry_out(self, tx: Writing, _: Spelling) -> None:
        resets.save(tx, self.user.id, self.code, self.tries, self.life_ms, self.mail_id)
        mails.queue(tx, self.mail_id, self.user.id, self.caller_id, self.user.email, self.life_ms)


@dataclass(frozen=True, slots=True)
class CataloguePut:
    of: str
    before: Sequence[catalogue.Entry]
    after: Sequence[catalogue.Entry]
    kind: ClassVar[str] = "catalogue_put"

    def whose(self) -> Whose:
        return None, None

    def sides(self) -> tuple[Trace, Trace]:
        return Trace(catalogue={self.of: self.before}), Trace(catalogue={self.of: self.after})

    def carry_out(self, tx: Writing, _: Spelling) -> None:
        catalogue.save(tx, self.of, self.after)


@dataclass(frozen=True, slots=True)
class Untraced:
    """Who is online and who holds a token are not changes: effects without a ledger row."""

    effect: Callable[[Writing], Coroutine[Any, Any, None]]


# around the changes of a bulk load: what it writes goes past the lists' log
UNLISTED, LISTED = Untraced(lists.load_unlisted), Untraced(lists.resume)
# before the first batch of one into an empty world
UNINDEXED = Untraced(players.drop_indexes)


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
    | EmailChanged
    | PasswordChanged
    | PowersChanged
    | UserMuted
    | ResetRequested
    | CataloguePut
)


def _held(powers: users.Powers) -> dict[str, object]:
    return dict(powers._asdict())


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
