"""The code samples of the guides run as written, on one demo server, and print the documented text.

Rules for a guide: a `sh` block is run by a shell, a `python` block in the process of the test, and the `text`
block after it is what it must print; … in a text stands for anything. A block whose first line names a file
(`# bot.py`, `// shop.mts`, `<?php // shop.php`) is saved under that name for the following commands, and only compiled
if none of them runs it. A block whose first line names a file of our sources (`# src/…`) is added at the end of a copy.
The line `<!-- not run: the reason -->` before a block leaves it out; its gamekeeper commands must exist all the same.
"""

import dataclasses
import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path

import httpx
import pytest

from gamekeeper.ground.settings import Settings
from gamekeeper.http.routes import ROUTES
from loops import over
from remote import wait_until
from sample_code import Sample, Workplace, check_command, parse_samples, split_commands
from server import Server

ROOT = Path(__file__).parents[2]
GUIDES = [ROOT / "README.md", *sorted((ROOT / "docs" / "guides").glob("*.md"))]
TOOLS = ROOT / ".venv" / "samples"  # npm's packages, see scripts/install_node_packages.sh
PROGRAMS = Path(sys.executable).parent
PASSWORD = "moss"
OTHER_VARIABLES = {"GAMEKEEPER_TOKEN", "GAMEKEEPER_TEST_POSTGRES", "GAMEKEEPER_CHROMIUM"}  # no settings of the server
OPERATIONS = re.compile("|".join(re.sub(r"\[\w+\]", "[^/]+", each.path) for each in ROUTES))
BOARD = "/api/public/v1/boards/highest-level"


class Demo(Server):
    """Runs `gamekeeper demo` as the guides do. Its data is in the folder demo-data of the workplace."""

    def _command(self) -> list[str]:
        options = ["--password", PASSWORD, "--port", str(self.port), "--data", f"{self.database}/demo-data"]
        return [str(PROGRAMS / "gamekeeper"), "demo", *options]


@pytest.fixture
def workplace(tmp_path: Path) -> Generator[Workplace]:
    """A folder with the demo's data, the programs of the checkout, and a running demo server."""
    (tmp_path / ".venv").symlink_to(PROGRAMS.parent)
    for name in ("examples", "scripts", "battery", "pyproject.toml"):
        (tmp_path / name).symlink_to(ROOT / name)
    for name in ("src", "clients", "tests"):  # copies: a guide adds to them
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("frozen", "node_modules"))
    if TOOLS.exists():
        (tmp_path / "node_modules").symlink_to(TOOLS / "node_modules")
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")},
        "PATH": f"{PROGRAMS}:{os.environ['PATH']}",
        "PYTHONPATH": f"{tmp_path / 'src'}:{tmp_path / 'clients' / 'python' / 'src'}",
        "npm_config_loglevel": "error",
    }
    with Demo(str(tmp_path), public_boards=True) as server:
        wait_until(lambda: httpx.get(server.url + BOARD).json()["Season"]["Complete"])  # some seconds at first
        yield Workplace(tmp_path, server.url, environment)


def read_samples(path: Path) -> list[Sample]:
    return parse_samples(path.relative_to(ROOT).as_posix(), path.read_text("utf-8"))


def find_missing_tool(sample: Sample) -> str:
    """Return the name of a program that a sample needs and that is not installed, or an empty text."""
    if "npx " in sample.code and not (TOOLS / "ready").exists():
        return "Node 20 with the packages of tests/samples"
    if sample.code.startswith("php ") and not shutil.which("php", path=f"{PROGRAMS}:{os.environ['PATH']}"):
        return "PHP"
    return ""


def run_page(workplace: Workplace, samples: list[Sample]) -> tuple[list[str], list[str]]:
    """Run the samples of a page; return its faults, and what was left out because a program is missing."""
    faults: list[str] = []
    left_out: list[str] = []
    workplace.start_page()
    for sample in samples:
        missing = find_missing_tool(sample)
        if missing:
            left_out.append(f"{sample.place} needs {missing}: run `make sample-tools`.")
        elif not sample.reason:
            try:
                workplace.run(sample)
            except Exception as error:  # noqa: BLE001 - a sample may raise anything; the others are run all the same
                faults.append(f"{sample.place}: {type(error).__name__} {error}")
    return faults, left_out


@pytest.mark.long_only
def test_samples_of_the_readme_and_of_guides_print_the_documented_text(workplace: Workplace) -> None:
    form = {"grant_type": "password", "username": "keeper", "password": hashlib.sha256(PASSWORD.encode()).hexdigest()}
    answer = httpx.post(f"{workplace.url}/api/oauth/token", data=form).raise_for_status()
    faults: list[str] = []
    left_out: list[str] = []
    for path in GUIDES:
        for file in workplace.folder.glob("gamekeeper.db*"):  # of the page before
            file.unlink()
        workplace.environment["TOKEN"] = answer.json()["access_token"]
        failed, missing = run_page(workplace, read_samples(path))
        faults += failed
        left_out += missing
    assert not faults, "\n\n".join(faults)
    if left_out:
        pytest.skip("All other samples passed. " + " ".join(left_out))


@pytest.mark.long_only
def test_site_builds_without_dead_links(tmp_path: Path) -> None:
    command = [PROGRAMS / "mkdocs", "build", "--strict", "--config-file", ROOT / "mkdocs.yml", "--site-dir", tmp_path]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@over("path", *[path for folder in ("", "docs/", "docs/guides/", "examples/") for path in ROOT.glob(f"{folder}*.md")])
def test_commands_settings_and_operations_of_page_exist(path: Path) -> None:
    known = {f"GAMEKEEPER_{each.name.upper()}" for each in dataclasses.fields(Settings)} | OTHER_VARIABLES
    for sample in read_samples(path):
        if sample.language in ("sh", "") and sample.page != "ARCHITECTURE.md":
            assert set(re.findall(r"\bGAMEKEEPER_[A-Z_]+", sample.code)) <= known
            for command in split_commands(sample.code) if sample.language else ():
                check_command(command)
        if sample.language == "sh" and "curl " in sample.code:
            for called in re.findall(r"(?<=\w)(/api/(?:v1|keeper|link|public)/[^\s?'\"]+)", sample.code):
                assert OPERATIONS.fullmatch(called), called
