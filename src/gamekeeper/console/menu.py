"""The menu of the console: its pages, and the permissions that each needs."""

from typing import NamedTuple

from gamekeeper.console.texts import gettext

NO_PERMISSIONS: frozenset[str] = frozenset()
PLAYERS = frozenset({"players.read"})
CHANGES = frozenset({"audit.read"})
SECURITY = frozenset({"audit.read", "users.query"})
BULK = frozenset({"bulk.run", "players.read"})
QUERY = frozenset({"users.query"})
STAFF = frozenset({"users.query", "staff.manage"})
KEYS = frozenset({"keys.manage"})
APPROVALS = frozenset({"approvals.decide"})
MANAGE = frozenset({"users.query", "users.manage"})


class MenuEntry(NamedTuple):
    path: str
    title: str
    needs: frozenset[str] = NO_PERMISSIONS


MENU = (
    MenuEntry("/console", gettext("Overview")),
    MenuEntry("/console/characters", gettext("Players"), PLAYERS),
    MenuEntry("/console/ranking", gettext("Ranking"), PLAYERS),
    MenuEntry("/console/online", gettext("Online"), PLAYERS),
    MenuEntry("/console/guilds", gettext("Guilds"), PLAYERS),
    MenuEntry("/console/accounts", gettext("Accounts"), QUERY),
    MenuEntry("/console/staff", gettext("Staff"), STAFF),
    MenuEntry("/console/roles", gettext("Roles"), STAFF),
    MenuEntry("/console/changes", gettext("Changes"), CHANGES),
    MenuEntry("/console/security", gettext("Security log"), SECURITY),
    MenuEntry("/console/approvals", gettext("Approvals"), APPROVALS),
    MenuEntry("/console/catalogue", gettext("Catalogue"), PLAYERS),
    MenuEntry("/console/variables", gettext("Server variables"), PLAYERS),
    MenuEntry("/console/mail", gettext("Mail"), MANAGE),
    MenuEntry("/console/tokens", gettext("Tokens"), MANAGE),
    MenuEntry("/console/keys", gettext("API keys"), KEYS),
    MenuEntry("/console/health", gettext("Health")),
    MenuEntry("/console/explorer", gettext("API explorer")),
)
