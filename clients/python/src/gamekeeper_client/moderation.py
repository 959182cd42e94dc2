"""Bans, mutes and kicks: of an account, or of the account that a character belongs to.

`duration` is in whole days; 0 is permanent. `reason` is stored with the ban or mute, and in the audit log like the
reason of any write. `moderator` is the name to record; default: the name of the caller's account.
"""

from typing import Unpack

from gamekeeper_client.call import Call, WriteOptions, path, reading, write
from gamekeeper_client.players import PLAYERS
from gamekeeper_client.shapes import Message
from gamekeeper_client.users import USERS

_message = reading(Message)


def ban_user(user: str, *, duration: int = 0, moderator: str = "", **options: Unpack[WriteOptions]) -> Call[Message]:
    """The account's tokens end, and it gets no others while the ban lasts."""
    return _punish(USERS, user, "ban", duration, moderator, **options)


def mute_user(user: str, *, duration: int = 0, moderator: str = "", **options: Unpack[WriteOptions]) -> Call[Message]:
    return _punish(USERS, user, "mute", duration, moderator, **options)


def unban_user(user: str, *, moderator: str = "", **options: Unpack[WriteOptions]) -> Call[Message]:
    return _do(USERS, user, "unban", moderator, **options)


def unmute_user(user: str, *, moderator: str = "", **options: Unpack[WriteOptions]) -> Call[Message]:
    return _do(USERS, user, "unmute", moderator, **options)


def kick_user(user: str, *, moderator: str = "", **options: Unpack[WriteOptions]) -> Call[Message]:
    """The game hears it over its link; raises UserNotOnline when none of the account's characters is there."""
    return _do(USERS, user, "kick", moderator, **options)


def ban_player(
    player: str, *, duration: int = 0, moderator: str = "", **options: Unpack[WriteOptions]
) -> Call[Message]:
    """Bans the account that the character belongs to."""
    return _punish(PLAYERS, player, "ban", duration, moderator, **options)


def mute_player(
    player: str, *, duration: int = 0, moderator: str = "", **options: Unpack[WriteOptions]
) -> Call[Message]:
    return _punish(PLAYERS, player, "mute", duration, moderator, **options)


def unban_player(player: str, *, moderator: str = "", **options: Unpack[WriteOptions]) -> Call[Message]:
    return _do(PLAYERS, player, "unban", moderator, **options)


def unmute_player(player: str, *, moderator: str = "", **options: Unpack[WriteOptions]) -> Call[Message]:
    return _do(PLAYERS, player, "unmute", moderator, **options)


def kick_player(player: str, *, moderator: str = "", **options: Unpack[WriteOptions]) -> Call[Message]:
    return _do(PLAYERS, player, "kick", moderator, **options)


def _punish(
    of: str, key: str, act: str, duration: int, moderator: str, **options: Unpack[WriteOptions]
) -> Call[Message]:
    body = {"duration": duration, "reason": options.get("reason", ""), "moderator": moderator}
    return write("POST", path(f"{of}/{{}}/admin/{act}", key), _message, body, **options)


def _do(of: str, key: str, act: str, moderator: str, **options: Unpack[WriteOptions]) -> Call[Message]:
    body = {"reason": options.get("reason", ""), "moderator": moderator}
    return write("POST", path(f"{of}/{{}}/admin/{act}", key), _message, body, **options)
