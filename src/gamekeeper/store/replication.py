import re

from gamekeeper.store.engine import Reading
from gamekeeper.store.statements import Statements

SQL = Statements("replication")
# number of standbys in `synchronous_standby_names`; a list without a count means FIRST 1
_COUNT = re.compile(r"\s*(?:(?:FIRST|ANY)\s+)?(\d+)\s*\(", re.IGNORECASE)


async def count_synchronous_standbys(tx: Reading) -> int:
    """Count the synchronous standbys, which receive every change before it is acknowledged; 0 on SQLite.

    A COMMIT waits for the number in `synchronous_standby_names`. Disconnected standbys are not counted if our database
    role may see them (pg_read_all_stats).
    """
    row = await tx.one(SQL.synchronous_standbys)
    names, connected = row or ("", 0)
    required = parse_required_standbys(names)
    return required if connected is None else min(required, connected)


def parse_required_standbys(names: str) -> int:
    """Read the number of standbys out of PostgreSQL's `synchronous_standby_names`."""
    counted = _COUNT.match(names)
    return int(counted[1]) if counted else int(bool(names.strip()))
