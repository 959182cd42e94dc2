"""What an account may do."""

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

_QUERY = Meta(extra={"or": "users.query"}, description="Also as `users.query`.")
_MANAGE = Meta(extra={"or": "users.manage"}, description="Also as `users.manage`.")
_LINK = Meta(extra={"or": "game.link"}, description="Also as `game.link`.")


class ChangePowers(Struct):
    """Only what is given changes."""

    editor: bool | UnsetType = UNSET
    ban: bool | UnsetType = UNSET
    kick: bool | UnsetType = UNSET
    mute: bool | UnsetType = UNSET
    api: bool | UnsetType = UNSET
    usersquery: Annotated[bool | UnsetType, _QUERY] = UNSET
    usersmanage: Annotated[bool | UnsetType, _MANAGE] = UNSET
    gamelink: Annotated[bool | UnsetType, _LINK] = UNSET


class HeldPowers(Struct):
    """All that an account may do; the spec's records say a part of it."""

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


RIGHTS = {  # what a body that changes powers calls those that have a point in their name
    "usersquery": "users.query",
    "usersmanage": "users.manage",
    "gamelink": "game.link",
}
