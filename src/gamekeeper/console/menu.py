"""The menu of the console: its pages, and the permissions that each needs."""

from typing import NamedTuple

from gamekeeper.console.texts import gettext

NO_PERMISSIONS: frozenset[str] = frozenset()
QUERY = frozenset({"users.query"})
MANAGE = frozenset({"users.query", "users.manage"})


class MenuEntry(NamedTuple):
    path: str
    title: str
    needs: frozenset[str] = NO_PERMISSIONS


MENU = (
    MenuEntry("/console", gettext("Overview")),
    MenuEntry("/console/characters", gettext("Players")),
    MenuEntry("/console/ranking", gettext("Ranking")),
    MenuEntry("/console/online", gettext("Online")),
    MenuEntry("/console/accounts", gettext("Accounts"), QUERY),
    MenuEntry("/console/changes", gettext("Changes")),
    MenuEntry("/console/catalogue", gettext("Catalogue")),
    MenuEntry("/console/mail", gettext("Mail"), MANAGE),
    MenuEntry("/console/tokens", gettext("Tokens"), MANAGE),
    MenuEntry("/console/health", gettext("Health")),
    MenuEntry("/console/explorer", gettext("API explorer")),
)
