"""Daily totals of gifts, and the quotas of roles."""

from collections.abc import Iterable
from typing import NamedTuple

from gamekeeper.store.engine.interface import Reading, Row, Writing
from gamekeeper.store.engine.statements import Statements, as_table

SQL = Statements(__file__)
RoleQuotas = dict[str, int]  # id of an item → the most of it per UTC day


class Gift(NamedTuple):
    giver_id: str  # an account or an API key
    item_id: str
    quantity: int


class GiftTotal(NamedTuple):
    giver_id: str
    item_id: str
    quantity: int  # given today, with the gifts of this transaction
    ends_at: int  # end of the UTC day, in milliseconds since 1970


async def add(tx: Writing, gifts: Iterable[Gift]) -> list[GiftTotal]:
    """Add gifts to the totals of today. Locks their rows, in the order of givers and items."""
    table = ({"giver": each.giver_id, "item": each.item_id, "quantity": each.quantity} for each in sorted(gifts))
    return [GiftTotal(*row) for row in await tx.returning(SQL.add, as_table(table))]


def give_back(tx: Writing, seq: int, item_id: str, quantity: int) -> None:
    """Take items off the totals of the giver and of the day of the gift with number `seq`, if it was counted."""
    tx.defer(SQL.give_back, seq, item_id, quantity)


def delete_old(tx: Writing, before_ms: int) -> None:
    tx.defer(SQL.delete_old, before_ms)


async def read_quotas_of_user(tx: Reading, user_id: str) -> list[RoleQuotas]:
    """Read the quotas of each role by which an account may give items."""
    return list(_group(await tx.all(SQL.quotas_of_user, user_id)).values())


async def read_quotas_of_role(tx: Reading, role: str) -> RoleQuotas:
    return _group(await tx.all(SQL.quotas_of_role, role)).get(role, {})


def _group(rows: Iterable[Row]) -> dict[str, RoleQuotas]:
    found: dict[str, RoleQuotas] = {}
    for role, item_id, most in rows:
        quotas = found.setdefault(role, {})
        if item_id is not None:
            quotas[item_id] = most
    return found
