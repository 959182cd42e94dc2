"""The package, as a newcomer meets it: built, installed into an empty environment, run, and asked with the client."""

import ast
import os
import re
import signal
import subprocess
import sys
import tarfile
import time
import tomllib
import venv
import zipfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

import blocks
from gamekeeper import __version__
from server import free_port

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "gamekeeper"
NO_CODE = {"__pycache__", ".pyc"}
SECONDS = 180  # the demo hashes a password for everybody, which gives way to all that a busy machine does


class Built(NamedTuple):
    wheel: Path
    sdist: Path


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """As `make package` builds them: the wheel out of the sdist."""
    folder = tmp_path_factory.mktemp("dist")
    said([sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, ROOT], ROOT)
    return Built(next(folder.glob("*.whl")), next(folder.glob("*.tar.gz")))


def said(command: list[str | Path], folder: Path) -> str:
    """What it prints; a failure shows all of it."""
    done = subprocess.run(command, cwd=folder, env=clean(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def clean() -> dict[str, str]:
    """An environment that knows nothing of this checkout."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("GAMEKEEPER_", "PYTHON"))}


def versions(lock: Path) -> str:
    """The lock file as constraints: with its hashes pip would want one for our wheel, too."""
    return "\n".join(re.findall(r"^([\w.\[\]-]+==[^\\\n]+?) *\\?$", lock.read_text("utf-8"), re.MULTILINE))


def files_of(folder: Path) -> set[str]:
    found = (path for path in folder.rglob("*") if path.is_file() and not NO_CODE & {*path.parts, path.suffix})
    return {path.relative_to(ROOT / "src").as_posix() for path in found}


def test_both_have_everything(built: Built) -> None:
    sources = files_of(PACKAGE)
    assert {Path(each).suffix for each in sources} >= {".py", ".sql", ".html", ".txt", ".js", ".css", ".typed"}
    with zipfile.ZipFile(built.wheel) as wheel:
        assert {each for each in wheel.namelist() if ".dist-info/" not in each} == sources
    with tarfile.open(built.sdist) as sdist:
        held = {each.partition("/")[2] for each in sdist.getnames()}
    assert {f"src/{each}" for each in sources} <= held
    assert {"README.md", "LICENSE", "SECURITY.md", "requirements.lock", "docs/client.md", "Makefile"} <= held
    assert not [each for each in held if each.startswith((".venv", "dist", "site", "demo-data", ".git/"))]


def test_the_version_is_in_one_place(built: Built) -> None:
    assert re.fullmatch(r"[0-9]+\.[0-9]+\.[0-9]+", __version__)
    assert built.wheel.name.startswith(f"gamekeeper-{__version__}-")
    assert built.sdist.name == f"gamekeeper-{__version__}.tar.gz"
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    assert (project["project"]["dynamic"], "version" in project["project"]) == (["version"], False)
    again = [
        path.name
        for path in PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Constant) and node.value == __version__
    ]
    assert again == ["__init__.py"]


@contextmanager
def demo(command: Path, folder: Path) -> Generator[str]:
    """`gamekeeper demo` as a real process; its address."""
    port = free_port()
    words = [command, "demo", "--port", str(port), "--data", folder / "data", "--password", "moss"]
    with (folder / "said").open("wb") as out, (folder / "wrong").open("wb") as wrong:
        process = subprocess.Popen(words, cwd=folder, env=clean(), stdout=out, stderr=wrong)
    give_up = time.monotonic() + SECONDS
    try:
        while "demo is ready" not in (folder / "said").read_text("utf-8"):
            assert process.poll() is None, (folder / "wrong").read_text("utf-8")
            assert time.monotonic() < give_up
            time.sleep(0.05)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.send_signal(signal.SIGINT)
        code = process.wait(SECONDS)
    assert code == 0, (folder / "wrong").read_text("utf-8")


def test_a_newcomer(built: Built, tmp_path: Path) -> None:
    """Installs the wheel where nothing is, runs the demo, and pastes the client's quick start."""
    venv.create(tmp_path / "venv", with_pip=False)
    programs = tmp_path / "venv" / "bin"
    (tmp_path / "constraints").write_text(versions(ROOT / "requirements-dev.lock"), encoding="utf-8")
    pip = [sys.executable, "-m", "pip", "--python", programs / "python", "install"]
    pip += ["--quiet", "--no-compile", "--disable-pip-version-check"]
    said([*pip, "--constraint", tmp_path / "constraints", f"{built.wheel}[client]"], tmp_path)
    assert said([programs / "gamekeeper", "--version"], tmp_path) == f"gamekeeper, version {__version__}\n"
    quick_start = blocks.blocks(blocks.PAGE.read_text("utf-8"))[0]
    with demo(programs / "gamekeeper", tmp_path) as address:
        code = quick_start.code.replace(blocks.ADDRESS, address)
        assert said([programs / "python", "-c", code], tmp_path) == quick_start.prints
    said([*pip, "--force-reinstall", "--no-deps", built.sdist], tmp_path)
    assert said([programs / "gamekeeper", "--version"], tmp_path) == f"gamekeeper, version {__version__}\n"


def test_a_client_without_httpx_says_what_to_do() -> None:
    code = "import sys; sys.modules['httpx'] = None\nimport gamekeeper.client"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "gamekeeper.client needs httpx. Install it with: pip install 'gamekeeper[client]'" in done.stderr
