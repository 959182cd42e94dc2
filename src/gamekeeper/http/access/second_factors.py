"""Second factors of accounts: list them, and reset lost ones. Their owners set them up in the console."""

from collections.abc import Sequence
from functools import partial

from gamekeeper.game.access import refusals as factor_no
from gamekeeper.game.access import second_factors
from gamekeeper.game.core import lookup
from gamekeeper.game.core import refusals as no
from gamekeeper.ground.instants import format_instant
from gamekeeper.http.access import credential_shapes
from gamekeeper.http.contract import shapes
from gamekeeper.http.contract.operation import QUERY, STAFF, Group
from gamekeeper.http.server.request import Request
from gamekeeper.http.server.response import Response
from gamekeeper.store.access import second_factors as rows
from gamekeeper.store.access.second_factors import SecondFactor
from gamekeeper.store.accounts.users import User
from gamekeeper.store.engine.interface import Reading

GROUP = Group("Second factors", "Second factors of accounts.", place=200)
GROUPS = (GROUP,)


@GROUP.operation(
    "GET /api/keeper/v1/users/[lookupKey]/second-factors",
    permissions=QUERY | STAFF,
    answer=credential_shapes.SecondFactorList,
    rows=second_factors.MAX_FACTORS,
)
async def get_second_factors(request: Request) -> bytes:
    """Get the second factors of an account, without their secrets."""

    async def read(tx: Reading) -> bytes:
        user = await lookup.find_user(tx, request.params[0])
        left = await rows.count_recovery_codes(tx, user.id)
        return _encode(user, await rows.read_of_user(tx, user.id), left)

    return await request.services.keeper.store.read(read)


@GROUP.operation(
    "DELETE /api/keeper/v1/users/[lookupKey]/second-factors",
    permissions=QUERY | STAFF,
    answer=credential_shapes.SecondFactorList,
    refusals=(no.Outranked, factor_no.OwnFactors),
)
async def reset_second_factors(request: Request) -> Response:
    """Remove all second factors of an account that lost them, and revoke its tokens and sessions."""
    settings = request.services.keeper.settings
    decide = partial(second_factors.reset, key=request.params[0], actor=request.caller.actor, settings=settings)
    answer = await request.change(decide, lambda user: _encode(user, (), 0))
    request.services.callers.clear_cache()
    return answer


def _encode(user: User, factors: Sequence[SecondFactor], left: int) -> bytes:
    shown = [
        credential_shapes.SecondFactor(
            each.kind,
            each.name,
            format_instant(each.added_at),
            None if each.last_used is None else format_instant(each.last_used),
        )
        for each in factors
    ]
    return shapes.encode(credential_shapes.SecondFactorList(user.id, user.name, shown, left))
