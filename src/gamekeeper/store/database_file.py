"""The file of a SQLite database: whether it is still where it was opened, and whether its log is without it.

SQLite notices neither. It goes on writing to a file that was moved or deleted, and it deletes a log whose file is gone.
"""

from pathlib import Path

from gamekeeper.store.engine import Away, Unusable

MOVED = (
    "The database file {file} was moved, replaced or deleted while the server had it open. No change is accepted. "
    "Put it back together with its -wal file, or stop the server."
)
LOST = (
    "There is no database file {file}, but its log {log} holds {size} bytes of changes. Starting would delete them. "
    "Put the database file back beside its log; or move the log away to start with an empty database."
)


class DatabaseFile:
    """The file and its log as they were opened."""

    def __init__(self, path: Path) -> None:
        self._opened = {file: _identify(file) for file in (path, find_log(path))}
        self.moved = MOVED.format(file=path)  # message for when it is not in place

    def require_in_place(self) -> None:
        if not self.is_in_place():
            raise Away(self.moved)

    def is_in_place(self) -> bool:
        return all(_identify(file) == identity for file, identity in self._opened.items())


def find_log(path: Path) -> Path:
    """Return where SQLite keeps the log: beside the file that a symbolic link leads to."""
    real = path.resolve()
    return real.with_name(real.name + "-wal")


def measure(file: Path) -> int:
    """Return the size in bytes; 0 when the file does not exist or cannot be looked at."""
    try:
        return file.stat().st_size
    except OSError:
        return 0


def prepare_file(path: Path) -> None:
    """Create the file if there is none. Refuse a log whose file is missing or empty: SQLite would delete it."""
    log = find_log(path)
    if measure(log) and not measure(path):
        raise Unusable(LOST.format(file=path, log=log, size=measure(log)))
    try:
        path.touch(mode=0o600)  # whoever can read the file can read the reset codes in it
    except OSError as error:
        raise Away(f"The database {path} cannot be opened: {error}.") from error


def _identify(file: Path) -> tuple[int, int] | None:
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino
