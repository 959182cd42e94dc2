"""What pages have around them: menu, help, documents, static files."""

import re

from keepers import Keeper

from gamekeeper.console import menu, page_help, static_files
from gamekeeper.console.document_files import DOCUMENTS
from gamekeeper.console.document_markup import PATH, render
from gamekeeper.console.routes import PAGES
from gamekeeper.http import docs_files
from loops import over
from world import World


def test_each_menu_page_marks_itself_and_has_its_own_help(root: Keeper) -> None:
    for entry in menu.MENU():
        page = root.page(entry.path)
        marked = [each["href"] for tag, each in page.tags if tag == "a" and each.get("aria-current") == "page"]
        assert entry.path in marked, entry.path
        assert page_help.find_help(entry.path) is not page_help.ANY_PAGE, entry.path
        assert page_help.find_help(entry.path).text in page.text, entry.path


def test_help_is_of_existing_pages_and_groups_without_entries_are_hidden() -> None:
    paths = {each.path for each in PAGES if each.method == "GET"}
    assert {f"/console{path}" for path in page_help.HELP()} <= paths
    assert {each.document for each in page_help.HELP().values()} <= DOCUMENTS.keys()
    shown = menu.list_groups(menu.NO_PERMISSIONS)
    assert [each.title for each in shown] == ["Game", "Administration"]
    assert [each.title for each in shown[0].entries] == ["Home"]


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


@over("path", ["/console/static/console.css", "/console/static/0123456789abcdef/console.css"])
def test_other_addresses_are_revalidated(world: World, path: str) -> None:
    """A server of another version, during an update, must neither miss a file nor make browsers keep the wrong one."""
    answer = Keeper(world).get(path)
    assert (answer.status, answer.headers["cache-control"]) == (200, "private, no-cache")
    again = Keeper(world).get(path, {"if-none-match": answer.headers["etag"]})
    assert again.status == 304


def test_every_document_renders_with_links_that_lead_somewhere() -> None:
    ids = {name: set(re.findall(r'<h\d id="([^"]*)"', render(name))) for name in DOCUMENTS}
    broken: list[tuple[str, str]] = []
    for name in DOCUMENTS:
        html = str(render(name))
        assert (html.count("<h1"), " style=" in html, "<script" in html, "<img" in html) == (1, False, False, False), (
            name
        )
        for link in re.findall(r'href="([^"]*)"', html):
            page, _, heading = link.removeprefix(f"{PATH}/").partition("#")
            if not link.startswith("https://") and (heading or name) not in {name, *ids[page or name]}:
                broken.append((name, link))
    assert broken == []


def test_help_menu_leads_to_the_document_and_documents_need_a_session(
    shared_root: Keeper, world: World, root: Keeper
) -> None:
    page = shared_root.page("/console/signals")
    address = page.links["Read the document \u201cSignals\u201d"]
    assert address == f"{PATH}/signals"
    shown = shared_root.page(address)
    assert "One signal, not a thousand" in shown.text
    assert "Signals" in shared_root.page(shown.links["All documents"]).links
    assert Keeper(world).get(f"{PATH}/signals").status == 303
    for name in ("missing", "..%2FREADME", "signals.md"):
        assert root.get(f"{PATH}/{name}").status == 404, name
