"""JSON shapes of an account's permissions."""

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from gamekeeper.http.wire.api_keys import WeakenedKey

_QUERY = Meta(extra={"or": "users.query"}, description="Also accepted as `users.query`.")
_MANAGE = Meta(extra={"or": "users.manage"}, description="Also accepted as `users.manage`.")
_LINK = Meta(extra={"or": "game.link"}, description="Also accepted as `game.link`.")


class ChangePowers(Struct):
    """Permissions of an account to change. Those that a request body leaves out stay as they are."""

    editor: bool | UnsetType = UNSET
    ban: bool | UnsetType = UNSET
    kick: bool | UnsetType = UNSET
    mute: bool | UnsetType = UNSET
    api: bool | UnsetType = UNSET
    usersquery: Annotated[bool | UnsetType, _QUERY] = UNSET
    usersmanage: Annotated[bool | UnsetType, _MANAGE] = UNSET
    gamelink: Annotated[bool | UnsetType, _LINK] = UNSET


class HeldPowers(Struct):
    """All permissions of an account; the spec's `Power` has some of them.

    `WeakenedKeys`: API keys of the account that lose permissions by the change.
    """

    Id: str
    Name: str
    Editor: bool
    Ban: bool
    Kick: bool
    Mute: bool
    Api: bool
    UsersQuery: bool
    UsersManage: bool
    GameLink: bool
    WeakenedKeys: list[WeakenedKey] = []


RIGHTS = {  # field of the request body → name of the permission, where the two differ
    "usersquery": "users.query",
    "usersmanage": "users.manage",
    "gamelink": "game.link",
}
