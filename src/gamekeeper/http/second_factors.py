"""Second factors of accounts: list them, and reset lost ones. Their owners set them up in the console."""

from collections.abc import Sequence
from functools import partial

from gamekeeper.game import lookup, second_factors
from gamekeeper.game import refusals as no
from gamekeeper.game import second_factor_refusals as factor_no
from gamekeeper.http import samples, wire
from gamekeeper.http.instants import format_instant
from gamekeeper.http.operation import NO_STORE, QUERY, READ, STAFF, WRITE, Group
from gamekeeper.http.request import Request
from gamekeeper.http.response import Response
from gamekeeper.store import second_factors as rows
from gamekeeper.store.engine import Reading
from gamekeeper.store.second_factors import SecondFactor
from gamekeeper.store.users import User

GROUP = Group("Second factors", "Second factors of accounts.")


@GROUP.operation(
    "GET /api/keeper/v1/users/[lookupKey]/second-factors",
    name="get_second_factors",
    permissions=QUERY | STAFF,
    access=READ,
    cache=NO_STORE,
    answer=wire.second_factors.SecondFactorList,
    rows=second_factors.MAX_FACTORS,
    refusals=(),
    example_answer=samples.SECOND_FACTORS,
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
    name="reset_second_factors",
    permissions=QUERY | STAFF,
    access=WRITE,
    answer=wire.second_factors.SecondFactorList,
    refusals=(no.Outranked, factor_no.OwnFactors),
    example_answer=wire.second_factors.SecondFactorList(samples.USER_ID, samples.USER, [], 0),
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
        wire.second_factors.SecondFactor(
            each.kind,
            each.name,
            format_instant(each.added_at),
            None if each.last_used is None else format_instant(each.last_used),
        )
        for each in factors
    ]
    return wire.encode(wire.second_factors.SecondFactorList(user.id, user.name, shown, left))
