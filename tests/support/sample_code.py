"""Parse the code samples of documents, and run them as a reader would, in a folder beside a demo server."""

import contextlib
import io
import json
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import click

from gamekeeper.cli.commands import gamekeeper

ADDRESS = "http://127.0.0.1:5400"  # the demo's address in all documents
SECONDS = 120  # seconds: timeout of one block, long enough for a busy machine
_BLOCK = re.compile(r"^( *)```(\w*)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
_REASON = re.compile(r"<!-- not run: ([^>]+) -->\n+$")
_SAME = re.compile(r"\n+It prints the same\.")
_FILE = re.compile(r"^(?:#|//|<\?php //) ([\w-]+\.(?:py|mts|php))$", re.MULTILINE)
_APPENDED = re.compile(r"^# ((?:src|tests|clients)/[\w/]+\.py)\n")
_VARIABLE = re.compile(r"^(?:[A-Z_]+=\S+ )+")
_GAMEKEEPER = re.compile(r"^(?:.*\$\()?(?:\.venv/bin/)?gamekeeper (.*)$", re.DOTALL)

# commands that are not run, and why
NOT_RUN = {
    r"gamekeeper (demo|serve)\b": "the server of the test runs already",
    r"make\b|git (clone|checkout)\b|python3 -m venv\b|\. ": "the checkout of the test is there already",
    r"(\.venv/bin/)?pip install\b|pipx\b|npm install\b": "the packages are installed already",
    r"cd\b": "the folder of the test has all files",
}


class Sample(NamedTuple):
    """A code block of a page with its expected output, and the reason if it says that it is not run."""

    page: str
    line: int
    language: str
    code: str
    shows: str | None = None
    reason: str = ""

    @property
    def place(self) -> str:
        return f"{self.page}:{self.line}"


class Wrong(Exception):
    """A sample failed, or printed something else."""


def parse_samples(page: str, text: str) -> list[Sample]:
    """Return the code blocks of a page. A text block that follows another block is its expected output."""
    samples: list[Sample] = []
    shown: str | None = None
    before = 0
    for block in _BLOCK.finditer(text):
        code = re.sub(rf"^{block[1]}", "", block[3], flags=re.MULTILINE)
        if block[2] == "text" and samples and not text[before : block.start()].strip():
            samples[-1] = samples[-1]._replace(shows=code)
            shown = code
        else:
            reason = _REASON.search(text[before : block.start()])
            same = shown if _SAME.match(text, block.end()) else None
            line = text.count("\n", 0, block.start()) + 2
            samples.append(Sample(page, line, block[2], code, same, reason[1] if reason else ""))
        before = block.end()
    return samples


def split_commands(code: str) -> Iterator[str]:
    """Yield each command of a shell block. A command ends with a line without an open quote or a backslash."""
    command = ""
    for line in code.splitlines():
        command += line
        if not command.strip() or command.lstrip().startswith("#"):
            command = ""
            continue
        if not command.endswith("\\") and _is_complete(command):
            yield command
            command = ""
        else:
            command += "\n"
    if command:
        raise Wrong(f"an unfinished command: {command}")


def _is_complete(command: str) -> bool:
    try:
        shlex.split(command, comments=True)
    except ValueError:
        return False
    return True


def find_reason(command: str) -> str:
    """Return why a command is not run, or an empty text if it is."""
    bare = _VARIABLE.sub("", command).removeprefix(".venv/bin/")
    return next((reason for pattern, reason in NOT_RUN.items() if re.match(pattern, bare)), "")


def check_command(command: str) -> None:
    """Check that a gamekeeper command exists, and has these options and arguments; do not run it."""
    found = _GAMEKEEPER.match(_VARIABLE.sub("", command))
    if not found:
        return
    words = shlex.split(re.sub(r"\s\|.*|\s>.*", "", found[1].replace("\\\n", "")), comments=True)
    group, context = gamekeeper, click.Context(gamekeeper, info_name="gamekeeper")
    try:
        name, each, words = group.resolve_command(context, [word.rstrip(")") for word in words])
        while isinstance(each, click.Group):
            context = click.Context(each, parent=context, info_name=name)
            name, each, words = each.resolve_command(context, words)
        assert each is not None
        each.make_context(name, words, parent=context)
    except click.UsageError as error:
        if "does not exist" not in error.message:  # a file of the reader
            raise Wrong(f"{command}: {error.message}") from error
    except click.exceptions.Exit:
        pass  # --help and --version


def compare(expected: str, printed: str) -> None:
    """Compare the output with the documented text, in which … stands for any text."""
    pattern = ".*?".join(re.escape(part) for part in expected.strip().split("…"))
    if not re.fullmatch(pattern, printed.strip(), re.DOTALL):
        raise Wrong(f"printed:\n{printed}instead of:\n{expected}")


class Workplace:
    """A folder in which samples run, one after the other. Variables that they export stay."""

    def __init__(self, folder: Path, url: str, environment: Mapping[str, str]) -> None:
        self.folder = folder
        self.url = url
        self.environment = dict(environment)
        self._names: dict[str, Any] = {}

    def start_page(self) -> None:
        self._names = {"__name__": "__main__"}

    def run(self, sample: Sample) -> None:
        """Run a sample; raise Wrong if it fails or prints another text.

        If its first line names a file, it is saved there. If that is a file of our sources, it is added at its end.
        """
        if not sample.language:  # no program, but a part of a file
            return
        code = sample.code.replace(ADDRESS, self.url)
        if source := _APPENDED.match(code):
            with (self.folder / source[1]).open("a", encoding="utf-8") as file:
                file.write(code[source.end() :])
            return
        if file := _FILE.match(code):
            (self.folder / file[1]).write_text(code, "utf-8")
            if file[1].endswith(".py"):  # only compiled if no command of the page runs it
                compile(code, file[1], "exec")
            return
        if sample.language == "python":
            printed = self._run_python(sample, code)
        elif sample.language == "sh":
            printed = self._run_shell(code)
        else:
            raise Wrong(f"a {sample.language} sample without the name of its file in the first line is not run")
        if sample.shows is not None and printed is not None:
            compare(sample.shows.replace(ADDRESS, self.url), printed)

    def _run_python(self, sample: Sample, code: str) -> str:
        with contextlib.redirect_stdout(io.StringIO()) as printed, contextlib.chdir(self.folder):
            exec(compile("\n" * (sample.line - 1) + code, sample.page, "exec"), self._names)  # noqa: S102 - our documents
        return printed.getvalue()

    def _run_shell(self, code: str) -> str | None:
        commands = [each for each in split_commands(code) if not find_reason(each)]
        if not commands:
            return None
        kept = self.folder / "environment.json"
        dump = f"{shlex.quote(sys.executable)} -c 'import json, os; print(json.dumps(dict(os.environ)))' > {kept}"
        done = subprocess.run(
            ["sh", "-euc", "\n".join([*commands, dump])],  # noqa: S607 - the documents' commands, for a shell
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            encoding="utf-8",
            check=False,
            timeout=SECONDS,
        )
        if done.returncode:
            raise Wrong(f"exit code {done.returncode}:\n{done.stdout}{done.stderr}")
        self.environment = json.loads(kept.read_text("utf-8"))
        return done.stdout
