"""The client generators of docs/generators.md: their normal output, and the files with their operations."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "generators.md"
TOOLS = ROOT / ".venv" / "generators"  # folder of the client generators, filled by scripts/install_generators.sh
SECONDS = 300  # timeout of one generator or compiler run, long enough for a busy machine
_ANSI = re.compile(r"\x1b\[[0-9;]*m")
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# documented commands that tests skip: the lock files have installed these packages already
_INSTALLS = ("pip install ", "npm install ")


class Generator(NamedTuple):
    name: str
    usual: str  # pattern of the generator's output lines that are not warnings
    files: str  # glob of the generated files that contain the API's operations
    operation: str  # pattern of an operation's line in generated code, or of its file name if each operation has a file
    camel: bool = True  # whether generated names are in camel case, like giveItem
    python: bool = False

    @property
    def folder(self) -> Path:
        """Return the generator's working folder, below Node's packages, so that programs find them."""
        return TOOLS / "out" / re.sub(r"\W+", "-", self.name).strip("-")

    def version(self) -> str:
        locked = (ROOT / "requirements-generators.lock").read_text("utf-8")
        found = re.search(rf"^{self.name}==(\S+)", locked, re.MULTILINE)
        return found[1] if found else json.loads((TOOLS / "package.json").read_text("utf-8"))["dependencies"][self.name]

    def warnings(self, printed: str) -> list[str]:
        lines = [_ANSI.sub("", line).strip() for line in printed.splitlines()]
        return [line for line in lines if line and not re.match(self.usual, line)]

    def operations(self) -> set[str]:
        found: set[str] = set()
        for path in self.folder.glob(self.files):
            text = path.stem if path.suffix == ".py" else path.read_text("utf-8")
            found |= set(re.findall(self.operation, text, re.MULTILINE))
        return found

    def spelling(self, operation: str) -> str:
        return re.sub(r"_(\w)", lambda part: part[1].upper(), operation) if self.camel else operation


GENERATORS = (
    Generator(
        "openapi-typescript",
        usual=r"✨ openapi-typescript |🚀 \S+ → client\.ts ",
        files="client.ts",
        operation=r"^    (\w+): \{$",
        camel=False,
    ),
    Generator(
        "@hey-api/openapi-ts",
        usual=r"@hey-api/openapi-ts v|\[Job 1\] +(⏳ Generating from|\[1\] http|✅ Done!)",
        files="client/sdk.gen.ts",
        operation=r"^export const (\w+) = <",
    ),
    Generator("orval", usual=r"🍻 orval v|🎉 ", files="client.ts", operation=r"^export const (\w+) = async "),
    Generator(
        "openapi-generator-cli",
        # openapi-generator prints a notice for every OpenAPI 3.1 document
        usual=r"\[main\] INFO |# |#+$|\[main\] WARN \S* *\S+ - OpenAPI 3\.1 support is still in beta",
        files="client/apis/*.ts",
        operation=r"^    async (\w+)\(",
    ),
    Generator(
        "openapi-python-client",
        usual=r"Generating generated_client$",
        files="generated_client/api/*/*.py",
        operation=r"^(\w+)$",
        camel=False,
        python=True,
    ),
)


class Done(NamedTuple):
    code: int
    printed: str


def read_page() -> str:
    return PAGE.read_text("utf-8")


def lay_out(generator: Generator, url: str) -> list[str]:
    """Write the program and settings of the generator's section into its folder; return the section's commands."""
    section = re.search(rf"^### {re.escape(generator.name)}$(.*?)(?=^##|\Z)", read_page(), re.MULTILINE | re.DOTALL)
    if section is None:
        raise LookupError(f"{PAGE.name} has no section about {generator.name}")
    blocks = {kind: code.replace("http://127.0.0.1:5400", url) for kind, code in _BLOCK.findall(section[1])}
    shutil.rmtree(generator.folder, ignore_errors=True)
    generator.folder.mkdir(parents=True)
    for kind, name in {"ts": "main.ts", "python": "main.py", "js": "orval.config.mjs"}.items():
        if kind in blocks:
            (generator.folder / name).write_text(blocks[kind], "utf-8")
    shutil.copy(Path(__file__).with_name("tsconfig.json"), generator.folder)
    return [line for line in blocks["sh"].splitlines() if not line.startswith(_INSTALLS)]


def run(generator: Generator, command: str) -> Done:
    path = f"{TOOLS / 'bin'}:{TOOLS / 'node_modules' / '.bin'}:{os.environ['PATH']}"
    # suppress npm's own messages about the machine's settings
    quiet = {"npm_config_loglevel": "error", "npm_config_update_notifier": "false", "NO_COLOR": "1"}
    done = subprocess.run(
        ["sh", "-c", command],  # noqa: S607 - the page's commands, for a shell
        cwd=generator.folder,
        env={**os.environ, **quiet, "PATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=False,
        timeout=SECONDS,
    )
    return Done(done.returncode, done.stdout)


IMPORT_ALL = (
    "import importlib, pkgutil, generated_client as made; "
    "[importlib.import_module(each.name) for each in pkgutil.walk_packages(made.__path__, 'generated_client.')]"
)


def compile_client(generator: Generator) -> Done:
    """Compile the generated TypeScript with `strict`, or import every generated Python module."""
    if generator.python:
        return run(generator, f'python -W error -c "{IMPORT_ALL}"')
    bundle = "esbuild main.ts --bundle --platform=node --format=esm --outfile=main.mjs --log-level=warning"
    return run(generator, f"tsc --project . && {bundle}")


def run_program(generator: Generator) -> Done:
    return run(generator, "python main.py" if generator.python else "node main.mjs")
