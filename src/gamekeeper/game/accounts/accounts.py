"""Rules for accounts: registration, also by an invitation of staff, and names, email addresses and passwords.

The limit on accounts that one caller may register is counted in the transaction of the registration. An invitation is a
mail with a one-time link, with which a person makes an account that has the given roles.
"""

from collections.abc import Collection, Iterable

from gamekeeper.game.access import guess_limits, permissions, roles
from gamekeeper.game.access.changes import PasswordChanged, UserRegistered
from gamekeeper.game.access.refusals import InvitationVoid, NoPublicUrl, NoSuchInvitation, TooManyInvitations
from gamekeeper.game.accounts.changes import EmailChanged, InvitationSent, InvitationWithdrawn, UserRenamed
from gamekeeper.game.core import lookup
from gamekeeper.game.core.change import Actor, Unlogged
from gamekeeper.game.core.lookup import fold
from gamekeeper.game.core.refusals import (
    BadField,
    EmailTaken,
    Refusal,
    TooManyRegistrations,
    UsernameTaken,
    WrongPassword,
)
from gamekeeper.game.core.values import require_email, require_name
from gamekeeper.game.core.writes import Decision
from gamekeeper.ground.instants import HOUR_MS
from gamekeeper.ground.settings import Settings
from gamekeeper.store.access import roles as role_rows
from gamekeeper.store.access.roles import Powers
from gamekeeper.store.accounts import invitations as rows
from gamekeeper.store.accounts import users
from gamekeeper.store.accounts.invitations import Invitation
from gamekeeper.store.accounts.users import User
from gamekeeper.store.engine import clock
from gamekeeper.store.engine.interface import Reading, Writing

ACCEPTED = "accepted invitation {}"  # reason of the registration in the audit log; {}: id of the invitation
MOST_OPEN = 500  # invitations that can be open at the same time; lists show all of them


async def register(
    tx: Reading, name: str, email: str, password: str, powers: Powers, held: Collection[str] = ()
) -> Decision[User]:
    """Register an account. `held`: its roles; `api` among them sets the flag that stands for it."""
    if await users.find_by_fold(tx, fold(name)):
        raise UsernameTaken(name=name)
    if await users.find_id_by_email_fold(tx, fold(email)):
        raise EmailTaken(email=email, advice="")
    user = User(lookup.new_guid(), name, email, password, powers, 0, None, None)
    if held:
        user = await permissions.add_roles(tx, user, held)
    return Decision([UserRegistered(user)], user)


async def register_counted(
    tx: Reading, caller: str, settings: Settings, name: str, email: str, password: str
) -> Decision[User]:
    """Register an account without permissions. Refused requests and dry runs do not count towards the limit."""
    await users.lock(tx, caller)  # lock the caller's account, so that it registers no other account during the count
    wait = await tx.value(users.SQL.registration_wait, caller, settings.registrations_per_caller, HOUR_MS) or 0
    if wait:
        raise TooManyRegistrations(-(-wait // 1000))
    decision = await register(tx, name, email, password, Powers())

    async def count(tx: Writing) -> None:
        tx.defer(users.SQL.delete_old_registrations, caller, HOUR_MS)
        tx.defer(users.SQL.insert_registration, caller, decision.result.id)

    return Decision([*decision.changes, Unlogged(count)], decision.result)


async def invite(
    tx: Reading, email: str, names: Collection[str], actor: Actor, settings: Settings
) -> Decision[Invitation]:
    """Invite a person by mail. An open invitation to the same address is replaced."""
    if not settings.public_url or not settings.console:
        raise NoPublicUrl
    require_email(email, "email")
    if not names:
        raise BadField(field="roles", problem="must name at least one role")
    await users.lock(tx, actor.id)
    await role_rows.lock_staff(tx)
    table = await role_rows.read_all(tx)
    permissions.require_roles(names, table)
    await roles.require_can_give(tx, [table[each] for each in names], actor)
    if await users.find_id_by_email_fold(tx, fold(email)):
        raise EmailTaken(email=email, advice=" Give that account the role instead.")
    if await tx.value(rows.SQL.count) >= MOST_OPEN:
        raise TooManyInvitations(most=MOST_OPEN)
    now = await clock.now(tx)
    expires_at = now + settings.invitation_hours * HOUR_MS
    made = Invitation(lookup.new_guid(), email, tuple(sorted({*names})), actor.id, actor.name, now, expires_at)
    made = made._replace(makes_decider=await permissions.gives_decision(tx, made.roles))

    async def delete_former(tx: Writing) -> None:
        rows.delete_of_email(tx, fold(email))
        await tx.flush()  # PostgreSQL would run it together with the insertion, which would find the former one

    return Decision([Unlogged(delete_former), InvitationSent(made)], made, subject=(None, actor.id))


async def withdraw_invitation(tx: Reading, invitation_id: str) -> Decision[Invitation]:
    is_open = await rows.lock(tx, invitation_id)
    found = await tx.row(Invitation, rows.SQL.by_id, invitation_id) if is_open else None
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
    has_rules = settings.approvals.replace(",", " ").strip()
    # a role that gives approvals.decide only since the invitation: nobody approved that for the invited person
    if has_rules and not found.makes_decider and await permissions.gives_decision(tx, found.roles):
        raise InvitationVoid
    require_name(name, "name", settings)
    decision = await register(tx, name, found.email, password, Powers(), found.roles)

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


async def rename(tx: Reading, key: str, name: str) -> Decision[User]:
    """Rename an account. The name must be free; the account's own name in another case counts as free."""
    user = await lookup.lock_user_record(tx, key)
    owner = await users.find_by_fold(tx, fold(name))
    if owner and owner.id != user.id:
        raise UsernameTaken(name=name)
    if owner and user.name == name:
        return Decision([], user, subject=(None, user.id))
    return Decision([UserRenamed(user, name)], user._replace(name=name))


async def change_email(tx: Reading, key: str, email: str, proven: str | None) -> Decision[User]:
    """Change an account's email. `proven`: stored hash that the sent password matched; None: no password is needed."""
    user = await _lock_user(tx, key, proven)
    owner = await users.find_id_by_email_fold(tx, fold(email))
    if owner not in (None, user.id):
        raise EmailTaken(email=email, advice="")
    if owner and user.email == email:
        return Decision([], user, subject=(None, user.id))
    return Decision(
        [EmailChanged(user, email, is_proven=proven is not None)], user._replace(email=email, reset_code=None)
    )


async def change_password(tx: Reading, key: str, password: str, proven: str | None) -> Decision[User]:
    user = await _lock_user(tx, key, proven)
    change = PasswordChanged(user, password, is_proven=proven is not None)
    return Decision([change, guess_limits.forget_known_callers(user.id)], user)


async def _lock_user(tx: Reading, key: str, proven: str | None) -> User:
    user = await lookup.lock_user_record(tx, key)
    if proven is not None and user.password != proven:
        raise WrongPassword  # the password was changed after the caller's password was checked
    return user
