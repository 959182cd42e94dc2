"""Makes database rows from the values of the rules. No other module does that."""

from collections.abc import Iterable, Mapping
from functools import lru_cache

import msgspec

from gamekeeper.game.codec import Codec
from gamekeeper.game.inventory import Slots
from gamekeeper.game.lookup import fold, make_clashing_fold
from gamekeeper.game.players import Player
from gamekeeper.game.values import BOOLEAN, INTEGER
from gamekeeper.store import items, players, spells, users, variables
from gamekeeper.store.engine import Row


def make_player_columns(player: Player, codec: Codec, *, clashes: bool = False) -> players.PlayerColumns:
    """Make a player's row: the JSON document, and the columns that repeat some of its fields."""
    return players.PlayerColumns(
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


def make_user_columns(user: users.User, *, clashes: bool = False, unaddressed: bool = False) -> users.UserColumns:
    """Make an account's row. `unaddressed`: the email is invalid or taken, so the account is not found by it."""
    by_name = make_clashing_fold(user.name, user.id) if clashes else fold(user.name)
    by_email = make_clashing_fold("", user.id) if unaddressed else fold(user.email)
    return users.UserColumns(user.id, user.name, by_name, user.email, by_email, user.password, *user.powers)


def make_bag_rows(player_id: str, bags: Mapping[str, int]) -> list[items.PlayerBag]:
    return [items.PlayerBag(bag_id, player_id, count) for bag_id, count in bags.items()]


def make_slot_rows(player_id: str, slots: Slots) -> list[items.PlayerSlot]:
    return [
        items.PlayerSlot(
            player_id, place, slot, stack.item_id, stack.quantity, stack.bag_id, _encode_buffs(stack.buffs)
        )
        for (place, slot), stack in slots.items()
    ]


def make_spell_rows(player_id: str, known: Mapping[int, str]) -> list[spells.KnownSpell]:
    return [spells.KnownSpell(player_id, slot, spell) for slot, spell in known.items()]


def make_variable_rows(player_id: str, values: Mapping[str, int | bool]) -> list[variables.AssignedVariable]:
    return [
        variables.AssignedVariable(player_id, variable_id, BOOLEAN if isinstance(value, bool) else INTEGER, int(value))
        for variable_id, value in values.items()
    ]


# The rows of a bulk load, for many players at once. They are plain tuples: APSW reads named ones more slowly.


def list_bag_values(owned: Iterable[tuple[str, Mapping[str, int]]]) -> list[Row]:
    return [(bag_id, player_id, count) for player_id, bags in owned for bag_id, count in bags.items()]


def list_slot_values(owned: Iterable[tuple[str, Slots]]) -> list[Row]:
    return [
        (player_id, place, slot, item_id, quantity, bag_id, _encode_buffs(buffs))
        for player_id, slots in owned
        for (place, slot), (item_id, quantity, bag_id, buffs) in slots.items()
    ]


def list_spell_values(owned: Iterable[tuple[str, Mapping[int, str]]]) -> list[Row]:
    return [(player_id, slot, spell) for player_id, known in owned for slot, spell in known.items()]


def list_variable_values(owned: Iterable[tuple[str, Mapping[str, int | bool]]]) -> list[Row]:
    return [
        (player_id, variable_id, BOOLEAN if isinstance(value, bool) else INTEGER, int(value))
        for player_id, values in owned
        for variable_id, value in values.items()
    ]


@lru_cache(maxsize=1024)
def _encode_buffs(buffs: tuple[int, ...]) -> str:
    """Encode an item's buffs as JSON. The cache helps because most items have none, or those of their kind."""
    return msgspec.json.encode(buffs).decode()
