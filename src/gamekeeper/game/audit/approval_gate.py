"""Holds changes until a second person approves them: the rules of approval in the write path, and denials.

While any rule is set, one person must not get a second account that approves: neither by giving somebody
`approvals.decide`, nor by a change of the log-in of an account that has it. So these changes need an approval without a
rule of their own. An account's own change is not held, unless an API key makes it: other people know the key's text.
The command line stands outside of approvals. An approval runs the held request again, see http/audit/approvals.py.
"""

import shlex
from collections.abc import Sequence
from typing import Any, NamedTuple

from msgspec.structs import replace

from gamekeeper.game.access import permissions, security_log
from gamekeeper.game.access.changes import (
    PasswordChanged,
    PowersChanged,
    RoleSaved,
    RolesChanged,
    UserChange,
    UserRegistered,
)
from gamekeeper.game.access.permissions import DECIDE, gives_decision, is_decider
from gamekeeper.game.accounts.changes import EmailChanged, InvitationSent
from gamekeeper.game.audit import approvals
from gamekeeper.game.audit.changes import ChangeApproved
from gamekeeper.game.audit.refusals import ApprovalDenied, ApprovalExpired, NobodyCanDecide
from gamekeeper.game.core.change import Change, Codec, Unlogged
from gamekeeper.game.core.request import NO_REQUEST, Consent, Rules, SecurityEvent
from gamekeeper.game.core.writes import Decision, Intent, make_entry
from gamekeeper.game.players import gift_limits
from gamekeeper.store.access import api_keys
from gamekeeper.store.access import roles as role_rows
from gamekeeper.store.accounts.users import User
from gamekeeper.store.audit import approvals as rows
from gamekeeper.store.audit import bulk_jobs as bulk_rows
from gamekeeper.store.audit.approvals import DENIED, DONE, EXPIRED, Approval
from gamekeeper.store.core import ledger
from gamekeeper.store.engine import clock
from gamekeeper.store.engine.interface import Reading, Writing

GIVING = (PowersChanged, RolesChanged, RoleSaved, InvitationSent, UserRegistered)


class GuardedChange(NamedTuple):
    command: str  # makes the change on the server
    user_id: str | None  # the account that it changes


async def require_approval(
    tx: Reading, actor_id: str, token_id: str | None, changes: Sequence[Change | Unlogged]
) -> bool:
    """Tell whether these changes need an approval because of deciders. Refuse them if nobody else could decide."""
    if not any(isinstance(each, GIVING) or (isinstance(each, Change) and each.command_line) for each in changes):
        return False
    makers = await api_keys.read_makers(tx, [token_id]) if token_id else []
    by_key = bool(token_id and await api_keys.find(tx, token_id))
    for change in changes:
        found = await _find_given(tx, change) or _find_changed(change, None if by_key else actor_id)
        if found:
            others = {actor_id, found.user_id or actor_id, *(each.id for each in makers)}
            if not await role_rows.has_another_decider(tx, others):
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
        case UserChange(user=user, command_line=command) if command and user.id != own_id and is_decider(user):
            return GuardedChange(_name(command, user), user.id)
        case _:
            return None


def _gains(before: User, after: User) -> bool:
    """Tell whether an account can decide afterwards and could not before."""
    return is_decider(after) and not (is_decider(before) and permissions.can_log_in(before))


def _name(command: str, user: User) -> str:
    return command.format(name=shlex.quote(user.name))


class ApprovalGate:
    def __init__(self, codec: Codec, rules: Rules, hours: int) -> None:
        self._codec = codec
        self.rules = rules
        self._hours = hours  # how long a change waits for approval

    async def find_rule(self, tx: Writing, intent: Intent, decision: Decision[Any]) -> str | None:
        """Return the rule that holds a change for approval. Count the gifts of one that is not held.

        A gift beyond a limit of its caller is refused now: its approval would be refused.
        """
        if intent.find_request is None or not intent.actor_id or intent.over_link:
            return None
        rule = None
        if intent.consent is None and not (intent.step and intent.step.is_approved):
            rule = await approvals.find_rule(tx, self.rules, intent.actor_id, decision.changes)
            if await require_approval(tx, intent.actor_id, intent.token_id, decision.changes):
                rule = rule or DECIDE
        if rule is not None and intent.gift_limits is not None:
            await gift_limits.require_within(tx, intent.gift_limits, decision.changes, decision.undoes)
        if rule is None:
            await approvals.count_gifts(tx, self.rules, intent.actor_id, decision.changes)
        return rule

    async def hold(
        self,
        tx: Writing,
        intent: Intent,
        rule: str,
        entries: Sequence[ledger.LedgerEntry],
        state_fingerprint: str,
        key: tuple[str, str] | None,
    ) -> str:
        """Store a request that waits for approval; return the approval's id."""
        if intent.actor_id and intent.step is None:  # a bulk job is limited by its players
            await approvals.require_few_waiting(tx, intent.actor_id)
        request = intent.find_request() if intent.find_request else NO_REQUEST
        return approvals.hold(tx, rule, self._hours, request, entries, state_fingerprint, key)

    async def require_held(self, tx: Reading, approval_id: str) -> None:
        """Refuse the repetition of a held request whose approval was denied, or expired."""
        found = await rows.find(tx, approval_id)
        if found is None or found.state == EXPIRED:
            raise ApprovalExpired
        if found.state == DENIED:
            raise ApprovalDenied

    def require_waiting(self, approval_id: str, state: str | None) -> None:
        approvals.require_waiting(approval_id, state)

    async def record_consent(self, tx: Writing, intent: Intent, consent: Consent) -> None:
        """Mark an approval as carried out, and name the approver in the audit log and the security log.

        Only the approval has the approver's reason: an erasure of the person whom the change is about removes it there.
        """
        # not in one statement: the change comes first in the audit log, and an erasure changes the row of its approval
        await tx.flush()
        approver = replace(intent, actor_id=consent.approver_id, token_id=consent.approver_token_id, reason=None)
        approved = ChangeApproved(intent.actor_id, consent.approval_id)
        await ledger.append(tx, [make_entry(self._codec, approver, approved)])
        rows.decide(tx, consent.approval_id, DONE, consent.approver_id, consent.reason)
        event = SecurityEvent("approval_granted", intent.actor_id, details={"ApprovalId": consent.approval_id})
        security_log.record_decision(tx, (), [event], consent.approver_id, intent.find_origin)


async def deny(tx: Reading, approval_id: str, account_id: str | None, reason: str | None) -> Decision[Approval]:
    """Deny a held change. `account_id`: the caller, another account than the requester's; None: the command line."""
    await approvals.lock_waiting(tx, approval_id)
    found = await approvals.find(tx, approval_id)
    if account_id is not None:
        approvals.require_other(found, account_id)

    held = await bulk_rows.find_held(tx, [approval_id])

    async def write(tx: Writing) -> None:
        if held:
            bulk_rows.refuse_held(tx, held, ApprovalDenied().code, ApprovalDenied().message)
        rows.decide(tx, approval_id, DENIED, account_id, reason)

    event = SecurityEvent("approval_denied", found.actor_id, details={"ApprovalId": approval_id})
    now = await clock.now(tx)
    denied = found._replace(state=DENIED, decided_at=now, decided_by=account_id, decision_reason=reason)
    # the requester's erasure finds the answer by its id, that of the person whom the change is about by this subject
    player_id, user_id = await rows.find_subject(tx, approval_id)
    subject = (player_id, user_id or found.actor_id)
    return Decision([Unlogged(write)], denied, subject=subject, events=[event])
