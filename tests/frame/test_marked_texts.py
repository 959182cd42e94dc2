"""Every text of the console's pages comes from the catalogue: in a language of marks, only data has none."""

import json
import re
from gettext import NullTranslations
from typing import Any

import pytest

from demo_pages import PAGES
from expectations import TABLES
from gamekeeper.console.frame import templates, texts
from gamekeeper.demo.world import API_ACCOUNT, make_stable_id
from gamekeeper.game.access.permissions import PERMISSIONS
from keepers import open_session
from markup import Page
from world import OpenWorld

MARKS = "xx"  # code of the language
PLACEHOLDER = re.compile(r"%\(\w+\)s|\{\w+\}")
WORD = re.compile(r"\b[^\W\d_]{2,}\b")  # not a part of an identifier such as items_given
SHOWN = ("title", "placeholder", "aria-label", "alt")  # attributes that people see or hear
# commands, identifiers and secrets; and titles of the documents, which are in English
CODE = re.compile(r"<(code|pre)\b.*?</\1>|(?<=“⟧).*?(?=⟦”)", re.DOTALL)
# names; and the ranks of guilds, which the game sets
UNTRANSLATED = "UTC CSV JSON SQLite PostgreSQL Gamekeeper English Deutsch Master Officer Member Newbie"


def mark(text: str) -> str:
    return f"⟦{PLACEHOLDER.sub(lambda found: f'⟧{found[0]}⟦', text)}⟧"


class Marks(NullTranslations):
    def gettext(self, message: str) -> str:
        return mark(message)

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        return mark(msgid1 if n == 1 else msgid2)

    def pgettext(self, context: str, message: str) -> str:  # noqa: ARG002 - the signature of gettext
        return mark(message)


@pytest.fixture(autouse=True)
def language_of_marks(monkeypatch: pytest.MonkeyPatch) -> None:
    server = json.loads((texts.LOCALE / texts.GERMAN / "server.json").read_bytes())
    languages: Any = texts.LANGUAGES
    monkeypatch.setitem(languages, MARKS, mark("Marks"))
    catalogues = {MARKS: Marks(), texts.ENGLISH: NullTranslations()}
    monkeypatch.setattr(texts, "load_catalogue", catalogues.get)
    monkeypatch.setitem(templates.ENVIRONMENTS, MARKS, templates.TEMPLATES.in_language(MARKS))
    catalogue = texts.MessageCatalogue({each: mark(each) for each in server})
    monkeypatch.setattr(texts, "SERVER_MESSAGES", lambda: catalogue)


def find_unmarked(page: Page) -> set[str]:
    """Return the texts of a page that are outside of marks."""
    shown = [page.text, *(attributes.get(name, "") for _, attributes in page.tags for name in SHOWN)]
    return {part for text in shown for part in re.split("⟦[^⟧]*⟧", text) if WORD.search(part)}


def test_pages_show_only_translated_texts_and_data(demo_database: str, opened: OpenWorld) -> None:
    world = opened(demo_database)
    keeper = open_session(world, API_ACCOUNT, make_stable_id("user", API_ACCOUNT))
    found: dict[str, set[str]] = {}
    for path in PAGES:
        answer = keeper.get(path, headers={"cookie": f"gamekeeper={keeper.cookie}; gamekeeper-language={MARKS}"})
        if "/documents" not in path and "location" not in answer.headers:
            assert answer.status == 200, path
            found[path] = find_unmarked(Page(CODE.sub("", answer.raw.decode())))
    data = set(WORD.findall(f"{world.read_tables(TABLES)} {list(PERMISSIONS)} {UNTRANSLATED}"))
    wrong = {path: [each for each in parts if not data.issuperset(WORD.findall(each))] for path, parts in found.items()}
    assert {path: parts for path, parts in wrong.items() if parts} == {}
