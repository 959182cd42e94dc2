"""Invitations of staff, and the delivery of their mails. Only hashes of the links' secrets are stored."""

import hashlib
import secrets
from typing import Annotated, NamedTuple

from gamekeeper.store.accounts.mails import LeasedMail
from gamekeeper.store.engine.interface import ReadAs, Reading, Writing
from gamekeeper.store.engine.statements import Statements

SQL = Statements(__file__)
KIND = "invitation"  # kind of a leased mail
SECRET_BYTES = 32  # random bytes of the secret in a link


class Invitation(NamedTuple):
    id: str
    email: str
    roles: Annotated[tuple[str, ...], ReadAs(lambda joined: tuple(joined.split(",")))]
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


async def read_open(tx: Reading, limit: int) -> list[Invitation]:
    """Read the invitations that can still be accepted, newest first."""
    return await tx.rows(Invitation, SQL.open, limit)


async def find_by_secret(tx: Reading, secret: str) -> Invitation | None:
    """Find the invitation that can be accepted with the secret of its link."""
    return await tx.row(Invitation, SQL.by_hash, hash_secret(secret))


async def lock(tx: Reading, invitation_id: str) -> bool:
    """Lock an invitation. False: it was accepted or withdrawn."""
    return await tx.one(SQL.lock, invitation_id) is not None


def delete(tx: Writing, invitation_id: str) -> None:
    tx.defer(SQL.delete, invitation_id)


def delete_of_email(tx: Writing, email_fold: str) -> None:
    tx.defer(SQL.delete_of_email, email_fold)


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
