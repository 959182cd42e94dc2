"""Accounts as the commands show them: roles, permissions, mute, ban, suspension, second factor and linked sign-ins."""

from collections.abc import Sequence
from typing import NamedTuple

from gamekeeper.cli import terminal
from gamekeeper.game.access import permissions
from gamekeeper.game.accounts import accounts
from gamekeeper.game.core.keeper import Keeper
from gamekeeper.store.access import identities, second_factors
from gamekeeper.store.access.roles import Powers
from gamekeeper.store.accounts import moderation
from gamekeeper.store.accounts.moderation import ImposedPenalty
from gamekeeper.store.accounts.users import User


class AccountStatus(NamedTuple):
    """An account with its current mute and ban, whether it has a second factor, and its linked sign-ins."""

    user: User
    mute: ImposedPenalty | None
    ban: ImposedPenalty | None
    has_second_factor: bool
    issuers: Sequence[str]  # of linked sign-ins with OpenID Connect


async def load(keeper: Keeper, found: Sequence[User]) -> list[AccountStatus]:
    ids = [user.id for user in found]
    mutes = {each.user_id: each for each in await moderation.find_mutes(keeper.store, ids)}
    bans = {each.user_id: each for each in await moderation.find_bans(keeper.store, ids)}
    holders = await second_factors.find_holders(keeper.store, ids)
    issuers = await identities.find_issuers(keeper.store, ids)
    return [
        AccountStatus(user, mutes.get(user.id), bans.get(user.id), user.id in holders, issuers.get(user.id, []))
        for user in found
    ]


def list_permissions(user: User) -> list[str]:
    """Return the names of an account's roles and directly granted permissions, as this command line spells them."""
    old = (["api"] if user.powers.api else []) + _list_roles(user.powers) + _list_powers(user.powers)
    return [*old, *(f"role {each}" for each in user.grants.roles), *sorted(user.grants.direct)]


def to_json_object(status: AccountStatus) -> dict[str, str | bool | list[str] | None]:
    """Return an account for programs. `roles` and `powers` are permissions; versions before the roles named them so."""
    user = status.user
    return {
        "id": user.id,
        "name": user.name,
        "email": user.email,
        "api": user.powers.api,
        "roles": _list_roles(user.powers),
        "powers": _list_powers(user.powers),
        "staff": list(user.grants.roles),
        "permissions": sorted(user.grants.direct),
        "muted": _describe_penalty(status.mute),
        "mute_reason": user.mute_reason,
        "banned": _describe_penalty(status.ban),
        "ban_reason": user.ban_reason,
        "suspended": user.suspended,
        "second_factor": status.has_second_factor,
        "linked_sign_ins": list(status.issuers),
        "created_at": terminal.format_time(user.created_at),
    }


def to_table(status: AccountStatus) -> list[tuple[str, str]]:
    """Return an account for people."""
    user = status.user
    granted = sorted(permissions.list_granted(user.powers, user.grants))
    return [
        ("id", user.id),
        ("name", user.name),
        ("email", user.email),
        ("roles", ", ".join(permissions.list_roles(user)) or "none"),
        ("granted directly", ", ".join(granted) or "none"),
        ("muted", _describe_penalty(status.mute)),
        ("reason of the mute", user.mute_reason or "-"),
        ("banned", _describe_penalty(status.ban)),
        ("reason of the ban", user.ban_reason or "-"),
        ("suspended", "yes" if user.suspended else "no"),
        ("second factor", "yes" if status.has_second_factor else "no"),
        ("linked sign-ins", ", ".join(status.issuers) or "none"),
        ("created", terminal.format_time(user.created_at)),
    ]


def _describe_penalty(penalty: ImposedPenalty | None) -> str:
    if penalty is None:
        return "no"
    return "for good" if penalty.ends_at is None else f"until {terminal.format_time(penalty.ends_at)}"


def _list_roles(powers: Powers) -> list[str]:
    return [role for role, power in accounts.ROLES.items() if getattr(powers, power)]


def _list_powers(powers: Powers) -> list[str]:
    return [power.title() for power in accounts.POWERS if getattr(powers, power)]
