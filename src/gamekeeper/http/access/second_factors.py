"""Second factors of accounts: list them, and reset lost ones. Their owners set them up in the console."""

from collections.abc import Sequence
from functools import partial

from gamekeeper.game.access import refusals as factor_no
from gamekeeper.game.access import second_factors
from gamekeeper.game.core import lookup
from gamekeeper.game.core import refusals as no
from gamekeeper.http.access import credential_shapes
from gamekeeper.http.contract.operation import QUERY, STAFF, Group
from gamekeeper.http.contract.records import make_record
from gamekeeper.http.server.request import Request
from gamekeeper.http.server.response import Response
from gamekeeper.store.access import second_factors as rows
from gamekeeper.store.access.second_factors import SecondFactor
from gamekeeper.store.accounts.users import User
from gamekeeper.store.engine.interface import Reading

GROUP = Group("Second factors", "Second factors of accounts.", place=200, permissions=QUERY | STAFF)
GROUPS = (GROUP,)


@GROUP.operation("GET /api/keeper/v1/users/[lookupKey]/second-factors", rows=second_factors.MAX_FACTORS)
async def get_second_factors(request: Request) -> credential_shapes.SecondFactorList:
    """Get the second factors of an account, without their secrets."""

    async def read(tx: Reading) -> credential_shapes.SecondFactorList:
        user = await lookup.find_user(tx, request.params[0])
        left = await rows.count_recovery_codes(tx, user.id)
        return _make_list(user, await rows.read_of_user(tx, user.id), left)

    return await request.services.keeper.store.read(read)


@GROUP.operation(
    "DELETE /api/keeper/v1/users/[lookupKey]/second-factors",
    answer=credential_shapes.SecondFactorList,
    refusals=(no.Outranked, factor_no.OwnFactors),
)
async def reset_second_factors(request: Request) -> Response:
    """Remove all second factors of an account that lost them, and revoke its tokens and sessions."""
    settings = request.services.keeper.settings
    decide = partial(second_factors.reset, key=request.params[0], actor=request.caller.actor, settings=settings)
    return await request.change(decide, lambda user: _make_list(user, (), 0), clear_callers=True)


def _make_list(user: User, factors: Sequence[SecondFactor], left: int) -> credential_shapes.SecondFactorList:
    shown = [make_record(credential_shapes.SecondFactor, each) for each in factors]
    return make_record(credential_shapes.SecondFactorList, user, SecondFactors=shown, RecoveryCodesLeft=left)
