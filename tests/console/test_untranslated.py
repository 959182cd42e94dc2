"""Every page in German has no English text left: what the English page has too is data, or a word that is listed."""

import re
from html.parser import HTMLParser

import pytest
from keepers import ACT, Keeper, fill_path, open_session
from markup import VOID

import people
from gamekeeper.console.player import TABS
from gamekeeper.console.routes import PAGES
from gamekeeper.game.permissions import BUILTIN_ROLES, PERMISSIONS
from world import World

WORD = re.compile(r"[^\W\d_]{2}")
MACHINE = re.compile(  # numbers, times, addresses, ids, file names, and the initials of an item
    r"[\d.,:/+ -]*|\d+ h \d+ min|[\w.-]+@[\w.]+|[\da-f-]{36}|/[\w/.]+|\d{4} \w+|[\w-]+\.png|[A-Z][A-Za-z]|[\d.]+/\d+",
    re.ASCII,
)
SHOWN_ATTRIBUTES = {"alt", "aria-description", "aria-label", "label", "placeholder", "title"}
CODE = {"code", "kbd", "pre", "script", "style"}  # elements whose text is the same in every language
SAME_WORDS = {
    *("Administration", "Bank", "Browser", "CSV", "Details", "Filter", "JSON", "Maximum", "Name", "Online", "Passkey"),
    *("Import", "Mana", "Moderation", "Moderator", "Sprite"),
    *("Quests", "SQLite", "Schema", "Status", "Support", "Tokens", "Variable", "Version", "Administrator", "System"),
    "PostgreSQL",
    *("offline", "online", "Offline", "Global", "Link", "Server", "Port", "Team", "min", "Information", "Position"),
    *("API", "Editor", "Feed", "Text", "normal", "Token", "x", "y", "z"),
}
# names of the test world
DATA = {
    *people.USER_IDS,
    *PERMISSIONS,
    *BUILTIN_ROLES,
    *(each.name for entries in people.CATALOGUE.values() for each in entries),
    *(
        "Zoe",
        "Double XP",
        "Harbour open",
        "Tax",
        "Message of the day",
        "Events",
    ),  # players, and server variables with their folder
    *("Gamekeeper", "The console", "spamming", "a test", "Anna"),
}


USER, PLAYER = "/api/v1/users/Ann", "/api/v1/players/Ann"
DIALOGS: list[tuple[str, str, dict[str, str]]] = [
    ("POST", f"{PLAYER}/items/take", {"itemid": people.COIN.id, "quantity": "5"}),
    ("POST", f"{PLAYER}/spells/teach", {"spellid": people.HEAL.id}),
    ("POST", f"{PLAYER}/level", {"level": "9"}),
    ("POST", f"{PLAYER}/admin/ban", {"duration": "7"}),
    ("POST", f"{USER}/name", {"name": "Anna"}),
    ("POST", "/api/keeper/v1/users/Shop/suspend", {}),
    ("DELETE", PLAYER, {}),
    ("DELETE", USER, {}),
    ("DELETE", "/api/oauth/token/Shop", {}),
]


class Texts(HTMLParser):
    """Collect the texts and attributes that a page shows, without code and texts in a named other language."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: set[str] = set()
        self._open: list[tuple[str, bool]] = []  # elements around, and whether their text is left out
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        is_left_out = tag in CODE or (tag != "html" and "lang" in given)
        if tag not in VOID:
            self._open.append((tag, is_left_out))
        for name in SHOWN_ATTRIBUTES & given.keys():
            self.handle_data(given[name] or "")

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        if WORD.search(data) and not any(is_left_out for _, is_left_out in self._open):
            self.found.add(" ".join(data.split()))


def find_untranslated(english: str, german: str) -> set[str]:
    """Find texts that are the same in both languages, without data and words that are equal in both."""
    same = Texts(english).found & Texts(german).found
    return {each for each in same if not is_known(each)}


def is_known(text: str) -> bool:
    """Tell whether all parts of a text, such as those of a title, are data or the same in both languages."""
    parts = re.split(r" · |, |: |\d \u00d7 ", text.strip(" .:·…"))
    return all(each in DATA | SAME_WORDS or MACHINE.fullmatch(each) or not WORD.search(each) for each in parts)


def fill(root: Keeper) -> None:
    """Make changes, so that lists and histories have something to show."""
    world, ann = root.world, people.ANN.id
    root.act("POST", f"/api/v1/players/{ann}/items/give", {"itemid": people.COIN.id, "quantity": 1234})
    root.act("POST", f"/api/v1/players/{ann}/spells/forget", {"spellid": people.FIREBALL.id})
    root.act("POST", f"/api/v1/players/{people.BOB.id}/admin/mute", {"duration": 3, "reason": "spamming"})
    root.act("POST", "/api/keeper/v1/notes", {"Player": ann, "Text": "a test"})
    assert world.ledger()


@pytest.mark.long_only
def test_pages_have_no_english_texts_in_german(world: World) -> None:
    root = open_session(world, "Root")
    fill(root)
    seq = world.ledger()[-1].seq
    ann = f"/console/players/{people.ANN.id}"
    paths = [
        *(fill_path(each) for each in PAGES if each.method == "GET" and "/static/" not in each.path),
        *(f"{ann}?tab={tab}" for tab in TABS()),
        *(f"{ann}?slot=inventory-0", f"{ann}?slot=inventory-9", f"{ann}?at={seq}", f"{ann}?at={seq - 1}&against=now"),
        *(f"/console/changes/{each}" for each in range(max(1, seq - 5), seq + 1)),
        *("/console/search?q=gold", "/console/search?q=ban+Ann+7d", "/console/characters?levelfrom=1&sortby=seen"),
        *("/console/roles/viewer", "/console/signals?state=all", "/console/sign-in?ended=unsent", "/console/?done=x"),
        *("/console/activity", "/console/changes?reason=none", f"/console/items/{people.COIN.id}"),
        *("/console/documents/console", "/console/accounts?state=muted", f"/console/accounts/{people.BOB.user_id}"),
    ]
    found: dict[str, str] = {}  # text → a page with it
    pages = 0
    for path in dict.fromkeys(paths):
        if path in {"/console/events", "/"}:
            continue
        english = root.get(path)
        if "text/html" not in english.headers.get("content-type", ""):
            continue
        pages += 1
        german = root.get(path, headers={"accept-language": "de"})
        assert german.status == english.status
        found |= dict.fromkeys(find_untranslated(english.raw.decode(), german.raw.decode()), path)
    for method, path, body in DIALOGS:
        sent = {"method": method, "path": path, **{f"body.{name}": value for name, value in body.items()}}
        english, german = (root.post(ACT, sent, headers) for headers in ({}, {"accept-language": "de"}))
        assert english.status == german.status == 200, path
        found |= dict.fromkeys(find_untranslated(english.raw.decode(), german.raw.decode()), path)
    assert pages > 60
    assert [f"{text} ({path})" for text, path in sorted(found.items())] == []
