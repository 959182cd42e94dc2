"""The menu of the console: its pages in groups, and the permissions that each needs."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from gamekeeper.console.texts import PerLanguage, gettext

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

GAME, SUPPORT, ADMINISTRATION = "game", "support", "administration"
GROUP_TITLES = PerLanguage[Mapping[str, str]](
    lambda: {GAME: gettext("Game"), SUPPORT: gettext("Support"), ADMINISTRATION: gettext("Administration")}
)


class MenuEntry(NamedTuple):
    path: str
    title: str
    needs: frozenset[str] = NO_PERMISSIONS
    group: str = GAME
    icon: str = "dot"  # name of a symbol in templates/icons.html
    parts: tuple[str, ...] = ()  # starts of the paths of other pages that belong to this entry

    def holds(self, path: str) -> bool:
        """Tell whether a page, by its route's path, is this entry or belongs to it."""
        return path == self.path or path.startswith((f"{self.path}/", *self.parts))


HOME = "/console"  # path of the home page, the first entry
# entries of a group stand together
MENU = PerLanguage[tuple[MenuEntry, ...]](
    lambda: (
        MenuEntry(HOME, gettext("Home"), icon="home"),
        MenuEntry("/console/characters", gettext("Players"), PLAYERS, GAME, "player", ("/console/players/",)),
        MenuEntry("/console/bulk", gettext("Bulk jobs"), BULK, GAME, "bulk"),
        MenuEntry("/console/online", gettext("Online"), PLAYERS, GAME, "online"),
        MenuEntry("/console/ranking", gettext("Ranking"), PLAYERS, GAME, "ranking"),
        MenuEntry("/console/boards", gettext("Boards"), PLAYERS, GAME, "boards"),
        MenuEntry("/console/guilds", gettext("Guilds"), PLAYERS, GAME, "guild"),
        MenuEntry("/console/activity", gettext("Activity"), PLAYERS, GAME, "activity"),
        MenuEntry("/console/economy", gettext("Economy"), PLAYERS, GAME, "economy", ("/console/items/",)),
        MenuEntry("/console/catalogue", gettext("Catalogue"), PLAYERS, GAME, "catalogue"),
        MenuEntry("/console/variables", gettext("Server variables"), PLAYERS, GAME, "variables"),
        MenuEntry("/console/accounts", gettext("Accounts"), QUERY, SUPPORT, "account"),
        MenuEntry("/console/notes", gettext("Notes"), NOTES, SUPPORT, "notes"),
        MenuEntry("/console/changes", gettext("Changes"), CHANGES, SUPPORT, "changes", ("/console/done/",)),
        MenuEntry("/console/signals", gettext("Signals"), CHANGES, SUPPORT, "signal"),
        MenuEntry("/console/approvals", gettext("Approvals"), APPROVALS, SUPPORT, "approvals"),
        MenuEntry("/console/mail", gettext("Mail"), MANAGE, SUPPORT, "mail"),
        MenuEntry("/console/staff", gettext("Staff"), STAFF, ADMINISTRATION, "staff"),
        MenuEntry("/console/roles", gettext("Roles"), STAFF, ADMINISTRATION, "role"),
        MenuEntry("/console/keys", gettext("API keys"), KEYS, ADMINISTRATION, "key"),
        MenuEntry("/console/tokens", gettext("Tokens"), MANAGE, ADMINISTRATION, "token"),
        MenuEntry("/console/security", gettext("Security log"), SECURITY, ADMINISTRATION, "security"),
        MenuEntry(
            "/console/health", gettext("Health"), NO_PERMISSIONS, ADMINISTRATION, "health", ("/console/deliveries",)
        ),
        MenuEntry("/console/explorer", gettext("API explorer"), NO_PERMISSIONS, ADMINISTRATION, "explorer"),
    )
)


class MenuGroup(NamedTuple):
    title: str
    entries: Sequence[MenuEntry]


def list_groups(rights: frozenset[str]) -> list[MenuGroup]:
    """List the groups of the menu with the entries that a viewer with these permissions can open."""
    shown = [each for each in MENU() if each.needs <= rights]
    groups, titles = groupby(shown, key=lambda each: each.group), GROUP_TITLES()
    return [MenuGroup(titles[group], list(entries)) for group, entries in groups]


def find_current(path: str) -> MenuEntry | None:
    """Find the entry to which a page belongs, by its route's path. Every path starts with that of the home page."""
    home, *others = MENU()
    return home if path == home.path else next((each for each in others if each.holds(path)), None)
