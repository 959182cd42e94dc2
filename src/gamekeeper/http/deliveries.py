"""Acknowledgements of commands by game servers."""

from collections.abc import Sequence
from functools import partial

from gamekeeper.game import deliveries
from gamekeeper.game.delivery_refusals import NotTold
from gamekeeper.game.key_refusals import ServerNotAllowed
from gamekeeper.http import wire
from gamekeeper.http.key_guard import require_server
from gamekeeper.http.operation import LINK, WRITE, Group
from gamekeeper.http.request import Request
from gamekeeper.http.response import Response
from gamekeeper.store.deliveries import Acknowledgement

GROUP = Group("Deliveries", "For game servers: acknowledge commands.")


@GROUP.operation(
    "POST /api/link/v1/servers/[server]/acks",
    name="acknowledge_commands",
    permissions=LINK,
    access=WRITE,
    body=wire.deliveries.Acks,
    answer=wire.deliveries.StandingAcks,
    refusals=(NotTold, ServerNotAllowed),
    example_body=wire.deliveries.Acks([wire.deliveries.Ack(4711, "applied")]),
    example_answer=wire.deliveries.StandingAcks([wire.deliveries.StandingAck(4711, "applied")]),
)
async def acknowledge(request: Request, body: wire.deliveries.Acks, server: str) -> Response:
    """Acknowledge commands of the change feed, all or none; the first one of each stands."""
    require_server(request.caller.key, server)
    acks = [Acknowledgement(each.Seq, each.State, each.Reason or None) for each in body.Acks]
    return await request.change(partial(deliveries.acknowledge, server=server, acks=acks), _encode)


def _encode(standing: Sequence[tuple[int, str]]) -> bytes:
    return wire.encode(wire.deliveries.StandingAcks([wire.deliveries.StandingAck(*each) for each in standing]))
