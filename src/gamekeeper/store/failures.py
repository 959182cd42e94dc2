"""What the driver's exceptions mean: PostgreSQL's errors as those of `engine.py`."""

import asyncpg

from gamekeeper.store.engine import AccessDenied, DatabaseUnavailable, DiskFull, LockTimeout

SCHEMA_ADVICE = "Check that the database user has USAGE on the schema, and that its search_path names the schema."
OWNER_ADVICE = "Grant the privilege, or make the user that you connect as the owner of the database."
# The transaction is rolled back and the rule decides again, on the rows that are there now.
RETRYABLE = (
    asyncpg.SerializationError,
    asyncpg.DeadlockDetectedError,
    asyncpg.UniqueViolationError,  # another transaction inserted the same key first
    asyncpg.ForeignKeyViolationError,  # another transaction deleted the row that this one refers to
)
# The connection cannot be used any more, or never could.
CONNECTION_ERRORS = (
    OSError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,  # asyncpg raises it for a connection that died while it was idle
    asyncpg.PostgresConnectionError,
    asyncpg.OperatorInterventionError,
    asyncpg.IdleInTransactionSessionTimeoutError,
    asyncpg.ReadOnlySQLTransactionError,
    asyncpg.TooManyConnectionsError,
    asyncpg.InsufficientResourcesError,
)
# The schema is not in the search_path, or the user may not use it: PostgreSQL then does not find a table.
NOT_FOUND_ERRORS = (asyncpg.UndefinedTableError, asyncpg.InvalidSchemaNameError)
TRANSLATABLE = (
    *CONNECTION_ERRORS,
    *NOT_FOUND_ERRORS,
    TimeoutError,
    asyncpg.LockNotAvailableError,
    asyncpg.InsufficientPrivilegeError,
)


class StatementTimeout(DatabaseUnavailable):
    """PostgreSQL cancelled the statement at its time limit; a second try would take as long."""


def translate(error: BaseException) -> DatabaseUnavailable:
    """Return the exception to raise for one of KNOWN."""
    match error:
        case asyncpg.QueryCanceledError():
            return StatementTimeout("A statement took too long.")
        case asyncpg.LockNotAvailableError():
            return LockTimeout("Another change of the same thing takes too long.")
        case asyncpg.InsufficientPrivilegeError():
            return AccessDenied(f"The database does not allow it: {error}. {OWNER_ADVICE}")
        case asyncpg.UndefinedTableError() | asyncpg.InvalidSchemaNameError():
            return AccessDenied(f"The database does not find our tables: {error}. {SCHEMA_ADVICE}")
        case asyncpg.DiskFullError():
            return DiskFull(str(error))
        case _:
            return DatabaseUnavailable(str(error) or type(error).__name__)
