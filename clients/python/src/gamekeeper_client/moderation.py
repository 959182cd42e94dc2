"""Ban, mute and kick an account, or the account that a player belongs to."""

from collections.abc import Mapping
from typing import Unpack

from gamekeeper_client.call import Payload
from gamekeeper_client.credentials import Message
from gamekeeper_client.operation import WriteOptions, operation


class Moderation:
    @operation("POST", "/api/v1/users/{user}/admin/ban")
    def ban_user(
        self,
        user: str,
        *,
        duration: int | None = None,
        minutes: int | None = None,
        until: str | None = None,
        moderator: str = "",
        **options: Unpack[WriteOptions],
    ) -> Payload[Message]:
        """Ban an account: its tokens are revoked, and it gets no new ones.

        Needs the role users.query and the permission Ban.

        duration: whole days; 0, the default, is permanent.
        minutes: minutes, instead of days.
        until: time at which it ends, such as "2030-01-31T18:00:00Z", instead of a duration.
        moderator: name to record; default: the name of your account.
        Returns a message.
        Raises NoSuchUser, RoleMissing, PowerMissing, Outranked, OwnAccount, AlreadyBanned, LastManager, BadField.
        """
        return Payload(Message, body=_build_body(moderator, options, _build_length(duration, minutes, until)))

    @operation("POST", "/api/v1/users/{user}/admin/unban")
    def unban_user(self, user: str, *, moderator: str = "", **options: Unpack[WriteOptions]) -> Payload[Message]:
        """Lift the ban of an account.

        Needs the role users.query and the permission Ban.

        moderator: name to record; default: the name of your account.
        Returns a message.
        Raises NoSuchUser, RoleMissing, PowerMissing, Outranked, BadField.
        """
        return Payload(Message, body=_build_body(moderator, options))

    @operation("POST", "/api/v1/users/{user}/admin/mute")
    def mute_user(
        self,
        user: str,
        *,
        duration: int | None = None,
        minutes: int | None = None,
        until: str | None = None,
        moderator: str = "",
        **options: Unpack[WriteOptions],
    ) -> Payload[Message]:
        """Mute an account.

        Needs the role users.query and the permission Mute.

        duration: whole days; 0, the default, is permanent.
        minutes: minutes, instead of days.
        until: time at which it ends, such as "2030-01-31T18:00:00Z", instead of a duration.
        moderator: name to record; default: the name of your account.
        Returns a message.
        Raises NoSuchUser, RoleMissing, PowerMissing, Outranked, AlreadyMuted, BadField.
        """
        return Payload(Message, body=_build_body(moderator, options, _build_length(duration, minutes, until)))

    @operation("POST", "/api/v1/users/{user}/admin/unmute")
    def unmute_user(self, user: str, *, moderator: str = "", **options: Unpack[WriteOptions]) -> Payload[Message]:
        """Unmute an account.

        Needs the role users.query and the permission Mute.

        moderator: name to record; default: the name of your account.
        Returns a message.
        Raises NoSuchUser, RoleMissing, PowerMissing, Outranked, BadField.
        """
        return Payload(Message, body=_build_body(moderator, options))

    @operation("POST", "/api/v1/users/{user}/admin/kick")
    def kick_user(self, user: str, *, moderator: str = "", **options: Unpack[WriteOptions]) -> Payload[Message]:
        """Kick an account out of the game. The game server learns it from the change feed.

        Needs the role users.query and the permission Kick.

        moderator: name to record; default: the name of your account.
        Returns a message.
        Raises NoSuchUser, RoleMissing, PowerMissing, Outranked, UserNotOnline, BadField.
        """
        return Payload(Message, body=_build_body(moderator, options))

    @operation("POST", "/api/v1/players/{player}/admin/ban")
    def ban_player(
        self,
        player: str,
        *,
        duration: int | None = None,
        minutes: int | None = None,
        until: str | None = None,
        moderator: str = "",
        **options: Unpack[WriteOptions],
    ) -> Payload[Message]:
        """Ban the account that a player belongs to: its tokens are revoked, and it gets no new ones.

        Needs the permission Ban.

        duration: whole days; 0, the default, is permanent.
        minutes: minutes, instead of days.
        until: time at which it ends, such as "2030-01-31T18:00:00Z", instead of a duration.
        moderator: name to record; default: the name of your account.
        Returns a message.
        Raises NoSuchPlayer, PowerMissing, Outranked, OwnAccount, AlreadyBanned, LastManager, BadField.
        """
        return Payload(Message, body=_build_body(moderator, options, _build_length(duration, minutes, until)))

    @operation("POST", "/api/v1/players/{player}/admin/unban")
    def unban_player(self, player: str, *, moderator: str = "", **options: Unpack[WriteOptions]) -> Payload[Message]:
        """Lift the ban of the account that a player belongs to.

        Needs the permission Ban.

        moderator: name to record; default: the name of your account.
        Returns a message.
        Raises NoSuchPlayer, PowerMissing, Outranked, BadField.
        """
        return Payload(Message, body=_build_body(moderator, options))

    @operation("POST", "/api/v1/players/{player}/admin/mute")
    def mute_player(
        self,
        player: str,
        *,
        duration: int | None = None,
        minutes: int | None = None,
        until: str | None = None,
        moderator: str = "",
        **options: Unpack[WriteOptions],
    ) -> Payload[Message]:
        """Mute the account that a player belongs to.

        Needs the permission Mute.

        duration: whole days; 0, the default, is permanent.
        minutes: minutes, instead of days.
        until: time at which it ends, such as "2030-01-31T18:00:00Z", instead of a duration.
        moderator: name to record; default: the name of your account.
        Returns a message.
        Raises NoSuchPlayer, PowerMissing, Outranked, AlreadyMuted, BadField.
        """
        return Payload(Message, body=_build_body(moderator, options, _build_length(duration, minutes, until)))

    @operation("POST", "/api/v1/players/{player}/admin/unmute")
    def unmute_player(self, player: str, *, moderator: str = "", **options: Unpack[WriteOptions]) -> Payload[Message]:
        """Unmute the account that a player belongs to.

        Needs the permission Mute.

        moderator: name to record; default: the name of your account.
        Returns a message.
        Raises NoSuchPlayer, PowerMissing, Outranked, BadField.
        """
        return Payload(Message, body=_build_body(moderator, options))

    @operation("POST", "/api/v1/players/{player}/admin/kick")
    def kick_player(self, player: str, *, moderator: str = "", **options: Unpack[WriteOptions]) -> Payload[Message]:
        """Kick the account that a player belongs to out of the game. The game server learns it from the change feed.

        Needs the permission Kick.

        moderator: name to record; default: the name of your account.
        Returns a message.
        Raises NoSuchPlayer, PowerMissing, Outranked, UserNotOnline, BadField.
        """
        return Payload(Message, body=_build_body(moderator, options))


def _build_length(duration: int | None, minutes: int | None, until: str | None) -> dict[str, str | int]:
    """Build the fields that say how long a ban or mute lasts. The server refuses more than one of them."""
    if minutes is None and until is None:
        return {"duration": duration or 0}
    given = {"duration": duration, "minutes": minutes, "until": until}
    return {name: value for name, value in given.items() if value is not None}


def _build_body(
    moderator: str, options: WriteOptions, length: Mapping[str, str | int] | None = None
) -> dict[str, str | int]:
    """Build the body of a ban, mute or kick. The reason in the body is stored with the ban or mute itself."""
    return {**(length or {}), "reason": options.get("reason", ""), "moderator": moderator}
