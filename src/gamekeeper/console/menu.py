"""The pages that are always at hand, and who sees them."""

from typing import NamedTuple

NO_PERMISSIONS: frozenset[str] = frozenset()
QUERY = frozenset({"users.query"})
MANAGE = frozenset({"users.query", "users.manage"})


class MenuEntry(NamedTuple):
    path: str
    needs: frozenset[str] = NO_PERMISSIONS
    named: str = ""

    @property
    def title(self) -> str:
        return self.named or self.path.rpartition("/")[2].capitalize()


MENU = (
    MenuEntry("/console", named="Overview"),
    MenuEntry("/console/characters"),
    MenuEntry("/console/ranking"),
    MenuEntry("/console/online"),
    MenuEntry("/console/accounts", QUERY),
    MenuEntry("/console/changes"),
    MenuEntry("/console/catalogue"),
    MenuEntry("/console/mail", MANAGE),
    MenuEntry("/console/tokens", MANAGE),
    MenuEntry("/console/health"),
    MenuEntry("/console/explorer", named="API explorer"),
)
