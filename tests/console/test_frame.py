"""Static files and documents of the console."""

from keepers import Keeper

from gamekeeper.console import static_files
from gamekeeper.http import docs_files
from loops import over
from world import World

FOREVER = "public, max-age=31536000, immutable"
STYLE = f"/console/static/{static_files.VERSION}/console.css"


def test_files_of_this_version_are_immutable(shared_root: Keeper, world: World) -> None:
    tags = shared_root.page("/console/characters").tags
    used = {each.get("src") or each.get("href", "") for tag, each in tags if tag in {"script", "link", "img"}}
    ours = {each for each in used if each.startswith(static_files.ROOT)}
    assert STYLE in ours
    assert {each for each in ours if not each.startswith(f"{static_files.ROOT}{static_files.VERSION}/")} == set()
    answer = Keeper(world).get(STYLE)
    assert (answer.status, answer.headers["cache-control"]) == (200, FOREVER)
    assert answer.headers["content-type"] == "text/css; charset=utf-8"
    assert "authorization" not in answer.headers.get("vary", "")
    files = {"a.js": b"1", "b.js": b"2"}
    versions = {docs_files.hash_files(each) for each in (files, {"a.js": b"2", "b.js": b"1"}, {"c.js": b"1"}, {})}
    assert len(versions) == 4
    assert docs_files.hash_files(dict(reversed(files.items()))) == docs_files.hash_files(files)


@over("path", ["/console/static/console.css", "/console/static/0123456789abcdef/console.css"])
def test_other_addresses_are_revalidated(world: World, path: str) -> None:
    """A server of another version, during an update, must neither miss a file nor make browsers keep the wrong one."""
    answer = Keeper(world).get(path)
    assert (answer.status, answer.headers["cache-control"]) == (200, "private, no-cache")
    again = Keeper(world).get(path, {"if-none-match": answer.headers["etag"]})
    assert again.status == 304
