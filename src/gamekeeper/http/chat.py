"""Chat messages into the game: to everybody, to one player, or near a map."""

from collections.abc import Callable, Coroutine, Mapping
from functools import partial
from typing import Any

from gamekeeper.game import commands
from gamekeeper.game.changes import Decision
from gamekeeper.game.delivery_refusals import InvalidMap, InvalidPlayerId, NoRecipient, NoSuchMap, TooManyMessages
from gamekeeper.game.refusals import BadField
from gamekeeper.http import samples, wire
from gamekeeper.http.operation import WRITE, Group, H, needs
from gamekeeper.http.request import Request
from gamekeeper.http.response import Response
from gamekeeper.http.wire.commands import Chat, ChatColor, ChatSent, DirectChatSent, EchoedChat, ProximityChatSent
from gamekeeper.store.engine import Reading

GROUP = Group("Chat", "Chat messages into the game.")
SEND = needs("chat.send")
YELLOW, GREY = ChatColor(255, 255, 255, 0), ChatColor(255, 220, 220, 220)  # the engine's default colours
EXAMPLE = Chat("The market opens in five minutes.")
ECHO = EchoedChat(EXAMPLE.Message, None, None)


def _declare_global(path: str, name: str) -> Callable[[H], H]:
    return GROUP.operation(
        path,
        name=name,
        permissions=SEND,
        access=WRITE,
        body=Chat,
        answer=ChatSent,
        refusals=(TooManyMessages,),
        example_body=EXAMPLE,
        example_answer=ChatSent(success=True, chatMessage=ECHO),
    )


@_declare_global("POST /api/v1/chat", "send_chat")
@_declare_global("POST /api/v1/chat/global", "send_global_chat")
async def send_to_all(request: Request, body: Chat) -> Response:
    """Send a chat message to all players who are online."""
    answer = ChatSent(success=True, chatMessage=_echo(body))
    return await _send(request, body, partial(commands.send_to_all, message=_make_message(body, YELLOW)), answer)


@GROUP.operation(
    "POST /api/v1/chat/direct/[lookupKey]",
    name="send_direct_chat",
    permissions=SEND,
    access=WRITE,
    body=Chat,
    answer=DirectChatSent,
    refusals=(TooManyMessages, NoRecipient, InvalidPlayerId),
    example_path={"lookupKey": "Halvard"},
    example_body=EXAMPLE,
    example_answer=DirectChatSent(success=True, lookupKey="Halvard", chatMessage=ECHO),
)
async def send_to_player(request: Request, body: Chat) -> Response:
    """Send a chat message to one player who is online."""
    key = request.params[0]
    answer = DirectChatSent(success=True, lookupKey=key, chatMessage=_echo(body))
    decide = partial(commands.send_to_player, key=key, message=_make_message(body, GREY))
    return await _send(request, body, decide, answer)


@GROUP.operation(
    "POST /api/v1/chat/proximity/[mapId]",
    name="send_proximity_chat",
    permissions=SEND,
    access=WRITE,
    body=Chat,
    answer=ProximityChatSent,
    refusals=(TooManyMessages, NoSuchMap, InvalidMap),
    example_body=EXAMPLE,
    example_answer=ProximityChatSent(success=True, mapId=samples.DOCKS, chatMessage=ECHO),
)
async def send_near(request: Request, body: Chat, map_id: str) -> Response:
    """Send a chat message to the players on a map and its neighbours."""
    answer = ProximityChatSent(success=True, mapId=map_id, chatMessage=_echo(body))
    decide = partial(commands.send_near, map_id=map_id, message=_make_message(body, GREY))
    return await _send(request, body, decide, answer)


async def _send(
    request: Request,
    body: Chat,
    decide: Callable[..., Coroutine[Any, Any, Decision[None]]],
    answer: ChatSent | DirectChatSent | ProximityChatSent,
) -> Response:
    settings = request.services.keeper.settings
    if len(body.Message or "") > settings.chat_characters:
        raise BadField(field="Message", problem=f"must have at most {settings.chat_characters} characters")

    counted: list[bool] = []

    async def count_and_decide(tx: Reading) -> Decision[None]:
        if not counted:  # the transaction may be run again
            account, most = request.caller.account_id, settings.chat_per_minute
            request.services.chat_guard.count(account, most, dry_run=request.dry_run)
            counted.append(True)
        return await decide(tx, life_ms=settings.command_seconds * 1000)

    return await request.change(count_and_decide, lambda _: wire.encode(answer))


def _make_message(body: Chat, default: ChatColor) -> Mapping[str, object]:
    shown = {name: getattr(body.Color or default, name) for name in ChatColor.__struct_fields__}
    return {"Message": body.Message or "", "Color": shown, "Target": body.Target or ""}


def _echo(body: Chat) -> EchoedChat:
    return EchoedChat(body.Message, body.Color, body.Target)
