"""Invitations of staff, and the delivery of their mails. Only hashes of the links' secrets are stored."""

import hashlib
import secrets
from typing import NamedTuple

from gamekeeper.store.accounts.mails import LeasedMail, LeaseStatements, MailLeases
from gamekeeper.store.engine.interface import Reading, Row, Writing
from gamekeeper.store.engine.statements import Statements

SQL = Statements(__file__)
KIND = "invitation"  # kind of a leased mail
SECRET_BYTES = 32  # random bytes of the secret in a link
LEASES = MailLeases(
    LeaseStatements(
        is_wanted=SQL.is_wanted,
        note_sent=SQL.note_sent,
        note_failure=SQL.note_failure,
        note_refusal=SQL.note_refusal,
    )
)


class Invitation(NamedTuple):
    id: str
    email: str
    roles: tuple[str, ...]
    inviter_id: str
    inviter: str
    invited_at: int
    expires_at: int
    sent_at: int | None = None
    failed_at: int | None = None  # the mail was rejected permanently
    last_error: str | None = None
    makes_decider: bool = False  # its roles gave approvals.decide when it was sent


def hash_secret(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def insert(tx: Writing, invitation: Invitation, email_fold: str) -> None:
    tx.defer(
        SQL.insert,
        invitation.id,
        invitation.email,
        email_fold,
        ",".join(invitation.roles),
        invitation.inviter_id,
        invitation.expires_at,
        invitation.makes_decider,
    )


async def read_open(tx: Reading, limit: int) -> list[Invitation]:
    """Read the invitations that can still be accepted, newest first."""
    return [_to_invitation(row) for row in await tx.all(SQL.open, limit)]


async def find_by_id(tx: Reading, invitation_id: str) -> Invitation | None:
    row = await tx.one(SQL.by_id, invitation_id)
    return _to_invitation(row) if row else None


async def find_by_secret(tx: Reading, secret: str) -> Invitation | None:
    """Find the invitation that can be accepted with the secret of its link."""
    row = await tx.one(SQL.by_hash, hash_secret(secret))
    return _to_invitation(row) if row else None


async def count(tx: Reading) -> int:
    return await tx.value(SQL.count) or 0


async def lock(tx: Reading, invitation_id: str) -> bool:
    """Lock an invitation. False: it was accepted or withdrawn."""
    return await tx.one(SQL.lock, invitation_id) is not None


def delete(tx: Writing, invitation_id: str) -> None:
    tx.defer(SQL.delete, invitation_id)


def delete_of_email(tx: Writing, email_fold: str) -> None:
    tx.defer(SQL.delete_of_email, email_fold)


def delete_old(tx: Writing, before_ms: int) -> None:
    tx.defer(SQL.delete_old, before_ms)


def delete_former(tx: Writing) -> None:
    """Delete the invitations of a former epoch: they may have been accepted or withdrawn since."""
    tx.defer(SQL.delete_former)


async def has_due(tx: Reading) -> bool:
    return await tx.one(SQL.any_due) is not None


async def lease(tx: Writing, lease_ms: int) -> LeasedMail | None:
    """Lease the invitation that has been due longest. Make the secret of its link, and store the hash of it."""
    row = await tx.one(SQL.next_due, lease_ms)
    if row is None:
        return None
    invitation_id, inviter, address, invited_at, tries, left_ms, taken_until = row
    secret = secrets.token_urlsafe(SECRET_BYTES)
    tx.defer(SQL.take, invitation_id, tries, taken_until)
    tx.defer(SQL.add_link, invitation_id, hash_secret(secret))
    return LeasedMail(invitation_id, inviter, address, secret, invited_at, tries, left_ms, taken_until, KIND)


def _to_invitation(row: Row) -> Invitation:
    invitation_id, email, names, *rest, makes_decider = row
    return Invitation(invitation_id, email, tuple(names.split(",")), *rest, makes_decider=bool(makes_decider))
