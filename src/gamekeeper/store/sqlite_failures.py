"""Translation of SQLite's exceptions to those of `engine.py`."""

import errno
import sqlite3

from gamekeeper.store.engine import DatabaseUnavailable, DiskFull, UnusableDatabase


def translate(error: BaseException) -> BaseException:
    name: str = getattr(error, "sqlite_errorname", "")
    if name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB")):
        translated = UnusableDatabase(f"The database's file is damaged: {error}. Restore a backup.")
    elif name == "SQLITE_CONSTRAINT_TRIGGER" or isinstance(error, sqlite3.OperationalError):
        translated = DiskFull(str(error)) if is_full(error) else DatabaseUnavailable(str(error))
    else:
        return error
    translated.__cause__ = error
    return translated


def is_unique_violation(error: sqlite3.IntegrityError) -> bool:
    return error.sqlite_errorname in {"SQLITE_CONSTRAINT_UNIQUE", "SQLITE_CONSTRAINT_PRIMARYKEY"}


def is_full(error: BaseException) -> bool:
    """Return whether an error means a full disk: SQLite's error for an open file, or the system's for a new file."""
    return getattr(error, "sqlite_errorname", "") == "SQLITE_FULL" or getattr(error, "errno", 0) == errno.ENOSPC
