"""Static files: addresses with a hash are kept forever, other addresses are revalidated."""

import re
from pathlib import Path

import pytest
from keepers import Keeper

from gamekeeper.console import static_files
from gamekeeper.http import docs_files
from world import World

FOREVER = "public, max-age=31536000, immutable"
SIZE = re.compile(r"font(?:-size)?: ([\d.]+[a-z]+|var\(--[\w-]+\))")
SCALE = {"1rem", *(f"var(--size-{name})" for name in ("small", "less", "more", "title", "number"))}
# letters of code, which are sized by the text around them, and the page's own size, which is 1rem
RELATIVE = {"0.87em", "14.5px", "15px"}
STYLE = f"/console/static/{static_files.VERSION}/console.css"


def test_pages_use_addresses_with_the_version(shared_root: Keeper) -> None:
    tags = shared_root.page("/console/characters").tags
    used = {each.get("src") or each.get("href", "") for tag, each in tags if tag in {"script", "link", "img"}}
    ours = {each for each in used if each.startswith(static_files.ROOT)}
    assert STYLE in ours
    assert {each for each in ours if not each.startswith(f"{static_files.ROOT}{static_files.VERSION}/")} == set()


def test_files_of_the_explorer_are_immutable_in_both_explorers(world: World, root: Keeper) -> None:
    html = root.page("/console/explorer").html + root.get("/api/docs").raw.decode()
    scripts = static_files.FILES["explorer.js"].decode() + "".join(
        root.get(f"/api/docs/{name}").raw.decode() for name in docs_files.MEDIA_TYPES if name.endswith(".js")
    )
    named = set(re.findall(r'"(?:/api/docs/|\./)(\w+\.(?:css|js)[^"]*)"', html + scripts))
    assert {each.partition("?")[0] for each in named} >= docs_files.MEDIA_TYPES.keys() - {"docs.css"}
    for each in named - {"texts.js"}:  # of the console
        answer = Keeper(world).get(f"/api/docs/{each}")
        assert (answer.status, answer.headers["cache-control"]) == (200, FOREVER), each
    assert Keeper(world).get("/api/docs/explorer.js?v=0123456789abcdef").headers["cache-control"] != FOREVER


def test_file_of_this_version_is_immutable(world: World) -> None:
    answer = Keeper(world).get(STYLE)
    assert (answer.status, answer.headers["cache-control"]) == (200, FOREVER)
    assert answer.headers["content-type"] == "text/css; charset=utf-8"
    assert "authorization" not in answer.headers.get("vary", "")


@pytest.mark.parametrize("path", ["/console/static/console.css", "/console/static/0123456789abcdef/console.css"])
def test_other_addresses_are_revalidated(world: World, path: str) -> None:
    """A server of another version, during an update, must neither miss a file nor make browsers keep the wrong one."""
    answer = Keeper(world).get(path)
    assert (answer.status, answer.headers["cache-control"]) == (200, "private, no-cache")
    again = Keeper(world).get(path, {"if-none-match": answer.headers["etag"]})
    assert again.status == 304


@pytest.mark.parametrize("name", ["missing.css", "..%2Fpages.py", ".."])
def test_unknown_file_of_this_version_is_not_found(world: World, name: str) -> None:
    answer = Keeper(world).get(f"/console/static/{static_files.VERSION}/{name}")
    assert (answer.status, answer.headers["cache-control"]) == (404, "no-store")


def test_version_follows_content_and_names() -> None:
    files = {"a.js": b"1", "b.js": b"2"}
    versions = {docs_files.hash_files(each) for each in (files, {"a.js": b"2", "b.js": b"1"}, {"c.js": b"1"}, {})}
    assert len(versions) == 4
    assert docs_files.hash_files(dict(reversed(files.items()))) == docs_files.hash_files(files)


def test_scripts_import_each_other_by_relative_addresses() -> None:
    """A module with an address of its own without the version would be loaded twice."""
    folder = Path(static_files.__file__).parent / "static"
    assert [each.name for each in folder.glob("*.js") if "/console/static" in each.read_text("utf-8")] == []


def test_letters_have_only_the_six_sizes_of_the_scale() -> None:
    """A size of its own here and there makes pages uneven."""
    styles = {name: file.decode() for name, file in static_files.FILES.items() if name.endswith(".css")}
    folder = Path(docs_files.__file__).parent / "docs"
    styles |= {name: (folder / name).read_text() for name in docs_files.MEDIA_TYPES if name.endswith(".css")}
    found = {(name, size) for name, text in styles.items() for size in SIZE.findall(text)}
    assert {each for each in found if each[1] not in SCALE | RELATIVE} == set()
    assert {size for _, size in found} >= SCALE
