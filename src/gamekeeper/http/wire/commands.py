"""JSON shapes of kills, warps and chat messages."""

from typing import Annotated

from msgspec import Meta, Struct

from gamekeeper.http.wire.scalars import NEVER_NULL, PRINTABLE, Guid, Text

Byte = Annotated[int, Meta(ge=0, le=255), NEVER_NULL]
ChatText = Annotated[str, Meta(extra_json_schema=PRINTABLE)]


class Warp(Struct):
    mapid: Guid | None = None
    x: Byte = 0
    y: Byte = 0


class ChatColor(Struct):
    A: Byte = 0
    R: Byte = 0
    G: Byte = 0
    B: Byte = 0


class Chat(Struct, omit_defaults=True):
    Message: ChatText | None = None
    Color: ChatColor | None = None
    Target: Text | None = None


class EchoedChat(Struct):
    Message: str | None
    Color: ChatColor | None
    Target: str | None


class ChatSent(Struct):
    success: bool
    chatMessage: EchoedChat  # noqa: N815 - the engine's spelling


class DirectChatSent(Struct):
    success: bool
    lookupKey: str  # noqa: N815 - the engine's spelling
    chatMessage: EchoedChat  # noqa: N815 - the engine's spelling


class ProximityChatSent(Struct):
    success: bool
    mapId: Guid  # noqa: N815 - the engine's spelling
    chatMessage: EchoedChat  # noqa: N815 - the engine's spelling
