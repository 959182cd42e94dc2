"""Commands to the game: kill and warp players who are online, and send chat messages."""

from typing import Unpack

from msgspec import Struct

from gamekeeper_client.call import Payload
from gamekeeper_client.credentials import Message
from gamekeeper_client.operation import WriteOptions, operation


class ChatColor(Struct):
    """A colour: alpha, red, green and blue, each from 0 to 255."""

    A: int = 255
    R: int = 255
    G: int = 255
    B: int = 255


class EchoedChat(Struct):
    Message: str | None
    Color: ChatColor | None
    Target: str | None


class Commands:
    @operation("POST", "/api/v1/users/{user}/admin/kill")
    def kill_user(self, user: str, *, moderator: str = "", **options: Unpack[WriteOptions]) -> Payload[Message]:
        """Kill the player of an account who is online.

        moderator: name to record; default: the name of your account.
        Returns a message.
        Raises NoSuchUser, UserNotOnline, Outranked, RoleMissing, PermissionMissing, BadField.
        """
        return Payload(Message, body={"moderator": moderator or None, "reason": options.get("reason")})

    @operation("POST", "/api/v1/players/{player}/admin/kill")
    def kill_player(self, player: str, *, moderator: str = "", **options: Unpack[WriteOptions]) -> Payload[Message]:
        """Kill a player who is online.

        moderator: name to record; default: the name of your account.
        Returns a message.
        Raises NoSuchPlayer, UserNotOnline, Outranked, PermissionMissing, BadField.
        """
        return Payload(Message, body={"moderator": moderator or None, "reason": options.get("reason")})

    @operation("POST", "/api/v1/users/{user}/admin/warpto")
    def warpto_user(self, user: str, map_id: str, **options: Unpack[WriteOptions]) -> Payload[Message]:
        """Warp the player of an account to another map; it keeps its x and y.

        map_id: id of the map.
        Returns a message.
        Raises NoSuchUser, UserNotOnline, RoleMissing, PermissionMissing, BadField.
        """
        return Payload(Message, body={"mapid": map_id})

    @operation("POST", "/api/v1/players/{player}/admin/warpto")
    def warpto_player(self, player: str, map_id: str, **options: Unpack[WriteOptions]) -> Payload[Message]:
        """Warp a player who is online to another map; it keeps its x and y.

        map_id: id of the map.
        Returns a message.
        Raises NoSuchPlayer, UserNotOnline, PermissionMissing, BadField.
        """
        return Payload(Message, body={"mapid": map_id})

    @operation("POST", "/api/v1/users/{user}/admin/warptoloc")
    def warptoloc_user(
        self, user: str, map_id: str, *, x: int = 0, y: int = 0, **options: Unpack[WriteOptions]
    ) -> Payload[Message]:
        """Warp the player of an account to a place on a map.

        map_id: id of the map.
        x: column, 0 to 255.
        y: row, 0 to 255.
        Returns a message.
        Raises NoSuchUser, UserNotOnline, RoleMissing, PermissionMissing, BadField.
        """
        return Payload(Message, body={"mapid": map_id, "x": x, "y": y})

    @operation("POST", "/api/v1/players/{player}/admin/warptoloc")
    def warptoloc_player(
        self, player: str, map_id: str, *, x: int = 0, y: int = 0, **options: Unpack[WriteOptions]
    ) -> Payload[Message]:
        """Warp a player who is online to a place on a map.

        map_id: id of the map.
        x: column, 0 to 255.
        y: row, 0 to 255.
        Returns a message.
        Raises NoSuchPlayer, UserNotOnline, PermissionMissing, BadField.
        """
        return Payload(Message, body={"mapid": map_id, "x": x, "y": y})

    @operation("POST", "/api/v1/chat")
    def send_chat(
        self, message: str, *, color: ChatColor | None = None, target: str = "", **options: Unpack[WriteOptions]
    ) -> Payload[EchoedChat]:
        """Send a chat message to everybody in the game.

        message: the text.
        color: its colour; default: the game's.
        target: name of a player that game clients attach to the message.
        Returns the message as it was sent.
        Raises TooManyMessages, PermissionMissing, BadField.
        """
        return _make_chat(message, color, target)

    @operation("POST", "/api/v1/chat/global")
    def send_global_chat(
        self, message: str, *, color: ChatColor | None = None, target: str = "", **options: Unpack[WriteOptions]
    ) -> Payload[EchoedChat]:
        """Send a chat message to everybody in the game; the same as `send_chat`.

        message: the text.
        color: its colour; default: the game's.
        target: name of a player that game clients attach to the message.
        Returns the message as it was sent.
        Raises TooManyMessages, PermissionMissing, BadField.
        """
        return _make_chat(message, color, target)

    @operation("POST", "/api/v1/chat/direct/{player}")
    def send_direct_chat(
        self,
        player: str,
        message: str,
        *,
        color: ChatColor | None = None,
        target: str = "",
        **options: Unpack[WriteOptions],
    ) -> Payload[EchoedChat]:
        """Send a chat message to one player who is online.

        message: the text.
        color: its colour; default: the game's.
        target: name of a player that game clients attach to the message.
        Returns the message as it was sent.
        Raises NoRecipient, InvalidPlayerId, TooManyMessages, PermissionMissing, BadField.
        """
        return _make_chat(message, color, target)

    @operation("POST", "/api/v1/chat/proximity/{map_id}")
    def send_proximity_chat(
        self,
        map_id: str,
        message: str,
        *,
        color: ChatColor | None = None,
        target: str = "",
        **options: Unpack[WriteOptions],
    ) -> Payload[EchoedChat]:
        """Send a chat message to the players on a map and its neighbours.

        map_id: id of the map.
        message: the text.
        color: its colour; default: the game's.
        target: name of a player that game clients attach to the message.
        Returns the message as it was sent.
        Raises NoSuchMap, InvalidMap, TooManyMessages, PermissionMissing, BadField.
        """
        return _make_chat(message, color, target)


def _make_chat(message: str, color: ChatColor | None, target: str) -> Payload[EchoedChat]:
    body = {"Message": message, "Color": color, "Target": target or None}
    return Payload(EchoedChat, field="chatMessage", body=body)
