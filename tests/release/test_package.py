"""Both packages, server and Python client: built, installed into empty environments, and used together."""

import gzip
import os
import re
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path
from typing import NamedTuple

import pytest

from client_scenario import run_scenario
from gamekeeper import __version__
from gamekeeper.http.server import static_files

pytestmark = pytest.mark.long_only

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "gamekeeper"
CLIENT = ROOT / "clients" / "python"
CLIENT_NEEDS = {"httpx", "msgspec"}
NO_CODE = {"__pycache__", ".pyc"}


class Built(NamedTuple):
    wheel: Path
    sdist: Path


def build(source: Path, folder: Path) -> Built:
    """Build the sdist, and the wheel from the sdist, like `make package`."""
    run_command([sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, source], ROOT)
    return Built(next(folder.glob("*.whl")), next(folder.glob("*.tar.gz")))


def run_command(command: list[str | Path], folder: Path) -> str:
    """Run a shell command and return its output; show all of it on failure."""
    done = subprocess.run(command, cwd=folder, env=clean(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def clean() -> dict[str, str]:
    """Return the environment variables without those that point to this checkout."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("GAMEKEEPER_", "PYTHON"))}


def versions(lock: Path) -> str:
    """Return the lock file's versions as constraints, without hashes, which pip would then require for our wheel."""
    return "\n".join(re.findall(r"^([\w.\[\]-]+==[^\\\n]+?) *\\?$", lock.read_text("utf-8"), re.MULTILINE))


def files_of(folder: Path) -> set[str]:
    found = (path for path in folder.rglob("*") if path.is_file() and not NO_CODE & {*path.parts, path.suffix})
    return {path.relative_to(folder).as_posix() for path in found}


def contents(built: Built) -> tuple[set[str], set[str]]:
    """Return the files in the wheel, without metadata, and the files in the sdist."""
    with zipfile.ZipFile(built.wheel) as wheel, tarfile.open(built.sdist) as sdist:
        packaged = {each for each in wheel.namelist() if ".dist-info/" not in each}
        return packaged, {each.partition("/")[2] for each in sdist.getnames()}


def require_complete_server(built: Built) -> None:
    sources = files_of(ROOT / "src")
    assert {Path(each).suffix for each in sources} >= {".py", ".sql", ".html", ".txt", ".js", ".css", ".typed"}
    packaged, held = contents(built)
    documents = {f"gamekeeper/{each.relative_to(ROOT).as_posix()}" for each in (ROOT / "docs").rglob("*.md")}
    deployed = {f"gamekeeper/deploy/{each}" for each in files_of(ROOT / "deploy")}
    static = {
        each for each in sources if each.startswith(("gamekeeper/console/frame/static/", "gamekeeper/http/docs/"))
    }
    assert packaged == sources | documents | deployed | {f"{each}.gz" for each in static}
    with zipfile.ZipFile(built.wheel) as wheel:
        for each in static:
            served = static_files.make_served((PACKAGE.parent / each).read_bytes())
            assert gzip.decompress(wheel.read(f"{each}.gz")) == served, each
    assert {f"src/{each}" for each in sources} <= held
    assert {"README.md", "LICENSE", "SECURITY.md", "requirements.lock", "docs/client.md", "Makefile"} <= held
    assert not [each for each in held if each.startswith((".venv", "dist", "site", "demo-data", ".git/"))]


def require_complete_client(built: Built) -> None:
    sources = files_of(CLIENT / "src")
    assert {Path(each).suffix for each in sources} == {".py", ".typed"}
    packaged, held = contents(built)
    assert packaged == sources
    assert {f"src/{each}" for each in sources} | {"README.md", "LICENSE"} <= held


class Environment:
    """A new virtual environment; packages are installed in the versions of the lock file."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        venv.create(folder / "venv", with_pip=False)
        self.folder, self.programs = folder, folder / "venv" / "bin"
        (folder / "constraints").write_text(versions(ROOT / "requirements-long.lock"), encoding="utf-8")
        self._pip = [sys.executable, "-m", "pip", "--python", self.programs / "python", "--disable-pip-version-check"]

    def install(self, *words: str | Path) -> None:
        quiet = ["--quiet", "--no-compile", "--constraint", self.folder / "constraints"]
        run_command([*self._pip, "install", *quiet, *words], self.folder)

    def installed(self) -> set[str]:
        """Return the names of the installed packages, as `pip list` prints them."""
        found = (self.folder / "venv").glob("lib/python*/site-packages/*.dist-info")
        return {each.name.split("-")[0].replace("_", "-").lower() for each in found}

    def run(self, program: str, *words: str) -> str:
        return run_command([self.programs / program, *words], self.folder)


def test_packages_are_complete_and_wheels_work_alone_and_with_each_other(tmp_path: Path, database: str) -> None:
    """Build both packages once, check them, install each wheel into an empty environment, and use them."""
    built, built_client = build(ROOT, tmp_path / "dist"), build(CLIENT, tmp_path / "client-dist")
    require_complete_server(built)
    require_complete_client(built_client)
    assert built.wheel.name.startswith(f"gamekeeper-{__version__}-")
    assert built_client.wheel.name.startswith(f"gamekeeper_client-{__version__}-")
    links = re.findall(r"\]\(([^)]+)\)", metadata(built.wheel))
    assert [each for each in links if not each.startswith("https://")] == []  # as an index shows the README
    server, client = Environment(tmp_path / "server"), Environment(tmp_path / "client")
    server.install(built.wheel)
    client.install(built_client.wheel)
    assert "httpx" not in server.installed()
    requires = set(re.findall(r"^Requires-Dist: (\w+)", metadata(built_client.wheel), re.MULTILINE))
    assert requires == CLIENT_NEEDS
    assert client.installed() >= CLIENT_NEEDS
    modules = ", ".join(re.sub("/", ".", each[:-3]) for each in files_of(CLIENT / "src") if each.endswith(".py"))
    client.run("python", "-c", f"import {modules}")
    run_scenario([client.programs / "python", ROOT / "tests" / "client" / "scenario.py"], database)
    server.install("--no-deps", built_client.wheel)
    assert server.run("gamekeeper", "--version") == f"gamekeeper, version {__version__}\n"
    server.run("gamekeeper", "deploy", "deploy")
    assert files_of(server.folder / "deploy") == files_of(ROOT / "deploy")


def metadata(wheel: Path) -> str:
    with zipfile.ZipFile(wheel) as opened:
        (name,) = (each for each in opened.namelist() if each.endswith(".dist-info/METADATA"))
        return opened.read(name).decode()
