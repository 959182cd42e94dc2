"""The package of the TypeScript client: it builds, installs, and works with a real server."""

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast
from urllib.parse import quote

import msgspec
import pytest

from client_scenario import SECONDS, run_scenario
from gamekeeper import __version__
from gamekeeper.http.contract import shapes
from gamekeeper.http.contract.operation import Operation
from gamekeeper.http.contract.path_parameters import find_parameter
from gamekeeper.http.routes import ROUTES
from sample_code import ADDRESS, compare, parse_samples
from server import Server
from typescript_client import PACKAGE, SYNONYMS, to_camel

pytestmark = pytest.mark.long_only

ROOT = Path(__file__).parents[2]
TOOLS = ROOT / ".venv" / "typescript-client"  # npm's packages, see scripts/install_node_packages.sh
PROGRAMS = Path(__file__).parent / "typescript"
# as strict as a reader's project may be, and without the types of browsers
CHECKS = [
    *("--strict", "--exactOptionalPropertyTypes", "--noUncheckedIndexedAccess", "--noUnusedLocals"),
    *("--module", "nodenext", "--target", "es2023", "--lib", "es2023", "--types", "node"),
]


def run(command: list[str | Path], folder: Path) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=SECONDS)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Pack the client, and return an empty folder in which the package is installed."""
    ready, lock = TOOLS / "ready", PACKAGE / "package-lock.json"
    if not ready.exists() or ready.stat().st_mtime <= lock.stat().st_mtime:
        pytest.skip("This needs Node 20 with the packages of clients/typescript: run `make sample-tools`.")
    packed, folder = tmp_path_factory.mktemp("packed"), tmp_path_factory.mktemp("project")
    run([ROOT / "scripts" / "pack_typescript_client.sh", packed], ROOT)
    (package,) = packed.iterdir()
    (folder / "package.json").write_text('{"private": true, "type": "module"}', encoding="utf-8")
    run(["npm", "install", "--offline", "--ignore-scripts", "--no-audit", "--no-fund", package], folder)
    return folder


def compile_program(source: Path, project: Path) -> Path:
    """Type-check a program in the folder with the package, and return it in JavaScript."""
    program = project / source.name
    if program != source:
        shutil.copy(source, program)
    modules = TOOLS / "node_modules"
    run(["node", modules / "typescript/bin/tsc", *CHECKS, "--typeRoots", modules / "@types", program], project)
    return program.with_suffix(".mjs")


def test_package_has_code_with_types_and_no_dependencies(project: Path) -> None:
    package = project / "node_modules" / "gamekeeper-client"
    described = json.loads((package / "package.json").read_text("utf-8"))
    assert (described["version"], "dependencies" in described) == (__version__, False)
    modules = {each.stem for each in (PACKAGE / "src").glob("*.ts")}
    assert {each.name for each in (package / "dist").iterdir()} == {
        f"{name}{ending}" for name in modules for ending in (".js", ".d.ts")
    }
    assert {each.name for each in package.iterdir()} == {"package.json", "README.md", "LICENSE", "dist"}
    assert [each.name for each in package.parent.iterdir() if not each.name.startswith(".")] == [package.name]


# --- requests and answers ---------------------------------------------------------------------------------------


def spell(value: Any) -> Any:
    """Spell the names of fields as the TypeScript client does."""
    if isinstance(value, dict):
        return {to_camel(name): spell(each) for name, each in cast("dict[str, Any]", value).items()}
    return [spell(each) for each in cast("list[Any]", value)] if isinstance(value, list) else value


def list_examples() -> Iterator[dict[str, Any]]:
    """List each method with the arguments, the request and the answer of its operation's example."""
    for route in ROUTES:
        # the method for log-ins has other parameters: the scenario calls it
        if not isinstance(route.answer, str) and not route.path.startswith(SYNONYMS) and route.name != "issue_token":
            yield make_example(route)


def make_example(route: Operation) -> dict[str, Any]:
    parts = {
        each: route.example_path.get(each) or find_parameter(each, route.path).example for each in route.parameters
    }
    path, body = route.path, msgspec.to_builtins(route.example_body)
    for name, value in parts.items():
        path = path.replace(f"[{name}]", quote(value))
    return {
        "name": to_camel(route.name),
        "arguments": [*parts.values(), *([] if body is None else [spell(body)])],
        "request": f"{route.method} {path}",
        "body": body,
        "answer": shapes.encode(route.example_answer).decode(),
    }


def test_each_method_sends_the_example_of_its_operation_and_reads_the_answer(project: Path, tmp_path: Path) -> None:
    examples = tmp_path / "examples.json"
    examples.write_text(json.dumps(list(list_examples())), encoding="utf-8")
    run(["node", compile_program(PROGRAMS / "examples.mts", project), examples], project)


def test_retries_renewals_of_tokens_errors_and_json_behave_as_documented(project: Path) -> None:
    run(["node", compile_program(PROGRAMS / "behaviour.mts", project)], project)


# --- a real server ----------------------------------------------------------------------------------------------


def test_shop_leaderboard_bot_and_game_server_work_and_survive_a_kill(project: Path, database: str) -> None:
    run_scenario(["node", compile_program(PROGRAMS / "scenario.mts", project)], database)


@pytest.mark.parametrize(
    "page", [ROOT / "docs" / "client-typescript.md", PACKAGE / "README.md"], ids=["docs", "README"]
)
@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
def test_every_block_of_page_runs_and_prints_the_documented_text(
    project: Path, demo_server: Server, page: Path
) -> None:
    samples = [each for each in parse_samples(page.name, page.read_text("utf-8")) if each.language == "ts"]
    assert samples
    program = project / f"{page.stem}.mts"
    code = "\n".join(each.code for each in samples).replace(ADDRESS, demo_server.url)
    program.write_text(code, encoding="utf-8")
    compare("".join(each.shows or "" for each in samples), run(["node", compile_program(program, project)], project))
