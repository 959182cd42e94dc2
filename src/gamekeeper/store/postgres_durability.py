"""PostgreSQL's settings that decide whether a commit survives a crash."""

from typing import Any

DURABLE = ("fsync", "full_page_writes")
# With these values of synchronous_commit a crash of the server or of its standby can lose acknowledged commits.
WEAK_COMMITS = ("off", "local", "remote_write")
# Raises synchronous_commit. Sent together with BEGIN, so it needs no extra round trip. Set in each transaction: behind
# PgBouncer a transaction may run in any session. remote_apply is stronger than on and is left unchanged.
RAISE_COMMIT = f"""SELECT set_config('synchronous_commit', 'on', true)
                   WHERE current_setting('synchronous_commit') IN {WEAK_COMMITS}"""
COMMIT_RAISED = (
    "PostgreSQL's synchronous_commit is {} for this database. Gamekeeper turns it on for its own changes, but a crash "
    "can lose the changes of other programs. Set it to on (or remote_apply)."
)


async def find_errors(db: Any) -> list[str]:  # noqa: ANN401 - asyncpg has no types
    """Find settings with which a crash loses acknowledged changes. PostgreSQL itself verifies its pages."""
    off = [name for name in DURABLE if await db.fetchval("SELECT current_setting($1)", name) == "off"]
    return [f"{name} is off: a crash loses acknowledged changes" for name in off]


async def find_cautions(db: Any) -> list[str]:  # noqa: ANN401 - asyncpg has no types
    found = await db.fetchval("SHOW synchronous_commit")
    return [COMMIT_RAISED.format(found)] if found in WEAK_COMMITS else []
