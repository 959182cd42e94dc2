"""Install the peers that the benchmark compares with, on first use and again when their requirements change."""

import shutil
import subprocess
import sys
from pathlib import Path

from benchmarks.machine import Stop
from benchmarks.worlds import DATA

PEERS = Path(__file__).parent / "peers"
NODE_PROGRAMS = ("node", "npm")


def fastapi_orm() -> Path:
    """Return the Python of a virtual environment with the FastAPI peer's requirements; install them if needed."""
    wanted, venv = PEERS / "fastapi_orm" / "requirements.txt", DATA / "peers-venv"
    python, installed = venv / "bin" / "python", venv / wanted.name
    if not _same(wanted, installed):
        print("Installing the FastAPI peer …", flush=True)
        _run([sys.executable, "-m", "venv", "--clear", str(venv)], DATA)
        _run([str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", str(wanted)], DATA)
        shutil.copyfile(wanted, installed)  # copied last: this file marks a complete installation
    return python


def has_node() -> bool:
    return all(shutil.which(each) for each in NODE_PROGRAMS)


def fastify() -> Path:
    """Return a folder with the fastify peer and its packages; install them if needed."""
    source, folder = PEERS / "fastify", DATA / "fastify"
    shutil.copytree(source, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("node_modules"))
    installed = folder / "node_modules" / "package.json"
    if not _same(source / "package.json", installed):
        print("Installing the fastify peer …", flush=True)
        _run(["npm", "install", "--no-audit", "--no-fund", "--no-package-lock"], folder)
        shutil.copyfile(source / "package.json", installed)
    return folder


def _same(wanted: Path, installed: Path) -> bool:
    return installed.exists() and installed.read_bytes() == wanted.read_bytes()


def _run(command: list[str], folder: Path) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Stop(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
