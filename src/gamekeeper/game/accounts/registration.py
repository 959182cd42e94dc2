"""Registration of accounts: by the caller, within a limit, and by an invitation of staff.

The limit on accounts that one caller may register is counted in the transaction of the registration. An invitation is a
mail with a one-time link, with which a person makes an account that has the given roles.
"""

from collections.abc import Collection, Iterable

from gamekeeper.game.access import permissions, roles
from gamekeeper.game.access.permissions import Actor
from gamekeeper.game.access.refusals import InvitationVoid, NoPublicUrl, NoSuchInvitation, TooManyInvitations
from gamekeeper.game.accounts import accounts
from gamekeeper.game.accounts.changes import InvitationSent, InvitationWithdrawn
from gamekeeper.game.audit import deciders
from gamekeeper.game.audit.approvals import parse_rules
from gamekeeper.game.core import lookup
from gamekeeper.game.core.change import Unlogged
from gamekeeper.game.core.lookup import fold
from gamekeeper.game.core.refusals import BadField, EmailTaken, Refusal, TooManyRegistrations
from gamekeeper.game.core.writes import Decision
from gamekeeper.ground.settings import Settings
from gamekeeper.store.access import roles as role_rows
from gamekeeper.store.access.roles import Powers
from gamekeeper.store.accounts import invitations as rows
from gamekeeper.store.accounts import registrations, users
from gamekeeper.store.accounts.invitations import Invitation
from gamekeeper.store.accounts.users import User
from gamekeeper.store.engine import clock
from gamekeeper.store.engine.interface import Reading, Writing

WINDOW_MS = 60 * 60 * 1000


async def register(
    tx: Reading, caller: str, settings: Settings, name: str, email: str, password: str
) -> Decision[User]:
    """Register an account without permissions. Refused requests and dry runs do not count towards the limit."""
    await users.lock(tx, caller)  # lock the caller's account, so that it registers no other account during the count
    wait = await registrations.read_wait(tx, caller, settings.registrations_per_caller, WINDOW_MS)
    if wait:
        raise TooManyRegistrations(-(-wait // 1000))
    decision = await accounts.register(tx, name, email, password, Powers())

    async def count(tx: Writing) -> None:
        registrations.delete_old(tx, caller, WINDOW_MS)
        registrations.insert(tx, caller, decision.result.id)

    return Decision([*decision.changes, Unlogged(count)], decision.result)


HOUR_MS = 60 * 60 * 1000
ACCEPTED = "accepted invitation {}"  # reason of the registration in the audit log; {}: id of the invitation
MOST_OPEN = 500  # invitations that can be open at the same time; lists show all of them


async def invite(
    tx: Reading, email: str, names: Collection[str], actor: Actor, settings: Settings
) -> Decision[Invitation]:
    """Invite a person by mail. An open invitation to the same address is replaced."""
    if not settings.public_url or not settings.console:
        raise NoPublicUrl
    accounts.require_email(email, "email")
    if not names:
        raise BadField(field="roles", problem="must name at least one role")
    await users.lock(tx, actor.id)
    await role_rows.lock_staff(tx)
    table = await role_rows.read_all(tx)
    permissions.require_roles(names, table)
    await roles.require_can_give(tx, [table[each] for each in names], actor)
    if await users.find_id_by_email_fold(tx, fold(email)):
        raise EmailTaken(email=email, advice=" Give that account the role instead.")
    if await rows.count(tx) >= MOST_OPEN:
        raise TooManyInvitations(most=MOST_OPEN)
    now = await clock.now(tx)
    expires_at = now + settings.invitation_hours * HOUR_MS
    made = Invitation(lookup.new_guid(), email, tuple(sorted({*names})), actor.id, actor.name, now, expires_at)
    made = made._replace(makes_decider=await deciders.gives_decision(tx, made.roles))

    async def delete_former(tx: Writing) -> None:
        rows.delete_of_email(tx, fold(email))
        await tx.flush()  # PostgreSQL would run it together with the insertion, which would find the former one

    return Decision([Unlogged(delete_former), InvitationSent(made)], made, subject=(None, actor.id))


async def withdraw_invitation(tx: Reading, invitation_id: str) -> Decision[Invitation]:
    found = await rows.find_by_id(tx, invitation_id) if await rows.lock(tx, invitation_id) else None
    if found is None:
        raise NoSuchInvitation(id=invitation_id)
    return Decision([InvitationWithdrawn(found)], found, subject=(None, found.inviter_id))


async def accept_invitation(tx: Reading, secret: str, name: str, password: str, settings: Settings) -> Decision[User]:
    """Register the invited person's account, with the roles of the invitation. It works once."""
    found = await rows.find_by_secret(tx, secret)
    if found is None:
        raise InvitationVoid
    await users.lock(tx, found.inviter_id)
    await role_rows.lock_staff(tx)
    inviter = await users.find_by_id(tx, found.inviter_id)
    if not await rows.lock(tx, found.id) or inviter is None or not permissions.can_manage_staff(inviter):
        raise InvitationVoid
    await _require_can_still_give(tx, found.roles, inviter)
    # a role that gives approvals.decide only since the invitation: nobody approved that for the invited person
    if parse_rules(settings.approvals) and not found.makes_decider and await deciders.gives_decision(tx, found.roles):
        raise InvitationVoid
    accounts.require_name(name, "name", settings)
    decision = await accounts.register(tx, name, found.email, password, Powers(), found.roles)

    async def delete(tx: Writing) -> None:
        rows.delete(tx, found.id)

    return Decision([*decision.changes, Unlogged(delete)], decision.result)


def _accept_all(_: frozenset[str]) -> None:
    """Check nothing: the rules compare permissions themselves."""


async def _require_can_still_give(tx: Reading, names: Iterable[str], inviter: User) -> None:
    table = await role_rows.read_all(tx)
    actor = Actor(inviter.id, inviter.name, permissions.list_held(inviter), _accept_all)
    try:
        permissions.require_roles(names, table)
        await roles.require_can_give(tx, [table[each] for each in names], actor)
    except Refusal:
        raise InvitationVoid from None
