"""An in-memory file system that loses unsynced writes on a power cut, and can fail on demand.

    with FrailDisk(mount, folder, seed) as disk: …                shows the files of `folder` at `mount`
    disk.cut(after=7)        power cut at the seventh write; `folder` then has what a real disk would have
    disk.fail(percent=30)    fails 30 % of the writes and syncs with EIO
    python -m battery.frail_disk MOUNT FOLDER SEED                the program behind it

As on a real disk, an unsynced write may or may not survive a cut: in half of the cuts none survives, in the other half
every second one. Changes of names survive at once, since file systems journal them in order.
"""

import contextlib
import errno
import os
import random
import shutil
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from battery.cases import NotRun

MISSING = "no FUSE here: it takes /dev/fuse, the Debian package fuse3 and mfusepy"
ORDERS = "/orders"  # control file of the mounted disk: commands are written to it
# suffix of SQLite's shared-memory file, which is not stored on the disk, because SQLite rebuilds it
NEVER_ON_DISK = "-shm"
MOUNT_SECONDS = 60
CUT_SECONDS = 2
DEAD = 9


@dataclass
class File:
    mode: int
    now: bytearray = field(default_factory=bytearray)
    synced: bytearray = field(default_factory=bytearray)
    # Unsynced writes in order, as offset and data; data None: truncate the file at the offset
    pending: list[tuple[int, bytes | None]] = field(default_factory=list[tuple[int, bytes | None]])

    def change(self, offset: int, data: bytes | None) -> None:
        _apply(self.now, offset, data)
        self.pending.append((offset, data))

    def sync(self) -> None:
        self.keep(lambda: True)

    def keep(self, reached: Callable[[], bool]) -> None:
        """Sync those unsynced writes of the file for which `reached()` returns true, and drop the others."""
        for offset, data in self.pending:
            if reached():
                _apply(self.synced, offset, data)
        self.pending.clear()


def _apply(content: bytearray, offset: int, data: bytes | None) -> None:
    end = offset + len(data or b"")
    if len(content) < end:
        content.extend(bytes(end - len(content)))
    if data is None:
        del content[offset:]
    else:
        content[offset:end] = data


class Disk:
    """The file system operations that mfusepy calls; missing ones answer ENOSYS."""

    use_ns = True

    def __init__(self, folder: Path, seed: int) -> None:
        self._folder = folder
        self._chance = random.Random(seed)
        self._survival = self._chance.choice((0.0, 0.5))
        self._writes_left: int | None = None
        self._percent = 0
        self._files = {f"/{each.name}": _load_file(each) for each in folder.iterdir()} | {ORDERS: File(0o600)}

    def getattr(self, path: str, _handle: object = None) -> dict[str, Any]:
        owner = {"st_uid": os.getuid(), "st_gid": os.getgid(), "st_nlink": 1}
        if path == "/":
            return {"st_mode": stat.S_IFDIR | 0o755, **owner}
        file = self._file(path)
        return {"st_mode": stat.S_IFREG | file.mode, "st_size": len(file.now), **owner}

    def readdir(self, _path: str, _handle: object) -> list[str]:
        return [".", "..", *(name[1:] for name in self._files)]

    def statfs(self, _path: str) -> dict[str, int]:
        return {"f_bsize": 4096, "f_frsize": 4096, "f_blocks": 1 << 20, "f_bavail": 1 << 20, "f_bfree": 1 << 20}

    def create(self, path: str, mode: int, _info: object = None) -> int:
        self._files[path] = File(mode & 0o777)
        return 0

    def open(self, path: str, _flags: int) -> int:
        self._file(path)
        return 0

    def chmod(self, path: str, mode: int) -> int:
        self._file(path).mode = mode & 0o777
        return 0

    def utimens(self, _path: str, _times: object = None) -> int:
        return 0

    def rename(self, old: str, new: str) -> int:
        self._files[new] = self._files.pop(old)
        return 0

    def unlink(self, path: str) -> int:
        del self._files[path]
        return 0

    def read(self, path: str, size: int, offset: int, _handle: object) -> bytes:
        return bytes(self._file(path).now[offset : offset + size])

    def write(self, path: str, data: bytes, offset: int, _handle: object) -> int:
        if path == ORDERS:
            self._obey(data.decode())
        else:
            self._strain(path)
            self._file(path).change(offset, data)
        return len(data)

    def truncate(self, path: str, length: int, _handle: object = None) -> int:
        if path != ORDERS:
            self._strain(path)
            file = self._file(path)
            file.change(length, None)
            if len(file.now) < length:
                file.change(length, b"")
        return 0

    def fsync(self, path: str, _data_only: int, _handle: object) -> int:
        self._strain(path)
        self._file(path).sync()
        return 0

    def _file(self, path: str) -> File:
        if path not in self._files:
            raise OSError(errno.ENOENT, "")
        return self._files[path]

    def _obey(self, order: str) -> None:
        what, number = order.split()
        if what == "cut":
            self._writes_left = int(number)
            if self._writes_left == 0:
                self._lose_power()
        else:
            self._percent = int(number)

    def _strain(self, path: str) -> None:
        """Fail this write or sync, or cut the power at it, as commanded."""
        if path.endswith(NEVER_ON_DISK):
            return
        if self._writes_left is not None:
            self._writes_left -= 1
            if self._writes_left <= 0:
                self._lose_power()
        if self._chance.random() * 100 < self._percent:
            raise OSError(errno.EIO, "")

    def _lose_power(self) -> None:
        """Write the surviving data to the folder and exit, so that open files fail for all processes."""
        del self._files[ORDERS]
        for path, file in self._files.items():
            file.keep(lambda: self._chance.random() < self._survival)
            (self._folder / path[1:]).write_bytes(file.synced)
        for each in self._folder.iterdir():
            if f"/{each.name}" not in self._files:
                each.unlink()
        os._exit(DEAD)


def _load_file(path: Path) -> File:
    content = path.read_bytes()
    return File(path.stat().st_mode & 0o777, bytearray(content), bytearray(content))


class FrailDisk:
    """Runs the file system that loses unsynced writes in its own process."""

    def __init__(self, mount: Path, folder: Path, seed: int) -> None:
        self._mount, self._folder, self._seed = mount, folder, seed

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def start(self) -> None:
        self._mount.mkdir(exist_ok=True)
        command = [sys.executable, "-m", "battery.frail_disk", str(self._mount), str(self._folder), str(self._seed)]
        self._process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + MOUNT_SECONDS
        while not self._mount.is_mount():
            if self._process.poll() is not None or time.monotonic() > deadline:
                self.close()
                raise RuntimeError(f"{self._mount} was not mounted within {MOUNT_SECONDS} seconds")
            time.sleep(0.02)

    def close(self) -> None:
        if self._process.poll() is None and not self._mount.is_mount():
            self._process.kill()
        subprocess.run(["fusermount3", "-u", "-z", str(self._mount)], check=False, stderr=subprocess.DEVNULL)
        self._process.wait(MOUNT_SECONDS)

    def cut(self, after: int) -> None:
        """Cut the disk's power and wait until it is off; without writes, cut after a timeout."""
        self._order(f"cut {after}")
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(CUT_SECONDS)
        if self._process.poll() is None:
            self._order("cut 0")
            self._process.wait(CUT_SECONDS)

    def fail(self, percent: int) -> None:
        self._order(f"fail {percent}")

    def _order(self, order: str) -> None:
        with contextlib.suppress(OSError):  # ignored: the file system's process may exit before it answers
            (self._mount / ORDERS[1:]).write_text(order)


def require(folder: Path) -> None:
    """Mount a file system for a test, to check that FUSE works here."""
    if not shutil.which("fusermount3"):
        raise NotRun(MISSING)
    kept = folder / "tried-files"
    kept.mkdir()
    try:
        with FrailDisk(folder / "tried", kept, 0):
            pass
    except RuntimeError as error:
        raise NotRun(MISSING) from error


if __name__ == "__main__":
    mfusepy: Any = import_module("mfusepy")  # imported here, so that a missing library ends only this program
    at, kept, seeded = sys.argv[1:]
    mfusepy.FUSE(Disk(Path(kept), int(seeded)), at, foreground=True, nothreads=True)
