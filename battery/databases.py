"""Empty databases for the battery: SQLite files, or databases on the battery's own PostgreSQL server."""

import shutil
import tempfile
import uuid
from pathlib import Path
from typing import Any

from battery.cases import POSTGRES, SQLITE
from pair import fetch, wheel


class Databases:
    def __init__(self) -> None:
        self._server: Any = None
        # Short path of the server's folder, because the path of a Unix socket has at most 107 characters
        self._folder = tempfile.mkdtemp(prefix="gk-bat-")

    def empty(self, engine: str, folder: Path) -> str:
        name = f"b{uuid.uuid4().hex}"
        if engine == SQLITE:
            return f"sqlite:///{folder / name}.db"
        if engine != POSTGRES:
            return ""
        self._server = self._server or wheel().get_server(self._folder, cleanup_mode="delete")
        fetch(self._server.get_uri(), f'CREATE DATABASE "{name}"')
        return self._server.get_uri(name)

    def close(self) -> None:
        if self._server:
            self._server.cleanup()
        shutil.rmtree(self._folder, ignore_errors=True)
