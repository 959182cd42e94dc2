"""Translation of APSW's exceptions to those of `engine.py`."""

import errno

import apsw

from gamekeeper.store.engine import DatabaseUnavailable, DiskFull, UnusableDatabase

# SQLite's errors of the moment or of the machine. The others are faults of ours: a violated constraint, wrong values.
_UNAVAILABLE = (
    apsw.AbortError,
    apsw.BusyError,  # with BUSY_SNAPSHOT and BUSY_RECOVERY, which are its extended codes
    apsw.CantOpenError,
    apsw.EmptyError,
    apsw.FullError,
    apsw.InterruptError,
    apsw.IOError,
    apsw.LockedError,
    apsw.PermissionsError,
    apsw.ProtocolError,
    apsw.ReadOnlyError,
    apsw.SchemaChangeError,
    apsw.SQLError,
)
_UNIQUE = {apsw.SQLITE_CONSTRAINT_UNIQUE, apsw.SQLITE_CONSTRAINT_PRIMARYKEY}


class UndecodableText(apsw.Error):
    """A text of the database is not UTF-8: APSW raises UnicodeDecodeError, as other code does."""


def make_undecodable(error: UnicodeDecodeError) -> UndecodableText:
    return UndecodableText(f"could not decode a text of the database: {error}")


def translate(error: BaseException) -> BaseException:
    if isinstance(error, (apsw.CorruptError, apsw.NotADBError)):
        translated = UnusableDatabase(f"The database's file is damaged: {error}. Restore a backup.")
    elif isinstance(error, apsw.NoMemError):
        translated = MemoryError(str(error))
    elif _is_raised_by_trigger(error) or isinstance(error, (UndecodableText, *_UNAVAILABLE)):
        translated = DiskFull(str(error)) if is_full(error) else DatabaseUnavailable(str(error))
    else:
        return error
    translated.__cause__ = error
    return translated


def is_unique_violation(error: apsw.ConstraintError) -> bool:
    return error.extendedresult in _UNIQUE


def is_full(error: BaseException) -> bool:
    """Return whether an error means a full disk: SQLite's error for an open file, or the system's for a new file."""
    return isinstance(error, apsw.FullError) or getattr(error, "errno", 0) == errno.ENOSPC


def _is_raised_by_trigger(error: BaseException) -> bool:
    return isinstance(error, apsw.ConstraintError) and error.extendedresult == apsw.SQLITE_CONSTRAINT_TRIGGER
