"""Export of all data stored about one person to a JSON file."""

from pathlib import Path

from gamekeeper.backup.lines import translate_write_errors
from gamekeeper.backup.making import open_atomic
from gamekeeper.game.keeper import Keeper
from gamekeeper.http.person import PersonExport, write_person
from gamekeeper.store.engine import Reading


async def export_person(keeper: Keeper, key: str, path: Path, *, force: bool) -> PersonExport:
    """Write a person's data from one snapshot to a file. Only its owner can read it; it exists only when complete."""
    with open_atomic(path, force=force) as (_, file):

        async def write(tx: Reading) -> PersonExport:
            file.seek(0)  # overwrite an earlier attempt: after a lost connection this function runs again
            file.truncate()
            with translate_write_errors(path):
                return await write_person(tx, key, file.write, _go_on)

        return await keeper.store.read(write)


async def _go_on() -> None:
    """Make no pause: a command has no other requests to run."""
