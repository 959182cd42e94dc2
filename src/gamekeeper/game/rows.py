"""What is stored of the rules' values: the one place where rows are made of them."""

from collections.abc import Mapping

import msgspec

from gamekeeper.game.inventory import Slots
from gamekeeper.game.lookup import fold
from gamekeeper.game.players import Player
from gamekeeper.game.spelling import Spelling
from gamekeeper.store import players, users

BOOLEAN, INTEGER = "Boolean", "Integer"  # a variable's type


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


def bag_rows(player_id: str, bags: Mapping[str, int]) -> list[dict[str, object]]:
    return [{"id": bag_id, "player_id": player_id, "slot_count": count} for bag_id, count in bags.items()]


def slot_rows(player_id: str, slots: Slots) -> list[dict[str, object]]:
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


def spell_rows(player_id: str, known: Mapping[int, str]) -> list[dict[str, object]]:
    return [{"player_id": player_id, "slot": slot, "spell_id": spell} for slot, spell in known.items()]


def variable_rows(player_id: str, values: Mapping[str, int | bool]) -> list[dict[str, object]]:
    return [
        {
            "player_id": player_id,
            "variable_id": variable_id,
            "type": BOOLEAN if isinstance(value, bool) else INTEGER,
            "value": int(value),
        }
        for variable_id, value in values.items()
    ]
