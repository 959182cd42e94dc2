"""Accounts that decide on approvals, and the changes of them that need an approval without a rule of their own.

While any rule is set, one person must not get a second account that approves: neither by giving somebody
`approvals.decide`, nor by a change of the log-in of an account that has it. An account's own change is not held, unless
an API key makes it: other people know the key's text. The command line stands outside of approvals.
"""

import shlex
from collections.abc import Sequence
from typing import NamedTuple

from gamekeeper.game.access import permissions
from gamekeeper.game.access.changes import IdentitiesChanged, SecondFactorsChanged, SecondFactorsReset
from gamekeeper.game.accounts.account_changes import (
    EmailChanged,
    PasswordChanged,
    PowersChanged,
    RoleSaved,
    RolesChanged,
    UserRegistered,
    UserRenamed,
    UserResumed,
    UserSuspended,
    UserUnbanned,
)
from gamekeeper.game.accounts.changes import InvitationSent
from gamekeeper.game.audit.refusals import NobodyCanDecide
from gamekeeper.game.core.change import Change, Unlogged
from gamekeeper.store.access import api_keys
from gamekeeper.store.access import roles as rows
from gamekeeper.store.accounts.users import User
from gamekeeper.store.engine.interface import Reading

DECIDE = "approvals.decide"  # the permission; also the rule that is stored with such an approval
GIVING = (PowersChanged, RolesChanged, RoleSaved, InvitationSent, UserRegistered)
COMMANDS = {  # change of a decider's log-in → command that makes it on the server
    PasswordChanged: "users password {name}",
    EmailChanged: "users email {name} ADDRESS",
    UserRenamed: "users rename {name} NEW",
    SecondFactorsReset: "users reset-second-factor {name}",
    SecondFactorsChanged: "users reset-second-factor {name}",
    IdentitiesChanged: "users reset-second-factor {name}",
    UserSuspended: "users suspend {name}",
    UserResumed: "users resume {name}",
    UserUnbanned: "users unban {name}",
}


class GuardedChange(NamedTuple):
    command: str  # makes the change on the server
    user_id: str | None  # the account that it changes


def is_decider(user: User) -> bool:
    """Tell whether an account may decide on approvals once it can log in."""
    return DECIDE in permissions.list_held(user)


async def gives_decision(tx: Reading, names: Sequence[str]) -> bool:
    """Tell whether one of these roles gives `approvals.decide`."""
    table = await rows.read_all(tx)
    return any(DECIDE in permissions.list_permissions(table[each]) for each in names if each in table)


async def require_approval(
    tx: Reading, actor_id: str, token_id: str | None, changes: Sequence[Change | Unlogged]
) -> bool:
    """Tell whether these changes need an approval because of deciders. Refuse them if nobody else could decide."""
    if not any(isinstance(each, (*GIVING, *COMMANDS)) for each in changes):
        return False
    makers = await api_keys.read_makers(tx, [token_id]) if token_id else []
    by_key = bool(token_id and await api_keys.find(tx, token_id))
    for change in changes:
        found = await _find_given(tx, change) or _find_changed(change, None if by_key else actor_id)
        if found:
            others = {actor_id, found.user_id or actor_id, *(each.id for each in makers)}
            if not await rows.has_another_decider(tx, others):
                raise NobodyCanDecide(command=f"gamekeeper {found.command}")
            return True
    return False


async def _find_given(tx: Reading, change: Change | Unlogged) -> GuardedChange | None:
    """Find a change that gives somebody `approvals.decide`."""
    match change:
        case PowersChanged(user=user, powers=powers) if _gains(user, await permissions.apply_powers(tx, user, powers)):
            grants = "api {name} on" if powers.api and not user.powers.api else "grant {name} users.manage"
            return GuardedChange(_name("users " + grants, user), user.id)
        case RolesChanged(user=user, after=after) if _gains(user, after):
            given = shlex.join(sorted(set(after.grants.roles) - set(user.grants.roles)))
            act = f"users give {{name}} {given}" if given else f"users grant {{name}} {DECIDE}"
            return GuardedChange(_name(act, user), user.id)
        case UserRegistered(user=user) if is_decider(user):
            return GuardedChange(_name("users add {name}", user), user.id)
        case RoleSaved(before=before, after=after) if DECIDE in permissions.list_permissions(after):
            if before is None or DECIDE not in permissions.list_permissions(before):
                named = " ".join(f"--permission {each}" for each in sorted(after.permissions))
                return GuardedChange(f"roles save {shlex.quote(after.name)} {named}", None)
        case InvitationSent(invitation=invitation) if await gives_decision(tx, invitation.roles):
            return GuardedChange("users add NAME --email ADDRESS --staff ROLE --generate-password", None)
        case _:
            pass
    return None


def _find_changed(change: Change | Unlogged, own_id: str | None) -> GuardedChange | None:
    """Find a change of a decider's log-in by somebody else. `own_id`: the actor, unless it uses an API key."""
    match change:
        case PasswordChanged(is_proven=True) | EmailChanged(is_proven=True):
            return None
        case (
            PasswordChanged(user=user)
            | EmailChanged(user=user)
            | UserRenamed(user=user)  # another account could take the name
            | SecondFactorsReset(user=user)
            | SecondFactorsChanged(user=user)
            | IdentitiesChanged(user=user)
            | UserSuspended(user=user)
            | UserResumed(user=user)
            | UserUnbanned(user=user)
        ) if user.id != own_id and is_decider(user):
            return GuardedChange(_name(COMMANDS[type(change)], user), user.id)
        case _:
            return None


def _gains(before: User, after: User) -> bool:
    """Tell whether an account can decide afterwards and could not before."""
    return is_decider(after) and not (is_decider(before) and permissions.can_log_in(before))


def _name(command: str, user: User) -> str:
    return command.format(name=shlex.quote(user.name))
