"""The workers of one service: each writes its figures down, so that any of them can tell those of all."""

import atexit
import hashlib
import multiprocessing
import os
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

PUBLISH_SECONDS = 1.0
Sample = tuple[str, str]  # of which family, and its line
_encode, _decode = msgspec.json.encode, msgspec.json.Decoder(list[Sample]).decode


class WorkerSamples:
    """One worker alone needs no files. A worker that is started anew gets the number of the one that died."""

    def __init__(self, count: int) -> None:
        self._count = count
        self.number = 1
        self._own: Sequence[Sample] = ()
        self._folder: Path | None = None

    def claim_number(self) -> None:
        """Before the first figures: they bear our number."""
        if self._count > 1 and self._folder is None:
            self._folder = _make_folder()
            self.number = _claim_number(self._folder)
            atexit.register(self._remove_files, self._folder)

    def publish(self, figures: Sequence[Sample]) -> None:
        """A folder that somebody has tidied away hides us from the other workers, and nothing worse."""
        self._own = figures
        if self._folder is not None:
            draft = self._folder / f"{self.number}.draft"
            with suppress(OSError):
                draft.write_bytes(_encode(figures))
                draft.replace(self._folder / f"{self.number}.figures")

    def read_all(self) -> Sequence[Sample]:
        """Those of all workers; ours are of this moment, the others' at most a second old."""
        if self._folder is None:
            return self._own
        others = [file for file in sorted(self._folder.glob("*.figures")) if file.stem != str(self.number)]
        return [*self._own, *(figure for file in others for figure in _read_file(file))]

    def _remove_files(self, folder: Path) -> None:
        for file in folder.glob(f"{self.number}.*"):
            file.unlink()
        with suppress(OSError):  # others are still there
            folder.rmdir()


def _read_file(file: Path) -> Sequence[Sample]:
    """None of a worker that has just left."""
    try:
        return _decode(file.read_bytes())
    except FileNotFoundError:
        return []


def _make_folder() -> Path:
    """The key is a secret of the workers of one parent: nobody else can know the name, and be there first."""
    name = hashlib.sha256(multiprocessing.current_process().authkey).hexdigest()[:32]
    folder = Path(tempfile.gettempdir(), f"gamekeeper-{name}")
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


def _claim_number(folder: Path) -> int:
    """The lowest number that nobody has: the lock on it ends with the process, however that ends."""
    import fcntl  # noqa: PLC0415 - Windows has none, and one worker there

    number = 0
    while True:
        number += 1
        file = os.open(folder / f"{number}.lock", os.O_CREAT | os.O_RDWR, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(file)
        else:
            return number
