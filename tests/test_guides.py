"""The code samples of the guides run as written, on one demo server, and print the documented text.

Rules for a guide: a `sh` block is run by a shell, a `python` block in the process of the test, and the `text` or `json`
block after it is what it must print; … in a text stands for anything. A block whose first line names a file
(`# bot.py`, `// shop.mts`, `<?php // shop.php`) is saved under that name for the following commands, and only compiled
if none of them runs it. A block whose first line names a file of our sources (`# src/…`) is added at the end of a copy.
The line `<!-- not run: the reason -->` before a block leaves it out; its gamekeeper commands must exist all the same.
"""

import dataclasses
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Generator
from pathlib import Path

import httpx
import pytest

import sample_code
import sample_pages as pages
from gamekeeper.settings import Settings
from loops import over
from sample_code import Sample, Workplace, Wrong
from server import Server

ROOT = Path(__file__).parents[1]
GUIDES = sorted((ROOT / "docs" / "guides").glob("*.md"))
TOOLS = ROOT / ".venv" / "samples"  # npm's packages, see scripts/install_node_packages.sh
PROGRAMS = Path(sys.executable).parent
PASSWORD = "moss"
BOARD = "/api/public/v1/boards/highest-level"
TSCONFIG = {
    "compilerOptions": {
        "strict": True,
        "noEmit": True,
        "target": "es2022",
        "module": "nodenext",
        "lib": ["es2022"],
        "types": ["node"],
        "skipLibCheck": True,
    },
    "include": ["*.mts"],
}


class Demo(Server):
    """Runs `gamekeeper demo` as the guides do. Its data is in the folder demo-data of the workplace."""

    def _command(self) -> list[str]:
        folder = str(Path(self.database) / "demo-data")
        return [
            str(PROGRAMS / "gamekeeper"),
            "demo",
            "--password",
            PASSWORD,
            "--port",
            str(self.port),
            "--data",
            folder,
        ]

    def wait_for_boards(self) -> None:
        """Wait until the boards are counted, which takes a few seconds after the first start."""
        while not httpx.get(self.url + BOARD).json()["Season"]["Complete"]:
            time.sleep(0.1)


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
        server.wait_for_boards()
        yield Workplace(tmp_path, server.url, environment)


def read_samples(path: Path) -> list[Sample]:
    return sample_code.parse_samples(path.relative_to(ROOT).as_posix(), path.read_text("utf-8"))


def find_missing_tool(sample: Sample) -> str:
    """Return the name of a program that a sample needs and that is not installed, or an empty text."""
    if "npx " in sample.code and not (TOOLS / "ready").exists():
        return "Node 20 with the packages of tests/samples"
    if sample.code.startswith("php ") and not shutil.which("php", path=f"{PROGRAMS}:{os.environ['PATH']}"):
        return "PHP"
    return ""


def check_types(folder: Path) -> list[str]:
    """Check the saved TypeScript files with `strict`; return the compiler's errors."""
    (folder / "tsconfig.json").write_text(json.dumps(TSCONFIG), "utf-8")
    compiler = [folder / "node_modules" / ".bin" / "tsc", "--project", folder]
    done = subprocess.run(compiler, capture_output=True, encoding="utf-8", check=False)
    return done.stdout.splitlines()


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
def test_samples_of_guides_print_the_documented_text_and_curl_commands_of_other_pages_succeed(
    workplace: Workplace,
) -> None:
    faults: list[str] = []
    left_out: list[str] = []
    for path in GUIDES:
        failed, missing = run_page(workplace, read_samples(path))
        faults += failed
        left_out += missing
    if (TOOLS / "ready").exists():
        faults += check_types(workplace.folder)
    faults += run_curl_commands_of_other_pages(workplace)
    assert not faults, "\n\n".join(faults)
    if left_out:
        pytest.skip("All other samples passed. " + " ".join(left_out))


def run_curl_commands_of_other_pages(workplace: Workplace) -> list[str]:
    keeper = pages.Keeper(workplace.url)
    faults: list[str] = []
    for page, values in pages.list_values(keeper).items():
        samples = [each for each in read_samples(ROOT / page) if each.language == "sh" and "curl " in each.code]
        assert samples, page
        for sample in samples:
            try:
                workplace.run(pages.prepare(sample, values))
            except Wrong as wrong:
                faults.append(f"{sample.place}: {wrong}")
    return faults


def test_pages_with_samples_are_run_or_listed_with_a_reason() -> None:
    with_samples = {path for path in pages.list_paths() if any(each.language for each in read_samples(ROOT / path))}
    assert with_samples == pages.RUN_HERE | pages.RUN_ELSEWHERE.keys() | pages.NOT_RUN.keys()


@over("path", sorted(pages.list_paths()))
def test_commands_and_settings_of_page_exist(path: str) -> None:
    known = {f"GAMEKEEPER_{each.name.upper()}" for each in dataclasses.fields(Settings)}
    for sample in read_samples(ROOT / path):
        if sample.language in ("sh", "") and sample.page != "ARCHITECTURE.md":
            assert set(re.findall(r"\bGAMEKEEPER_[A-Z_]+", sample.code)) <= known | pages.OTHER_VARIABLES
            for command in sample_code.split_commands(sample.code) if sample.language else ():
                sample_code.check_command(command)
