"""A Gamekeeper server whose worker process builds the application with a function of ours.

    class Spoilt(BuiltServer): builder = "list_writer"                   for programs: a server like that of server.py
    python scripts/built_server.py MODULE DATABASE PORT [ARGUMENT…]     the program behind it

The function is `build` of the module. It gets the settings and the arguments, and may patch the product before it
builds the application: patches made in the parent process do not reach the worker.
"""

import os
import sys
from importlib import import_module
from pathlib import Path
from subprocess import DEVNULL

from gamekeeper.cli import serve
from gamekeeper.ground import settings
from gamekeeper.ground.settings import Settings
from gamekeeper.http.server.asgi import Asgi
from server import Server


class BuiltServer(Server):
    builder: str
    stderr = DEVNULL  # no log: seeded faults and refused guesses cause many log lines

    def __init__(self, argument: str, database: str, port: int | None = None, **settings: object) -> None:
        super().__init__(database, port, **settings)
        self._argument = argument

    def _command(self) -> list[str]:
        argument = [self._argument] if self._argument else []
        return [sys.executable, __file__, self.builder, self.database, str(self.port), *argument]


class Builder:
    """Builds the application in the worker."""

    def __init__(self, module: str, arguments: list[str]) -> None:
        self._module, self._arguments = module, arguments

    def __call__(self, settings: Settings) -> Asgi:
        return import_module(self._module).build(settings, *self._arguments)


if __name__ == "__main__":
    module, database, port, *arguments = sys.argv[1:]
    sys.path.append(str(Path(__file__).parent.parent))  # for the modules of battery and benchmarks
    serve.run(settings.load(os.environ, database=database, port=int(port)), Builder(module, arguments), "ready")
