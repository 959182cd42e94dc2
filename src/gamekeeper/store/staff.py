"""Recent activity of staff accounts: when they last logged in, and how many sessions they have."""

from collections.abc import Iterable
from typing import NamedTuple

from gamekeeper.store.engine import Reading
from gamekeeper.store.statements import Statements
from gamekeeper.store.table import as_table

SQL = Statements("staff")


class StaffActivity(NamedTuple):
    last_sign_in: int | None  # last sign-in in the security log; None: none is stored
    sessions: int  # live sessions of the console
    has_second_factor: bool


async def read_activity(tx: Reading, ids: Iterable[str]) -> dict[str, StaffActivity]:
    found = await tx.all(SQL.activity, as_table({"id": each} for each in ids))
    return {row[0]: StaffActivity(row[1], row[2], bool(row[3])) for row in found}
