"""Translation of asyncpg's exceptions to those of `engine.py`."""

import asyncpg

from gamekeeper.store.engine import (
    OWNER_ADVICE,
    SCHEMA_ADVICE,
    AccessDenied,
    DatabaseUnavailable,
    DiskFull,
    LockTimeout,
)

# PostgreSQL errors after which the transaction is rolled back and retried on the current rows.
RETRYABLE = (
    asyncpg.SerializationError,
    asyncpg.DeadlockDetectedError,
    asyncpg.UniqueViolationError,  # a unique violation: another transaction inserted the same key first
    # a foreign key violation: another transaction deleted the row that this one refers to
    asyncpg.ForeignKeyViolationError,
)
# Errors after which a PostgreSQL connection cannot be used any more.
CONNECTION_ERRORS = (
    OSError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,  # asyncpg raises InternalClientError for a connection that died while it was idle
    asyncpg.PostgresConnectionError,
    asyncpg.OperatorInterventionError,
    asyncpg.IdleInTransactionSessionTimeoutError,
    asyncpg.ReadOnlySQLTransactionError,
    asyncpg.TooManyConnectionsError,
    asyncpg.InsufficientResourcesError,
)
# Errors that PostgreSQL raises if our schema is not in the search_path, or if the user lacks USAGE on it.
NOT_FOUND_ERRORS = (asyncpg.UndefinedTableError, asyncpg.InvalidSchemaNameError)
TRANSLATABLE = (
    *CONNECTION_ERRORS,
    *NOT_FOUND_ERRORS,
    TimeoutError,
    asyncpg.LockNotAvailableError,
    asyncpg.InsufficientPrivilegeError,
)


class StatementTimeout(DatabaseUnavailable):
    """PostgreSQL cancelled an SQL statement at its timeout; a retry would take as long."""


def translate(error: BaseException) -> DatabaseUnavailable:
    """Return the exception of `engine.py` to raise instead of an exception of asyncpg."""
    match error:
        case asyncpg.QueryCanceledError():
            return StatementTimeout("A statement took too long.")
        case asyncpg.LockNotAvailableError():
            return LockTimeout("Another change to the same player or account takes too long.")
        case asyncpg.InsufficientPrivilegeError():
            return AccessDenied(f"The database does not allow it: {error}. {OWNER_ADVICE}")
        case asyncpg.UndefinedTableError() | asyncpg.InvalidSchemaNameError():
            return AccessDenied(f"The database does not find our tables: {error}. {SCHEMA_ADVICE}")
        case asyncpg.DiskFullError():
            return DiskFull(str(error))
        case _:
            return DatabaseUnavailable(str(error) or type(error).__name__)
