"""Share metrics between the workers of one service: each writes its samples to a file that the others read."""

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
Sample = tuple[str, str]  # a metric's value: name of the metric family, text line
_encode, _decode = msgspec.json.encode, msgspec.json.Decoder(list[Sample]).decode


class WorkerSamples:
    """Metrics of all workers. A single worker uses no files. A restarted worker reuses the number of the dead one."""

    def __init__(self, count: int) -> None:
        self._count = count
        self.number = 1
        self._own: Sequence[Sample] = ()
        self._folder: Path | None = None

    def claim_number(self) -> None:
        """Claim a worker number; call it before the first metrics, which contain the number."""
        if self._count > 1 and self._folder is None:
            self._folder = _make_folder()
            self.number = _claim_number(self._folder)
            atexit.register(self._remove_files, self._folder)

    def publish(self, figures: Sequence[Sample]) -> None:
        """Write this worker's metrics. If the shared folder was deleted, the other workers just do not see them."""
        self._own = figures
        if self._folder is not None:
            draft = self._folder / f"{self.number}.draft"
            with suppress(OSError):
                draft.write_bytes(_encode(figures))
                draft.replace(self._folder / f"{self.number}.figures")

    def read_all(self) -> Sequence[Sample]:
        """Return the metrics of all workers: ours are current, those of the others up to a second old."""
        if self._folder is None:
            return self._own
        others = [file for file in sorted(self._folder.glob("*.figures")) if file.stem != str(self.number)]
        return [*self._own, *(figure for file in others for figure in _read_file(file))]

    def _remove_files(self, folder: Path) -> None:
        for file in folder.glob(f"{self.number}.*"):
            file.unlink()
        with suppress(OSError):  # rmdir fails while the shared folder has files of other workers
            folder.rmdir()


def _read_file(file: Path) -> Sequence[Sample]:
    """Read the metrics of another worker; empty if it has just stopped."""
    try:
        return _decode(file.read_bytes())
    except FileNotFoundError:
        return []


def _make_folder() -> Path:
    """Make the workers' shared folder. Its name comes from a secret of the parent process: others cannot guess it."""
    name = hashlib.sha256(multiprocessing.current_process().authkey).hexdigest()[:32]
    folder = Path(tempfile.gettempdir(), f"gamekeeper-{name}")
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


def _claim_number(folder: Path) -> int:
    """Claim the lowest free worker number by a file lock, which ends with the process."""
    import fcntl  # noqa: PLC0415 - missing on Windows, which has only one worker

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
