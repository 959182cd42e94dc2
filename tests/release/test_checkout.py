"""What works in a fresh checkout: the commands of the README. No document installs an unpublished package by name."""

import os
import re
import shlex
import shutil
import signal
import subprocess
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

import sample_code
from server import free_port

ROOT = Path(__file__).parents[2]
README = "README.md"
TOOLS = ("git", "make", "curl", "python3")  # what the README says is needed
SECONDS = 600  # seconds: timeout of one command; the first installs from the package index, on a busy machine
OURS = ("GAMEKEEPER_", "PYTHON", "MAKE", "MFLAGS", "VIRTUAL_ENV", "PYTEST_", "COVERAGE_")
INSTALLS_BY_NAME = re.compile(r"\b(?:pipx?|uv)\b[^\n`]* install\b[^\n`]*[ '\"]gamekeeper(?:-client)?(?![\w./-])")


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A fresh clone of the checkout, at its commit."""
    if not (ROOT / ".git").exists():
        pytest.skip("The tests do not run in a git checkout.")
    run_command(f"git clone --quiet {shlex.quote(str(ROOT))} gamekeeper", tmp_path, dict(os.environ))
    return tmp_path / "gamekeeper"


def run_command(command: str, folder: Path, environment: Mapping[str, str]) -> str:
    """Run a command in a shell and return its output; show all of it on failure."""
    words = ["/bin/sh", "-ec", command]
    done = subprocess.run(
        words, cwd=folder, env=environment, capture_output=True, text=True, timeout=SECONDS, check=False
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


def make_environment(port: int) -> dict[str, str]:
    """Return the variables of a reader's shell, without a virtual environment on the PATH."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(OURS)}
    folders = [each for each in kept["PATH"].split(":") if not (Path(each).parent / "pyvenv.cfg").exists()]
    return {**kept, "PATH": ":".join(folders), "GAMEKEEPER_PORT": str(port)}


def find_missing_tool(environment: Mapping[str, str]) -> str:
    for tool in TOOLS:
        if not shutil.which(tool, path=environment["PATH"]):
            return tool
    check = """python3 -c 'import sys, venv, ensurepip; print(sys.version_info >= (3, 11))' || echo no"""
    return "" if "True" in run_command(check, ROOT, environment) else "Python 3.11 or newer with venv as python3"


class Shell:
    """Runs the commands of the README in order. A command that serves goes on until the next one that serves."""

    def __init__(self, folder: Path, port: int, environment: dict[str, str]) -> None:
        self.folder = folder
        self.url = f"http://127.0.0.1:{port}"
        self._environment = environment
        self._server: subprocess.Popen[bytes] | None = None

    def run(self, command: str) -> str:
        """Run a command as written, except for the port, and return its output."""
        return run_command(command.replace(sample_code.ADDRESS, self.url), self.folder, self._environment)

    def serve(self, command: str, ready: str) -> str:
        """Start a command that serves; return what it has printed when it is ready."""
        self.stop()
        output = self.folder / "output"
        with output.open("wb") as file:
            self._server = subprocess.Popen(
                ["/bin/sh", "-ec", f"exec {command}"],
                cwd=self.folder,
                env=self._environment,
                stdout=file,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        deadline = time.monotonic() + SECONDS
        while ready not in (printed := output.read_text("utf-8")):
            assert self._server.poll() is None, printed
            assert time.monotonic() < deadline, printed
            time.sleep(0.2)
        return printed

    def log_in(self, line: str) -> None:
        """Run the line of the demo that sets TOKEN, for the commands after it."""
        self._environment["TOKEN"] = self.run(f'{line}; echo "$TOKEN"').strip()
        assert self._environment["TOKEN"]

    def stop(self) -> None:
        """End the server like Ctrl-C on a terminal, which goes to all processes of the command."""
        if self._server is not None:
            os.killpg(self._server.pid, signal.SIGINT)
            self._server.wait(timeout=SECONDS)
            self._server = None


@contextmanager
def open_shell(folder: Path) -> Generator[Shell]:
    port = free_port()
    environment = make_environment(port)
    if missing := find_missing_tool(environment):
        pytest.skip(f"The README needs {missing}.")
    shell = Shell(folder, port, environment)
    try:
        yield shell
    finally:
        shell.stop()


@pytest.mark.long_only
def test_commands_of_the_readme_work_in_a_fresh_clone_without_a_virtual_environment(clone: Path) -> None:
    samples = sample_code.parse_samples(README, (clone / README).read_text("utf-8"))
    with open_shell(clone) as shell:
        assert not shutil.which("gamekeeper", path=make_environment(0)["PATH"])
        for command in (each for sample in samples for each in sample_code.split_commands(sample.code)):
            if command.startswith("make run"):
                printed = shell.serve(command, "# check the password of")
                (login,) = re.findall(r"^ *(TOKEN=.+)$", printed, re.MULTILINE)
                shell.log_in(login)
            elif command.endswith("gamekeeper serve"):
                shell.serve(command, "Gamekeeper is ready")
                assert '"ready"' in shell.run(f"curl -s {shell.url}/health/ready")
            elif not command.startswith("make test"):
                answers = [shell.run(command) for _ in range(1 + ("Idempotency-Key" in command))]
                assert len({*answers}) == 1
                if shown := re.search(re.escape(command) + r"\n# (\{.+\})", (clone / README).read_text("utf-8")):
                    assert answers[0].strip() == shown[1]


def test_no_document_or_message_installs_an_unpublished_package_by_name() -> None:
    named = {
        path.relative_to(ROOT).as_posix(): found
        for folder in ("*.md", "docs/**/*.md", "examples/*.md", "clients/**/*.md", "src/**/*.py", "deploy/*")
        for path in ROOT.glob(folder)
        if path.is_file() and (found := INSTALLS_BY_NAME.findall(path.read_text("utf-8")))
    }
    assert named == {}
