"""The account that asked for a change which is carried out later: an approved request, or a bulk job."""

from gamekeeper.game import api_keys, lookup, permissions
from gamekeeper.game.approval_refusals import RequesterLostAccess
from gamekeeper.game.gifts import EVERY_OTHER_ITEM, GIVE, DailyLimit, GiftLimits
from gamekeeper.http.caller import Caller
from gamekeeper.store import api_keys as key_rows
from gamekeeper.store import gifts, roles, users
from gamekeeper.store.api_keys import ApiKey
from gamekeeper.store.engine import Reading
from gamekeeper.store.users import User


async def load_requester(tx: Reading, account_id: str, token_id: str | None) -> Caller:
    """Return the requester with the permissions of now: of the account, or of its API key."""
    user = await users.find_by_id(tx, account_id)
    if user is None or user.ban_reason is not None or user.suspended or not permissions.can_log_in(user):
        raise RequesterLostAccess
    held = permissions.list_held(user)
    key = await key_rows.find(tx, token_id) if token_id else None
    if key is not None:
        held = api_keys.find_held(key, user, await roles.read_all(tx))
        if key.user_id != user.id:  # it belongs to another account now
            raise RequesterLostAccess
    limits = await _load_gift_limits(tx, user, key)
    return Caller(
        user.id, user.name, token_id or lookup.ZERO_GUID, read_only=False, permissions=held, gift_limits=limits
    )


async def _load_gift_limits(tx: Reading, user: User, key: ApiKey | None) -> GiftLimits:
    """Return the limits of the requester's gifts, which neither an approval nor a job lifts."""
    daily, own = list[DailyLimit](), key.limits if key else None
    quotas = [] if GIVE in user.grants.direct else await gifts.read_quotas_of_user(tx, user.id)
    if quotas and all(quotas):
        daily.append(DailyLimit(user.id, tuple(quotas)))
    if key and key.role and (of_role := await gifts.read_quotas_of_role(tx, key.role)):
        daily.append(DailyLimit(key.id, (of_role,)))
    if key and own and own.most_per_day is not None:
        daily.append(DailyLimit(key.id, ({EVERY_OTHER_ITEM: own.most_per_day},)))
    items = frozenset(own.items) if own and own.items is not None else None
    return GiftLimits(items, own.most_per_request if own else None, tuple(daily))
