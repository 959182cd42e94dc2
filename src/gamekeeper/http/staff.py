"""Staff: suspend and resume accounts."""

from functools import partial

from gamekeeper.game import refusals as no
from gamekeeper.game import suspensions
from gamekeeper.game.role_refusals import LastManager
from gamekeeper.http import samples, wire
from gamekeeper.http.operation import QUERY, STAFF, WRITE, Group
from gamekeeper.http.request import Request
from gamekeeper.http.response import Response
from gamekeeper.store.users import User

GROUP = Group("Staff", "Accounts of staff.")


@GROUP.operation(
    "POST /api/keeper/v1/users/[lookupKey]/suspend",
    name="suspend_user",
    permissions=QUERY | STAFF,
    access=WRITE,
    answer=wire.staff.Suspension,
    refusals=(no.Outranked, no.OwnAccount, LastManager),
    example_answer=wire.staff.Suspension(samples.USER_ID, samples.USER, Suspended=True),
)
async def suspend_user(request: Request) -> Response:
    """Suspend an account: its tokens are revoked, and it cannot log in. The game is not affected."""
    decide = partial(suspensions.suspend, key=request.params[0], actor=request.caller.actor)
    answer = await request.change(decide, _encode_suspension)
    request.services.callers.clear_cache()
    return answer


@GROUP.operation(
    "POST /api/keeper/v1/users/[lookupKey]/resume",
    name="resume_user",
    permissions=QUERY | STAFF,
    access=WRITE,
    answer=wire.staff.Suspension,
    refusals=(no.Outranked, no.OwnAccount),
    example_answer=wire.staff.Suspension(samples.USER_ID, samples.USER, Suspended=False),
)
async def resume_user(request: Request) -> Response:
    """End the suspension of an account; also 200 if it is not suspended."""
    decide = partial(suspensions.resume, key=request.params[0], actor=request.caller.actor)
    return await request.change(decide, _encode_suspension)


def _encode_suspension(user: User) -> bytes:
    return wire.encode(wire.staff.Suspension(user.id, user.name, Suspended=user.suspended))
