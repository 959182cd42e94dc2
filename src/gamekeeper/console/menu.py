"""The pages that are always at hand, and who sees them."""

from typing import NamedTuple

ANYBODY: frozenset[str] = frozenset()
QUERY = frozenset({"users.query"})
MANAGE = frozenset({"users.query", "users.manage"})


class Entry(NamedTuple):
    path: str
    needs: frozenset[str] = ANYBODY
    named: str = ""

    @property
    def title(self) -> str:
        return self.named or self.path.rpartition("/")[2].capitalize()


MENU = (
    Entry("/console", named="Overview"),
    Entry("/console/characters"),
    Entry("/console/ranking"),
    Entry("/console/online"),
    Entry("/console/accounts", QUERY),
    Entry("/console/changes"),
    Entry("/console/catalogue"),
    Entry("/console/mail", MANAGE),
    Entry("/console/tokens", MANAGE),
    Entry("/console/health"),
    Entry("/console/explorer", named="API explorer"),
)
