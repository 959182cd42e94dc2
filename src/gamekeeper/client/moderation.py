"""Bans, mutes and kicks: of an account, or of the account that a character belongs to.

`days` 0 is for good. `why` is kept with the ban and shown with it; `moderator` is whoever did it, for the record: the
caller's own account unless told.
"""

from typing import Unpack

from gamekeeper.client.call import Call, WriteOptions, path, reading, write
from gamekeeper.client.players import PLAYERS
from gamekeeper.client.shapes import Message
from gamekeeper.client.users import USERS

_message = reading(Message)


def ban_user(
    user: str, *, days: int = 0, why: str = "", moderator: str = "", **options: Unpack[WriteOptions]
) -> Call[Message]:
    """The account's tokens end, and it gets no others while the ban lasts."""
    return _punish(USERS, user, "ban", days, why, moderator, **options)


def mute_user(
    user: str, *, days: int = 0, why: str = "", moderator: str = "", **options: Unpack[WriteOptions]
) -> Call[Message]:
    return _punish(USERS, user, "mute", days, why, moderator, **options)


def unban_user(user: str, *, why: str = "", moderator: str = "", **options: Unpack[WriteOptions]) -> Call[Message]:
    return _do(USERS, user, "unban", why, moderator, **options)


def unmute_user(user: str, *, why: str = "", moderator: str = "", **options: Unpack[WriteOptions]) -> Call[Message]:
    return _do(USERS, user, "unmute", why, moderator, **options)


def kick_user(user: str, *, why: str = "", moderator: str = "", **options: Unpack[WriteOptions]) -> Call[Message]:
    """The game hears it over its link; raises UserNotOnline when none of the account's characters is there."""
    return _do(USERS, user, "kick", why, moderator, **options)


def ban_player(
    player: str, *, days: int = 0, why: str = "", moderator: str = "", **options: Unpack[WriteOptions]
) -> Call[Message]:
    """Bans the account that the character belongs to."""
    return _punish(PLAYERS, player, "ban", days, why, moderator, **options)


def mute_player(
    player: str, *, days: int = 0, why: str = "", moderator: str = "", **options: Unpack[WriteOptions]
) -> Call[Message]:
    return _punish(PLAYERS, player, "mute", days, why, moderator, **options)


def unban_player(player: str, *, why: str = "", moderator: str = "", **options: Unpack[WriteOptions]) -> Call[Message]:
    return _do(PLAYERS, player, "unban", why, moderator, **options)


def unmute_player(player: str, *, why: str = "", moderator: str = "", **options: Unpack[WriteOptions]) -> Call[Message]:
    return _do(PLAYERS, player, "unmute", why, moderator, **options)


def kick_player(player: str, *, why: str = "", moderator: str = "", **options: Unpack[WriteOptions]) -> Call[Message]:
    return _do(PLAYERS, player, "kick", why, moderator, **options)


def _punish(
    of: str, key: str, act: str, days: int, why: str, moderator: str, **options: Unpack[WriteOptions]
) -> Call[Message]:
    body = {"duration": days, "reason": why, "moderator": moderator}
    return write("POST", path(f"{of}/{{}}/admin/{act}", key), _message, body, **options)


def _do(of: str, key: str, act: str, why: str, moderator: str, **options: Unpack[WriteOptions]) -> Call[Message]:
    body = {"reason": why, "moderator": moderator}
    return write("POST", path(f"{of}/{{}}/admin/{act}", key), _message, body, **options)
