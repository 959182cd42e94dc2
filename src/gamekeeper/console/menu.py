"""The pages that are always at hand, and who sees them."""

from typing import NamedTuple

ANYBODY: frozenset[str] = frozenset()
QUERY = frozenset({"users.query"})
MANAGE = frozenset({"users.query", "users.manage"})


class Entry(NamedTuple):
    title: str
    path: str
    needs: frozenset[str] = ANYBODY


MENU = (
    Entry("Overview", "/console"),
    Entry("Characters", "/console/characters"),
    Entry("Ranking", "/console/ranking"),
    Entry("Online", "/console/online"),
    Entry("Accounts", "/console/accounts", QUERY),
    Entry("Changes", "/console/changes"),
    Entry("Catalogue", "/console/catalogue"),
    Entry("Mail", "/console/mail", MANAGE),
    Entry("Tokens", "/console/tokens", MANAGE),
    Entry("Health", "/console/health"),
    Entry("API explorer", "/console/explorer"),
)
