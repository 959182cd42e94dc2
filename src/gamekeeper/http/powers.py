from functools import partial

from gamekeeper.game import key_losses, permissions, powers
from gamekeeper.game import refusals as no
from gamekeeper.game.key_losses import ChangedOwner
from gamekeeper.game.role_refusals import HeldByRole, LastManager, RoleBeyondQuota
from gamekeeper.http import codec, samples, weakened_keys, wire
from gamekeeper.http.operation import MANAGE, WRITE, Group
from gamekeeper.http.request import Request
from gamekeeper.http.response import Response

GROUP = Group("Powers", "Permissions of accounts.")


@GROUP.operation(
    "POST /api/keeper/v1/users/[lookupKey]/powers",
    name="change_powers",
    permissions=MANAGE,
    access=WRITE,
    body=wire.powers.ChangePowers,
    answer=wire.powers.HeldPowers,
    refusals=(no.Outranked, no.OwnPowers, RoleBeyondQuota, HeldByRole, LastManager),
    example_body=wire.powers.ChangePowers(mute=True),
    example_answer=wire.powers.HeldPowers(samples.USER_ID, samples.USER, *samples.PERMISSIONS),
)
async def change_powers(request: Request, body: wire.powers.ChangePowers) -> Response:
    """Grant or revoke an account's permissions. The caller must have each of them."""
    given = codec.read_permissions(body)
    rule = partial(powers.change, key=request.params[0], given=given, actor=request.caller.actor)
    answer = await request.change(partial(key_losses.decide, rule=rule), _encode)
    request.services.callers.clear_cache()  # the cached callers still have the account's old permissions
    return answer


def _encode(changed: ChangedOwner) -> bytes:
    user, weakened = changed.user, weakened_keys.make_list(changed.losses)
    return wire.encode(
        wire.powers.HeldPowers(user.id, user.name, *permissions.find_powers(user), WeakenedKeys=weakened)
    )
