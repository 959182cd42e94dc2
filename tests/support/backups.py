"""Backups and restores for tests."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

from findings import unseen
from gamekeeper import app
from gamekeeper.copies import backups, restores
from gamekeeper.copies.backups import Archive, BackupManifest, BackupTable
from gamekeeper.copies.export_folder import ExportFolder
from gamekeeper.copies.lines import MANIFEST, ChecksumWriter, encode_manifest
from gamekeeper.ground import settings
from people import COIN
from world import World

GIVE = {"itemid": COIN.id, "quantity": 5}


def give(world: World, name: str = "Bob", **more: Any) -> Any:
    return world.give(name, 5, by="Shop", **more).accepted().json


def back_up(world: World, file: Path, moved: Callable[[str, int, int | None], None] = unseen) -> BackupManifest:
    return world.run(backups.create_backup(world.keeper.store, file, moved))


def restore(file: Path, url: str, **more: bool) -> None:
    """Restore a backup like the command does, without its output."""
    loaded = settings.load({}, database=url)

    with Archive(file) as archive:
        archive.verify(unseen)
        with restores.prepare_target(loaded) as target:
            asyncio.run(app.run_with_keeper(target, lambda keeper: restores.restore(keeper, archive, unseen, **more)))


def bring_back(folder: Path, url: str) -> None:
    """Import an export like the command does, without its output."""
    opened = ExportFolder(folder)
    opened.verify(unseen)
    with restores.prepare_target(settings.load({}, database=url)) as target:
        asyncio.run(app.run_with_keeper(target, lambda keeper: restores.import_folder(keeper, opened, unseen)))


def rewritten(
    file: Path, to: Path, manifest: BackupManifest, name: str, rows: list[Any], *, truly: bool = False
) -> Path:
    """Copy a backup with other rows in one table; with `truly`, also adapt the manifest's checksums."""
    tables: list[BackupTable] = []
    with Archive(file) as archive, ZipFile(to, "w", ZIP_DEFLATED) as out:
        for table in manifest.tables:
            with out.open(f"{table.name}.jsonl", "w") as opened:
                page = ChecksumWriter(opened)
                page.write(rows if table.name == name else list(archive.read_rows(table.name, unseen)))
            tables.append(BackupTable(table.name, table.columns, page.rows, page.sha256))
        out.writestr(MANIFEST, encode_manifest(changed(manifest, tables=tables) if truly else manifest))
    return to


def changed(manifest: BackupManifest, **fields: Any) -> BackupManifest:
    return BackupManifest(**{name: getattr(manifest, name) for name in manifest.__struct_fields__} | fields)
