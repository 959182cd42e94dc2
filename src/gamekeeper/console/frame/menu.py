"""The menu of the console: its pages in groups with the permissions that each needs, and the help menu.

Each page declares its menu entry and a short explanation beside its route. The help menu shows the explanation, and
links to the documents that are shipped with the server.
"""

from collections.abc import Mapping
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from gamekeeper.console.frame.texts import PerLanguage, gettext, translate
from gamekeeper.ground.rooms import collect
from gamekeeper.http.contract.operation import Route

IN_WHEEL = Path(__file__).parents[2] / "docs"
IN_CHECKOUT = Path(__file__).parents[4] / "docs"
FOLDERS = ("", "guides", "decisions")


class Document(NamedTuple):
    title: str
    file: Path


@cache
def list_documents() -> Mapping[str, Document]:
    """List the documents by name, with their first heading. A requested name is only looked up here."""
    root = IN_WHEEL if IN_WHEEL.is_dir() else IN_CHECKOUT
    return {
        make_name(folder, each.stem): Document(_make_title(folder, each), each)
        for folder in FOLDERS
        for each in sorted((root / folder).glob("*.md"))
    }


def make_name(folder: str, stem: str) -> str:
    """Make the name of a document, which is one segment of an address: `settings`, or `guides-run`."""
    return f"{folder}-{stem}" if folder else stem


def _make_title(folder: str, file: Path) -> str:
    """Return a document's first heading, after the name of its folder: some are also titles in docs itself."""
    with file.open(encoding="utf-8") as lines:
        heading = lines.readline().removeprefix("# ").strip()
    return f"{folder.capitalize()}: {heading}" if folder else heading


NO_PERMISSIONS: frozenset[str] = frozenset()
PLAYERS = frozenset({"players.read"})
CHANGES = frozenset({"audit.read"})
SECURITY = frozenset({"audit.read", "users.query"})
BULK = frozenset({"bulk.run", "players.read"})
NOTES = frozenset({"notes.write"})
QUERY = frozenset({"users.query"})
STAFF = frozenset({"users.query", "staff.manage"})
KEYS = frozenset({"keys.manage"})
APPROVALS = frozenset({"approvals.decide"})
MANAGE = frozenset({"users.query", "users.manage"})

GAME, SUPPORT, ADMINISTRATION, OWN = "game", "support", "administration", ""
GROUP_TITLES = PerLanguage[Mapping[str, str]](  # in the order of the menu; OWN is not in it: its pages are found only
    lambda: {GAME: gettext("Game"), SUPPORT: gettext("Support"), ADMINISTRATION: gettext("Administration"), OWN: ""}
)


class MenuEntry(NamedTuple):
    title: str  # in English
    group: str
    place: int  # in its group
    icon: str  # name of a symbol in frame/icons.html
    parts: tuple[str, ...]  # starts of the paths of other pages that belong to this entry
    path: str
    needs: frozenset[str]

    def holds(self, path: str) -> bool:
        """Tell whether a page, by its route's path, is this entry or belongs to it."""
        return path == self.path or path.startswith((f"{self.path}/", *self.parts))


class PageHelp(NamedTuple):
    text: str  # in English
    document: str = "console"  # name of a document in the folder docs

    @property
    def title(self) -> str:
        """Return the title of the document; empty if the installation has no documents."""
        found = list_documents().get(self.document)
        return found.title if found else ""

    def translate(self) -> "PageHelp":
        return self._replace(text=translate(self.text))


class PageRoute(Route, eq=False, frozen=True, kw_only=True):
    """A route of the console. The tuples `PAGES` of the rooms have all of them."""

    needs: frozenset[str] = NO_PERMISSIONS
    entry: MenuEntry | None = None
    about: PageHelp | None = None

    def in_menu(
        self, title: str, group: str, place: int, icon: str = "dot", parts: tuple[str, ...] = ()
    ) -> "PageRoute":
        """Add the page to the menu, or, in the group OWN, only to what the search box finds."""
        return replace(self, entry=MenuEntry(title, group, place, icon, parts, self.path, self.needs))

    def with_help(self, text: str, document: str = "console") -> "PageRoute":
        return replace(self, about=PageHelp(text, document))


@cache
def list_pages() -> list[PageRoute]:
    return collect("console", "PAGES")


def _make_entries() -> list[MenuEntry]:
    order = list(GROUP_TITLES())
    found = [each.entry._replace(title=translate(each.entry.title)) for each in list_pages() if each.entry]
    return sorted(found, key=lambda each: (order.index(each.group), each.place))


ENTRIES = PerLanguage(_make_entries)  # the menu, with the home page first, and the pages of the group OWN
MENU = PerLanguage(lambda: [each for each in ENTRIES() if each.group])
ANY_PAGE = PageHelp("Every change shows a preview, needs a reason, and can be undone from the audit log.")
HELP = PerLanguage(lambda: {each.path: each.about.translate() for each in list_pages() if each.about})


def list_groups(rights: frozenset[str]) -> list[tuple[str, list[MenuEntry]]]:
    """List the titles of the menu's groups with the entries that a viewer with these permissions can open."""
    shown = [each for each in MENU() if each.needs <= rights]
    groups, titles = groupby(shown, key=lambda each: each.group), GROUP_TITLES()
    return [(titles[group], list(entries)) for group, entries in groups]


def find_current(path: str) -> MenuEntry | None:
    """Find the entry to which a page belongs, by its route's path. Every path starts with that of the home page."""
    home, *others = MENU()
    return home if path == home.path else next((each for each in others if each.holds(path)), None)
