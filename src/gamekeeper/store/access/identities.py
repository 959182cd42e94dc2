"""Identities: accounts of people at an OpenID Connect provider, with which they sign in to the console."""

from collections.abc import Iterable
from typing import NamedTuple

from gamekeeper.store.engine.interface import Reading, Writing
from gamekeeper.store.engine.statements import Statements, as_table

SQL = Statements(__file__)


class Identity(NamedTuple):
    id: str
    user_id: str
    issuer: str  # address of the provider
    subject: str  # id of the person at the provider
    started_at: int  # when its last sign-in began, in milliseconds since 1970
    added_at: int = 0
    last_used: int | None = None


async def find(tx: Reading, issuer: str, subject: str) -> Identity | None:
    row = await tx.one(SQL.find, issuer, subject)
    return Identity(*row) if row else None


async def read_of_user(tx: Reading, user_id: str) -> list[Identity]:
    return [Identity(*row) for row in await tx.all(SQL.of_user, user_id)]


async def find_issuers(tx: Reading, user_ids: Iterable[str]) -> dict[str, list[str]]:
    """Return the issuers of the identities of these accounts, by account."""
    found: dict[str, list[str]] = {}
    for user_id, issuer in await tx.all(SQL.issuers, as_table({"id": each} for each in user_ids)):
        found.setdefault(user_id, []).append(issuer)
    return found


def insert(tx: Writing, identity: Identity) -> None:
    tx.defer(SQL.insert, *identity[:5])


def delete(tx: Writing, identity_id: str) -> None:
    tx.defer(SQL.delete, identity_id)


async def use(tx: Writing, identity_id: str, started_at: int) -> bool:
    """Use up a sign-in. False: it, or one that began later, was finished already."""
    return bool(await tx.returning(SQL.use, identity_id, started_at))
