"""Invitations of staff: a mail with a one-time link, with which a person makes an account that has the given roles.

The inviter must be able to give the roles when inviting, and still when the invitation is accepted.
"""

from collections.abc import Collection, Iterable

from gamekeeper.game import accounts, deciders, lookup, permissions, roles, staff
from gamekeeper.game.actors import Actor
from gamekeeper.game.approvals import parse_rules
from gamekeeper.game.change import Unlogged
from gamekeeper.game.changes import Decision
from gamekeeper.game.invitation_effects import InvitationSent, InvitationWithdrawn
from gamekeeper.game.lookup import fold
from gamekeeper.game.refusals import BadField, EmailTaken, Refusal
from gamekeeper.game.role_refusals import (
    InvitationVoid,
    NoPublicUrl,
    NoSuchInvitation,
    TooManyInvitations,
)
from gamekeeper.settings import Settings
from gamekeeper.store import clock, users
from gamekeeper.store import invitations as rows
from gamekeeper.store import roles as role_rows
from gamekeeper.store.engine import Reading, Writing
from gamekeeper.store.invitations import Invitation
from gamekeeper.store.powers import Powers
from gamekeeper.store.users import User

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
    staff.require_roles(names, table)
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


async def withdraw(tx: Reading, invitation_id: str) -> Decision[Invitation]:
    found = await rows.find_by_id(tx, invitation_id) if await rows.lock(tx, invitation_id) else None
    if found is None:
        raise NoSuchInvitation(id=invitation_id)
    return Decision([InvitationWithdrawn(found)], found, subject=(None, found.inviter_id))


async def accept(tx: Reading, secret: str, name: str, password: str, settings: Settings) -> Decision[User]:
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
        staff.require_roles(names, table)
        await roles.require_can_give(tx, [table[each] for each in names], actor)
    except Refusal:
        raise InvitationVoid from None
