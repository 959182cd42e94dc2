"""The documents as pages of the console: they have no inline styles, and their links lead to what exists."""

import re

from keepers import Keeper

from gamekeeper.console.document_files import DOCUMENTS
from gamekeeper.console.document_markup import PATH, render
from world import World


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


def test_link_to_a_file_that_is_not_shipped_is_plain_text() -> None:
    html = str(render("deploy"))
    assert "haproxy.cfg" in html
    assert "../deploy/" not in html


def test_guides_and_decisions_are_documents_and_linked() -> None:
    guide, decision = str(render("guides-run")), str(render("decisions-moderation"))
    assert f'href="{PATH}/deploy' in guide  # from a folder to docs
    assert f'href="{PATH}/decisions"' in decision
    assert f'href="{PATH}/decisions-tokens"' in str(render("decisions"))  # from docs to a folder
    assert f'href="{PATH}/decisions-accounts"' in str(render("decisions-writes"))  # within a folder
    assert "not run:" not in guide  # a comment for the test of the samples
    assert DOCUMENTS["decisions-economy"].title != DOCUMENTS["economy"].title


def test_folded_parts_of_guides_are_folded() -> None:
    guides = [str(render(name)) for name in DOCUMENTS if name.startswith("guides-")]
    assert any("<details><summary>" in each for each in guides)
    assert [each for each in guides if "&lt;details" in each or "&lt;/details" in each] == []


def test_help_menu_leads_to_the_document_of_the_page(shared_root: Keeper) -> None:
    page = shared_root.page("/console/signals")
    address = page.links["Read the document \u201cSignals\u201d"]
    assert address == f"{PATH}/signals"
    shown = shared_root.page(address)
    assert "One signal, not a thousand" in shown.text
    assert "Signals" in shared_root.page(shown.links["All documents"]).links


def test_documents_need_a_session_and_have_no_other_names(world: World, root: Keeper) -> None:
    assert Keeper(world).get(f"{PATH}/signals").status == 303
    for name in ("missing", "..%2FREADME", "signals.md"):
        assert root.get(f"{PATH}/{name}").status == 404, name
