"""The menu's groups, the marked entry, and the help of each page."""

from itertools import groupby

import pytest
from keepers import Keeper

from gamekeeper.console import menu, page_help
from gamekeeper.console.document_files import DOCUMENTS
from gamekeeper.console.routes import PAGES


@pytest.mark.parametrize(
    ("path", "title"),
    [
        ("/console", "Home"),
        ("/console/characters", "Players"),
        ("/console/players/[lookupKey]", "Players"),
        ("/console/changes/[seq]", "Changes"),
        ("/console/deliveries", "Health"),
        ("/console/notes", "Notes"),
        ("/console/guilds/[guild]", "Guilds"),
    ],
)
def test_page_belongs_to_a_menu_entry(path: str, title: str) -> None:
    found = menu.find_current(path)
    assert found is not None
    assert found.title == title


def test_pages_of_the_own_account_belong_to_no_menu_entry() -> None:
    assert menu.find_current("/console/me/password") is None


def test_each_group_is_listed_once() -> None:
    assert [title for title, _ in groupby(menu.MENU(), key=lambda each: each.group)] == [
        menu.GAME,
        menu.SUPPORT,
        menu.ADMINISTRATION,
    ]


def test_group_without_visible_entries_is_left_out() -> None:
    shown = menu.list_groups(menu.NO_PERMISSIONS)
    assert [each.title for each in shown] == ["Game", "Administration"]
    assert [each.title for each in shown[0].entries] == ["Home"]


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
def test_each_menu_page_marks_itself_and_has_its_own_help(root: Keeper) -> None:
    for entry in menu.MENU():
        page = root.page(entry.path)
        marked = [each["href"] for tag, each in page.tags if tag == "a" and each.get("aria-current") == "page"]
        assert entry.path in marked, entry.path
        assert page_help.find_help(entry.path) is not page_help.ANY_PAGE, entry.path
        assert page_help.find_help(entry.path).text in page.text, entry.path


def test_help_is_of_existing_pages_and_documents() -> None:
    paths = {each.path for each in PAGES if each.method == "GET"}
    assert {f"/console{path}" for path in page_help.HELP()} <= paths
    assert {each.document for each in page_help.HELP().values()} <= DOCUMENTS.keys()
