"""Every kind of change: its effect on the tables and the two sides of its ledger row, from one value.

Only `changes.py` carries them out.
"""

from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import msgspec

from gamekeeper.game.inventory import Outcome, Slots, Stack, Touched
from gamekeeper.game.lookup import fold
from gamekeeper.game.players import Player
from gamekeeper.game.spelling import Spelling, Trace
from gamekeeper.store import catalogue, items, players, presence, resets, spells, tokens, users, variables
from gamekeeper.store.engine import Writing

BOOLEAN, INTEGER = "Boolean", "Integer"


@dataclass(frozen=True, slots=True)
class ItemsChanged:
    kind: str  # items_given, items_taken, items_set
    player_id: str
    slots: Slots  # as they were
    outcome: Outcome

    def sides(self) -> tuple[Trace, Trace]:
        before: Touched = {spot: self.slots.get(spot) for spot in self.outcome.touched}
        return (
            Trace(slots=before, bags=self.outcome.lost_bags),
            Trace(slots=self.outcome.touched, bags=self.outcome.new_bags),
        )

    def carry_out(self, tx: Writing, _: Spelling) -> None:
        outcome = self.outcome
        _save_bags(tx, self.player_id, outcome.new_bags)
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
    kind: str = "variables_set"

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
    kind: str = "player_created"

    @property
    def player_id(self) -> str:
        return self.player.id

    def sides(self) -> tuple[Trace | None, Trace]:
        return None, self.world.trace(self.player)

    def carry_out(self, tx: Writing, spelling: Spelling) -> None:
        players.insert(tx, [columns(self.player, spelling)])
        _save_bags(tx, self.player.id, self.world.bags)
        _save_slots(tx, self.player.id, self.world.slots)
        _save_spells(tx, self.player.id, self.world.spells)
        _save_variables(tx, self.player.id, self.world.variables)


@dataclass(frozen=True, slots=True)
class PlayerChanged:
    """Anything in the record: progress, place, looks, name, owner, equipment."""

    before: Player
    after: Player
    kind: str = "player_changed"

    @property
    def player_id(self) -> str:
        return self.after.id

    def sides(self) -> tuple[Trace, Trace]:
        names = [each.name for each in fields(Player) if self._differs(each.name)]
        return (
            Trace(player={name: getattr(self.before, name) for name in names}),
            Trace(player={name: getattr(self.after, name) for name in names}),
        )

    def carry_out(self, tx: Writing, spelling: Spelling) -> None:
        players.update(tx, columns(self.after, spelling))
        if self._differs("name"):
            presence.rename(tx, self.after.id, fold(self.after.name))

    def _differs(self, name: str) -> bool:
        return getattr(self.before, name) != getattr(self.after, name)


@dataclass(frozen=True, slots=True)
class PlayerDeleted:
    player: Player
    world: World
    kind: str = "player_deleted"

    @property
    def player_id(self) -> str:
        return self.player.id

    def sides(self) -> tuple[Trace, Trace | None]:
        return self.world.trace(self.player), None

    def carry_out(self, tx: Writing, _: Spelling) -> None:
        players.delete(tx, self.player.id)


@dataclass(frozen=True, slots=True)
class PlayersLoaded:
    """Many characters at once: one ledger row for the batch, with the sums of what they hold."""

    loaded: Sequence[tuple[Player, World]]
    kind: str = "players_loaded"
    player_id: None = None

    def sides(self) -> tuple[Trace | None, Trace]:
        sums: dict[str, int] = {}
        for _, world in self.loaded:
            for stack in world.slots.values():
                sums[stack.item_id] = sums.get(stack.item_id, 0) + stack.quantity
        return None, Trace(catalogue={"players": len(self.loaded)}, sums=sums)

    def carry_out(self, tx: Writing, spelling: Spelling) -> None:
        players.insert(tx, [columns(player, spelling) for player, _ in self.loaded])
        items.save_bags(tx, [row for player, world in self.loaded for row in _bag_rows(player.id, world.bags)])
        items.save_slots(tx, [row for player, world in self.loaded for row in _slot_rows(player.id, world.slots)])
        spells.save(tx, [row for player, world in self.loaded for row in _spell_rows(player.id, world.spells)])
        rows = [row for player, world in self.loaded for row in _variable_rows(player.id, world.variables)]
        variables.save(tx, rows)


@dataclass(frozen=True, slots=True)
class UserRegistered:
    user: users.User
    kind: str = "user_registered"
    player_id: None = None

    @property
    def user_id(self) -> str:
        return self.user.id

    def sides(self) -> tuple[Trace | None, Trace]:
        known = {"name": self.user.name, "email": self.user.email, "password": "changed"}
        return None, Trace(user=known | _held(self.user.powers))

    def carry_out(self, tx: Writing, _: Spelling) -> None:
        users.insert(tx, [user_row(self.user)])


@dataclass(frozen=True, slots=True)
class UsersLoaded:
    """Many accounts at once: one ledger row for the batch."""

    loaded: Sequence[users.User]
    kind: str = "users_loaded"
    player_id: None = None

    def sides(self) -> tuple[Trace | None, Trace]:
        return None, Trace(catalogue={"users": len(self.loaded)})

    def carry_out(self, tx: Writing, _: Spelling) -> None:
        users.insert(tx, [user_row(user) for user in self.loaded])


@dataclass(frozen=True, slots=True)
class EmailChanged:
    user: users.User
    email: str
    kind: str = "email_changed"
    player_id: None = None

    @property
    def user_id(self) -> str:
        return self.user.id

    def sides(self) -> tuple[Trace, Trace]:
        return Trace(user={"email": self.user.email}), Trace(user={"email": self.email})

    def carry_out(self, tx: Writing, _: Spelling) -> None:
        users.set_email(tx, self.user.id, self.email, fold(self.email))
        resets.forget(tx, self.user.id)


@dataclass(frozen=True, slots=True)
class PasswordChanged:
    """A new password ends all that the old one opened: tokens and reset codes."""

    user: users.User
    password: str
    kind: str = "password_changed"
    player_id: None = None

    @property
    def user_id(self) -> str:
        return self.user.id

    def sides(self) -> tuple[Trace | None, Trace]:
        return None, Trace(user={"password": "changed"})

    def carry_out(self, tx: Writing, _: Spelling) -> None:
        users.set_password(tx, self.user.id, self.password)
        tokens.revoke_of_user(tx, self.user.id)
        resets.forget(tx, self.user.id)


@dataclass(frozen=True, slots=True)
class PowersChanged:
    user: users.User
    powers: users.Powers
    kind: str = "powers_changed"
    player_id: None = None

    @property
    def user_id(self) -> str:
        return self.user.id

    def sides(self) -> tuple[Trace, Trace]:
        return Trace(user=_held(self.user.powers)), Trace(user=_held(self.powers))

    def carry_out(self, tx: Writing, _: Spelling) -> None:
        users.set_powers(tx, self.user.id, self.powers)


@dataclass(frozen=True, slots=True)
class UserMuted:
    user: users.User
    reason: str
    ends_at: int | None = None
    kind: str = "user_muted"
    player_id: None = None

    @property
    def user_id(self) -> str:
        return self.user.id

    def sides(self) -> tuple[Trace, Trace]:
        return Trace(user={"mute_reason": self.user.mute_reason}), Trace(user={"mute_reason": self.reason})

    def carry_out(self, tx: Writing, _: Spelling) -> None:
        users.save_mute(tx, self.user.id, self.reason, self.ends_at)


@dataclass(frozen=True, slots=True)
class ResetRequested:
    """The code itself is in no ledger."""

    user: users.User
    code: str
    tries: int
    life_ms: int
    mail_id: str
    kind: str = "reset_requested"
    player_id: None = None

    @property
    def user_id(self) -> str:
        return self.user.id

    def sides(self) -> tuple[Trace | None, Trace]:
        return None, Trace(user={"reset_code": "changed"})

    def carry_out(self, tx: Writing, _: Spelling) -> None:
        resets.save(tx, self.user.id, self.code, self.tries, self.life_ms)
        resets.queue_mail(tx, self.mail_id, self.user.id, self.life_ms)


@dataclass(frozen=True, slots=True)
class CataloguePut:
    of: str
    before: Sequence[catalogue.Entry]
    after: Sequence[catalogue.Entry]
    kind: str = "catalogue_put"
    player_id: None = None

    def sides(self) -> tuple[Trace, Trace]:
        return Trace(catalogue={self.of: self.before}), Trace(catalogue={self.of: self.after})

    def carry_out(self, tx: Writing, _: Spelling) -> None:
        catalogue.save(tx, self.of, self.after)


@dataclass(frozen=True, slots=True)
class Untraced:
    """Who is online and who holds a token are not changes: effects without a ledger row."""

    effect: Callable[[Writing], Coroutine[Any, Any, None]]


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


def columns(player: Player, spelling: Spelling) -> players.Columns:
    """What is stored of a player: the one place where the document and the columns beside it are made."""
    return players.Columns(
        id=player.id,
        user_id=player.user_id,
        name=player.name,
        fold=fold(player.name),
        level=player.level,
        exp=player.exp,
        class_id=player.class_id,
        map_id=player.map_id,
        created_at=player.created_at,
        last_online=player.last_online,
        document=spelling.player_document(player),
    )


def user_row(user: users.User) -> dict[str, object]:
    known: dict[str, object] = {"id": user.id, "name": user.name, "fold": fold(user.name), "email": user.email}
    return known | {"email_fold": fold(user.email), "password": user.password} | user.powers._asdict()


def _held(powers: users.Powers) -> dict[str, object]:
    return dict(powers._asdict())


def _bag_rows(player_id: str, bags: Mapping[str, int]) -> list[dict[str, object]]:
    return [{"id": bag_id, "player_id": player_id, "slot_count": count} for bag_id, count in bags.items()]


def _slot_rows(player_id: str, slots: Slots) -> list[dict[str, object]]:
    return [
        {
            "player_id": player_id,
            "place": place,
            "slot": slot,
            "item_id": stack.item_id,
            "quantity": stack.quantity,
            "bag_id": stack.bag_id,
            "buffs": msgspec.json.encode(stack.buffs).decode(),
        }
        for (place, slot), stack in slots.items()
    ]


def _spell_rows(player_id: str, known: Mapping[int, str]) -> list[dict[str, object]]:
    return [{"player_id": player_id, "slot": slot, "spell_id": spell} for slot, spell in known.items()]


def _variable_rows(player_id: str, values: Mapping[str, int | bool]) -> list[dict[str, object]]:
    return [
        {
            "player_id": player_id,
            "variable_id": variable_id,
            "type": BOOLEAN if isinstance(value, bool) else INTEGER,
            "value": int(value),
        }
        for variable_id, value in values.items()
    ]


def _save_bags(tx: Writing, player_id: str, bags: Mapping[str, int]) -> None:
    if bags:
        items.save_bags(tx, _bag_rows(player_id, bags))


def _save_slots(tx: Writing, player_id: str, slots: Slots) -> None:
    if slots:
        items.save_slots(tx, _slot_rows(player_id, slots))


def _save_spells(tx: Writing, player_id: str, known: Mapping[int, str]) -> None:
    if known:
        spells.save(tx, _spell_rows(player_id, known))


def _save_variables(tx: Writing, player_id: str, values: Mapping[str, int | bool]) -> None:
    if values:
        variables.save(tx, _variable_rows(player_id, values))
