"""Checks of the SQLite database file that SQLite does not do: that opening is safe, and that the file stays in place.

SQLite keeps writing to a file that was moved. It deletes the write-ahead log (WAL) of an empty file. It looks for the
WAL next to the file's current name, even if another process uses the file under another name with another WAL.
"""

import os
import struct
import sys
import threading
import time
from pathlib import Path

from gamekeeper.store.engine.interface import DatabaseUnavailable, UnusableDatabase

MOVED = (
    "The database file {file} was moved, replaced or deleted while the server had it open. No change is accepted. "
    "Put it back together with its -wal file, or stop the server."
)
LOST = (
    "There is no database file {file}, or it is empty, but its log {log} holds {size} bytes of changes. Opening it "
    "would delete them. Put the database file back next to its log; or move the log away to start empty."
)
LINKED = (
    "{link} is a symbolic link to the database file {file}, but the log {log} next to the link holds {size} bytes of "
    "changes. SQLite would not read it. Put the database file itself back where the link is, start and stop the server "
    "once, and then move the file; or move the log away to continue without these changes."
)
HARD_LINKED = (
    "The database file {file} has {names} names (hard links). SQLite would keep a log for each of them, which destroys "
    "the database. Delete the other names, or make copies of them."
)
OTHER_FILE = (
    "A running server uses the log {log} for another file than {file}: its own was moved or replaced. Opening this one "
    "would destroy changes. Put the server's file back, or stop the server."
)
OTHER_NAME = (
    "The database file {file} is in use under another name, with another log than {log}. Opening it would destroy "
    "changes. Use the name that the running server uses, or stop the server."
)
FOREIGN_LOG = (
    "The database file {file} and its log {log} with {size} bytes of changes do not fit together: {error}. If you put "
    "a copy in the place of {file}, move the log of the earlier file away, and put the copy there again. If not, "
    "restore a backup."
)
READ_ONLY = (
    "The database file {file} cannot be written by this user. Gamekeeper writes to it and to its folder: use the user "
    "that it belongs to, or change its permissions."
)
FLOCK_FORMAT = "hhqqi"  # struct flock of Linux: type, whence, start, length, process
IN_USE = (0x40000002, 510)  # start and length of the bytes in the database file that a WAL connection keeps locked
LOG_IN_USE = (128, 1)  # start and length of the byte in the -shm file that a WAL connection keeps locked
# Timeout and poll interval in seconds: a process that opens or closes the database file takes two locks in turn.
SETTLE_SECONDS, LOOK_SECONDS = 1.0, 0.05

FileIdentity = tuple[int, int]  # identity of a file: device and inode
_guard = threading.Lock()
# SQLite files that are open in this process, with one entry per open store
_open_here: dict[Path, list[FileIdentity]] = {}


class DatabaseFile:
    """The database file and its WAL, registered in this process from before they are opened until they are closed."""

    def __init__(self, path: Path) -> None:
        self._path, self._real, self._log = path, resolve(path), find_log(path)
        self.moved = MOVED.format(file=path)  # error message if the database file was moved or replaced
        with _guard:
            self._prepare()
            self._identity = _identify(self._real, follow=False)
            self._log_identity: FileIdentity | None = None
            if self._identity:
                _open_here.setdefault(self._real, []).append(self._identity)

    def remember_log(self) -> None:
        """Remember which file the WAL is; call this after the first read of the database, which creates the WAL."""
        self._log_identity = _identify(self._log)

    def release(self) -> None:
        with _guard:
            there = _open_here.get(self._real, [])
            if self._identity in there:
                there.remove(self._identity)
            if not there:
                _open_here.pop(self._real, None)

    def require_in_place(self) -> None:
        if not self.is_in_place():
            raise DatabaseUnavailable(self.moved)

    def is_in_place(self) -> bool:
        """Return whether the paths still lead to the opened database file and WAL.

        The file itself must not have been replaced by a symbolic link, which would lead to another WAL.
        """
        return (
            _identify(self._real, follow=False) == self._identity == _identify(self._path)
            and _identify(self._log) == self._log_identity
        )

    def _prepare(self) -> None:
        """Refuse database files that SQLite would damage; create the file if it does not exist."""
        try:
            require_whole(self._path)
            here = _open_here.get(self._real)
            if here is None:
                _require_one_log(self._real, self._log)
            elif _identify(self._real, follow=False) not in here:
                raise DatabaseUnavailable(self.moved)
            if not self._path.exists():
                self._path.touch(mode=0o600)  # only the owner may read the database file: it contains reset codes
            if not os.access(self._path, os.W_OK):
                raise UnusableDatabase(READ_ONLY.format(file=self._path))
        except OSError as error:
            raise DatabaseUnavailable(f"The database {self._path} cannot be opened: {error}.") from error


def resolve(path: Path) -> Path:
    """Follow symbolic links to the database file, as SQLite does. Unlike `Path.resolve`, accept a loop of links."""
    return Path(os.path.realpath(path))


def find_log(path: Path) -> Path:
    """Return the path of SQLite's WAL: next to the file that a symbolic link leads to."""
    return _add_suffix(resolve(path), "-wal")


def measure_size(file: Path) -> int:
    """Return the size of a database file in bytes; 0 if it does not exist or is not accessible."""
    try:
        return file.stat().st_size
    except OSError:
        return 0


def require_whole(path: Path) -> None:
    """Refuse a WAL that SQLite would delete or ignore, and a file with hard links, which could have several WALs."""
    real, log = resolve(path), find_log(path)
    if measure_size(log) and not measure_size(real):
        raise UnusableDatabase(LOST.format(file=path, log=log, size=measure_size(log)))
    for link in _find_links(path):
        ignored = _add_suffix(link, "-wal")
        if measure_size(ignored) and _identify(ignored) != _identify(log):
            raise UnusableDatabase(LINKED.format(link=link, file=real, log=ignored, size=measure_size(ignored)))
    if real.is_file() and (names := real.stat().st_nlink) > 1:
        raise UnusableDatabase(HARD_LINKED.format(file=real, names=names))


def _require_one_log(file: Path, log: Path) -> None:
    """Refuse the database file if another process uses it with another WAL, or uses its WAL with another file.

    Do not call this while this process has the file open: closing a file releases all locks of the process on it.
    """
    deadline = time.monotonic() + SETTLE_SECONDS
    while True:
        file_in_use, log_in_use = _is_locked(file, *IN_USE), _is_locked(_add_suffix(file, "-shm"), *LOG_IN_USE)
        if file_in_use == log_in_use:
            return
        if time.monotonic() > deadline:
            raise UnusableDatabase((OTHER_NAME if file_in_use else OTHER_FILE).format(file=file, log=log))
        time.sleep(LOOK_SECONDS)


def _is_locked(file: Path, start: int, length: int) -> bool:
    """Return whether another process has locked any of these bytes of a file; always False except on Linux."""
    if sys.platform != "linux" or not file.is_file():
        return False
    import fcntl  # noqa: PLC0415 - Windows has none

    opened = os.open(file, os.O_RDONLY)
    try:
        asked = struct.pack(FLOCK_FORMAT, fcntl.F_WRLCK, os.SEEK_SET, start, length, 0)
        kind: int = struct.unpack(FLOCK_FORMAT, fcntl.fcntl(opened, fcntl.F_GETLK, asked))[0]
    finally:
        os.close(opened)
    return kind != fcntl.F_UNLCK


def _find_links(path: Path) -> list[Path]:
    found: list[Path] = []
    while path.is_symlink() and path not in found:
        found.append(path)
        path = path.parent / path.readlink()
    return found


def _add_suffix(file: Path, suffix: str) -> Path:
    return file.with_name(file.name + suffix)


def _identify(file: Path, *, follow: bool = True) -> FileIdentity | None:
    try:
        found = os.stat(file, follow_symlinks=follow)  # noqa: PTH116 - for each write: Path.stat takes longer
    except OSError:
        return None
    return found.st_dev, found.st_ino
