"""Count the source: files, lines, folders and imports. Fails on an import that goes up or in a circle: `make house`."""

import ast
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src/gamekeeper"
FLOORS = (
    ("ground",),
    ("store",),
    ("game",),
    ("http",),
    ("console", "doctor"),
    ("app",),
    ("copies", "demo", "intersect"),
    ("cli",),
    ("__main__",),
)  # from the lowest to the highest; parts of one floor do not import each other
HEIGHT = {part: height for height, parts in enumerate(FLOORS) for part in parts}
# rooms of a floor, from the lowest to the highest; its other folders are frames, below all rooms
ROOMS = ("access", "players", "accounts", "world", "audit", "lists", "insight")
WITH_ROOMS = ("store", "game", "http", "console")
SMALL, LARGE = 60, 400  # lines
Imports = Mapping[Path, set[Path]]


def list_modules() -> list[Path]:
    return sorted(path for path in SOURCE.rglob("*.py"))


def count_lines(*folders: str, endings: tuple[str, ...] = (".py",)) -> int:
    found = (path for folder in folders for path in (ROOT / folder).rglob("*") if path.suffix in endings)
    return sum(len(path.read_text(encoding="utf-8").splitlines()) for path in found if "node_modules" not in path.parts)


def count_words() -> int:
    """Count the words of all documents except the specification, generated pages, the tests' and the clients'."""
    left_out = {
        ROOT / f"docs/{page}.md" for page in ("spec", "settings", "cli", "operations", "permissions", "changes")
    }
    files = (path for path in (*ROOT.glob("*.md"), *ROOT.glob("*/**/*.md")) if path not in left_out)
    outside = {"tests", "clients", "node_modules", "site"}
    return sum(
        len(path.read_text(encoding="utf-8").split())
        for path in files
        if not outside & set(path.relative_to(ROOT).parts) and not path.relative_to(ROOT).parts[0].startswith(".venv")
    )


def find_module(dotted: str) -> Path | None:
    path = SOURCE.parent.joinpath(*dotted.split("."))
    return next((each for each in (path.with_suffix(".py"), path / "__init__.py") if each.exists()), None)


def find_imports(module: Path) -> Iterator[Path]:
    """Find the modules that a module imports, also inside functions."""
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "gamekeeper":
            for name in node.names:
                found = find_module(f"{node.module}.{name.name}") or find_module(node.module)
                if found and found != module:
                    yield found


def find_part(module: Path) -> str:
    """Return the first folder or file of a module's path under src/gamekeeper."""
    return module.relative_to(SOURCE).parts[0].removesuffix(".py")


def find_arrows(imports: Imports) -> set[tuple[str, str]]:
    arrows = {(find_part(one), find_part(other)) for one, others in imports.items() for other in others}
    return {(one, other) for one, other in arrows if one != other and "__init__" not in (one, other)}


def count_against_order(imports: Imports) -> int:
    """Count pairs of files on one floor where a frame imports a room, or a room imports a later one."""
    places = {module: module.relative_to(SOURCE).parts for module in imports}
    ranks = {
        module: ROOMS.index(parts[1]) if parts[1:] and parts[1] in ROOMS else -1 for module, parts in places.items()
    }
    return sum(
        places[one][0] == places[other][0] and ranks[one] < ranks[other]
        for one, others in imports.items()
        for other in others
        if places[one][0] in WITH_ROOMS
    )


def find_circle(imports: Imports) -> list[Path]:
    """Return the files of one circle of imports, or nothing."""
    try:
        tuple(TopologicalSorter(imports).static_order())
    except CycleError as error:
        return error.args[1]
    return []


def main() -> None:
    modules = list_modules()
    imports = {module: set(find_imports(module)) for module in modules}
    named = [module for module in modules if module.name != "__init__.py"]
    lines = {module: len(module.read_text(encoding="utf-8").splitlines()) for module in named}
    folders = Counter(module.parent for module in named)
    arrows = find_arrows(imports)
    upwards = sorted((one, other) for one, other in arrows if HEIGHT[other] >= HEIGHT[one])
    circle = find_circle(imports)
    fullest, files = folders.most_common(1)[0]
    entries = {find_part(module) for module in named}
    rows = (
        ("Python files in src/gamekeeper", len(named)),
        ("files in the fullest folder", f"{files} ({fullest.relative_to(SOURCE)})"),
        ("entries of the first level", len(entries)),
        (f"files under {SMALL} lines", sum(count < SMALL for count in lines.values())),
        (f"files over {LARGE} lines", sum(count > LARGE for count in lines.values())),
        ("arrows between the entries of the first level", len(arrows)),
        ("of them upwards", len(upwards)),
        ("circles of files", int(bool(circle))),
        ("imports against the order of rooms", count_against_order(imports)),
        ("lines of Python in src", sum(lines.values())),
        ("lines of SQL in src", count_lines("src", endings=(".sql",))),
        ("lines of templates in src", count_lines("src", endings=(".html",))),
        ("lines of Python in tests", count_lines("tests")),
        ("lines in scripts, battery and benchmarks", count_tools()),
        ("lines of the Python client", count_lines("clients/python/src")),
        ("words of documents", count_words()),
    )
    for what, number in rows:
        print(f"{what:48} {number if isinstance(number, str) else f'{number:,}':>12}")
    for one, other in upwards:
        print(f"upwards: {one} imports {other}", file=sys.stderr)
    for module in circle:
        print(f"circle: {module.relative_to(SOURCE)}", file=sys.stderr)
    sys.exit(bool(upwards or circle))


def count_tools() -> int:
    return count_lines("scripts", "battery", "benchmarks", endings=(".py", ".js", ".sh", ".lua", ".c"))


if __name__ == "__main__":
    main()
