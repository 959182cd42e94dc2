"""Changes of a player that the API and game servers share: rename, set level, set class, delete."""

from msgspec.structs import replace

from gamekeeper.game import items, lookup, variables
from gamekeeper.game.changes import Decision
from gamekeeper.game.codec import Attachments, Codec
from gamekeeper.game.player_effects import PlayerChanged, PlayerDeleted, PlayerState
from gamekeeper.game.players import Player
from gamekeeper.game.refusals import BadField, NameTaken, NoSuchClass, PlayerOnline
from gamekeeper.settings import Settings
from gamekeeper.store import catalogue, guilds, leftovers, player_texts, players, presence
from gamekeeper.store import items as item_rows
from gamekeeper.store import spells as spell_rows
from gamekeeper.store import variables as variable_rows
from gamekeeper.store.engine import Locking, Reading
from gamekeeper.store.players import StoredPlayer


def require_level(level: int, settings: Settings) -> int:
    if level > settings.max_level:
        raise BadField(field="level", problem=f"must be a whole number from 1 to {settings.max_level}")
    return level


async def require_free_name(tx: Reading, name: str, player_id: str) -> bool:
    """Refuse a name that another player has. Return True if this player has the name, perhaps in another case."""
    owner = await players.find_id_by_fold(tx, lookup.fold(name))
    if owner not in (None, player_id):
        raise NameTaken(name=name)
    return owner == player_id


async def rename(tx: Locking, key: str, name: str, codec: Codec) -> Decision[StoredPlayer]:
    """Rename a player, also while it is online: the game server reads the change in the feed."""
    before = await _lock_player(tx, key, codec)
    found_by_it = await require_free_name(tx, name, before.id)
    if found_by_it and name == before.name:
        return Decision([], await build_record(tx, before, codec), subject=(before.id, None))
    after = replace(before, name=name)
    return Decision([PlayerChanged(before, after, claims_name=True)], await build_record(tx, after, codec))


async def set_level(tx: Locking, key: str, level: int, codec: Codec) -> Decision[StoredPlayer]:
    """Set a player's level, and the experience to 0."""
    before = await _lock_player(tx, key, codec)
    return await _decide_change(tx, before, replace(before, level=level, exp=0), codec)


async def set_class(tx: Locking, key: str, class_id: str, codec: Codec) -> Decision[StoredPlayer]:
    """Set a player's class. While the catalogue has no classes, any id is accepted."""
    before = await _lock_player(tx, key, codec)
    known = await catalogue.find_by_ids(tx, "classes", [class_id])
    if class_id == lookup.ZERO_GUID or (not known and await catalogue.has_classes(tx)):
        raise NoSuchClass
    return await _decide_change(tx, before, replace(before, class_id=class_id), codec)


async def delete(tx: Locking, key: str, codec: Codec) -> Decision[StoredPlayer]:
    record, change = await plan_deletion(tx, key, codec)
    return Decision([change], record)


async def plan_deletion(tx: Locking, key: str, codec: Codec) -> tuple[StoredPlayer, PlayerDeleted]:
    """Return the player's record, and the change that deletes the player with all its items."""
    locked = await lookup.lock_player(tx, key)
    record = await lookup.find_player_record(tx, locked.id)
    if record.online:
        raise PlayerOnline
    player = codec.decode_player(locked.document, locked.last_online)
    state = replace(await load_state(tx, player.id), attached=await _load_attached(tx, player.id))
    return record, PlayerDeleted(player, state)


async def _load_attached(tx: Reading, player_id: str) -> Attachments:
    texts = await player_texts.read_of_player(tx, player_id)
    memberships = await guilds.read_memberships(tx, [player_id])
    return Attachments(texts, memberships.get(player_id), await leftovers.read_of_player(tx, player_id))


async def load_state(tx: Reading, player_id: str) -> PlayerState:
    return PlayerState(
        slots=items.read_stacks(await item_rows.read_slots_of_player(tx, player_id)),
        bags=await item_rows.read_bags_of_player(tx, player_id),
        spells=await spell_rows.read_known(tx, player_id),
        variables={
            row.variable_id: variables.read_value(row) for row in await variable_rows.read_of_player(tx, player_id)
        },
    )


async def build_record(tx: Reading, player: Player, codec: Codec) -> StoredPlayer:
    """Build the record that a read will return for a player, before the player is stored."""
    class_names = await catalogue.find_by_ids(tx, "classes", [player.class_id])
    map_names = await catalogue.find_by_ids(tx, "maps", [player.map_id])
    return StoredPlayer(
        document=codec.encode_player(player),
        class_name=class_names[player.class_id].name if class_names else "",
        map_name=map_names[player.map_id].name if map_names else "",
        online=await presence.is_online(tx, player.id),
        last_online=player.last_online,
    )


async def _lock_player(tx: Locking, key: str, codec: Codec) -> Player:
    locked = await lookup.lock_player(tx, key)
    return codec.decode_player(locked.document, locked.last_online)


async def _decide_change(tx: Reading, before: Player, after: Player, codec: Codec) -> Decision[StoredPlayer]:
    changes = [PlayerChanged(before, after)] if after != before else []
    return Decision(changes, await build_record(tx, after, codec), subject=(before.id, None))
