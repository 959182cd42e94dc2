"""The language of the console: chosen per request, for pages, refusals, numbers and live data."""

import re
from collections.abc import Generator

import pytest

from gamekeeper.console.frame import texts
from gamekeeper.console.frame.texts import ENGLISH, GERMAN, LANGUAGE, translate_message
from keepers import Keeper
from loops import over
from markup import Page
from world import World

GERMAN_BROWSER = {"accept-language": "de-AT,de;q=0.9,en;q=0.8"}
CHOSEN_GERMAN = "gamekeeper-language=de"


@pytest.fixture
def in_german() -> Generator[None]:
    """Translate into German, for tests of functions without a request."""
    before = LANGUAGE.set(GERMAN)
    yield
    LANGUAGE.reset(before)


def find_language(page: bytes) -> str:
    found = re.search(rb'<html lang="(\w+)">', page)
    assert found
    return found[1].decode()


@over(
    "accepted, language",
    ("", ENGLISH),
    ("DE-ch", GERMAN),
    ("fr-FR,fr;q=0.9,de;q=0.5", GERMAN),
    ("en;q=0.4, de;q=0.8", GERMAN),
    ("de;q=0", ENGLISH),
    ("german", ENGLISH),
    ("de;q=nine", ENGLISH),
    ("fr," * 20 + "de", ENGLISH),  # only the first elements are read
    ("\x00;;,,;q=,de-", ENGLISH),
)
def test_language_is_chosen_by_the_browser(accepted: str, language: str) -> None:
    assert texts.find_preferred_language(accepted.encode()) == language


def test_person_chooses_the_language_before_and_after_the_sign_in(root: Keeper, world: World) -> None:
    form = root.page("/console/ranking").form("/console/language", "Deutsch")
    answer = root.post("/console/language", {**form.fields, "language": GERMAN})
    assert (answer.status, answer.headers["location"]) == (303, "/console/ranking")
    name, _, attributes = answer.headers["set-cookie"].partition(";")
    assert name == CHOSEN_GERMAN
    assert {"HttpOnly", "SameSite=Lax", "Path=/console"} <= {each.strip() for each in attributes.split(";")}
    sent = {"cookie": f"gamekeeper={root.cookie}; {name}", "accept-language": "en"}
    assert find_language(root.get("/console/ranking", headers=sent).raw) == GERMAN
    visitor = Keeper(world)
    form = Page(visitor.get("/console/sign-in").raw.decode()).form("/console/language", "Deutsch")
    assert visitor.post("/console/language", {**form.fields, "language": GERMAN}, csrf="").status == 303
    assert find_language(visitor.get("/console/sign-in", headers={"cookie": CHOSEN_GERMAN}).raw) == GERMAN
    german = root.get("/console/characters", headers=GERMAN_BROWSER)
    assert (find_language(german.raw), german.headers["content-language"]) == (GERMAN, GERMAN)


@over("language", "", "fr", "de\r\nset-cookie: a=b")
def test_unknown_language_is_refused(root: Keeper, language: str) -> None:
    answer = root.post("/console/language", {"language": language, "back": "https://evil.example"})
    assert (answer.status, "set-cookie" in answer.headers) == (400, False)


def test_refusals_are_in_the_language_of_the_page_and_english_in_the_api(world: World, root: Keeper) -> None:
    path = "/console/players/Nemo"
    german = root.get(path, headers=GERMAN_BROWSER)
    assert (german.status, german.headers["content-language"]) == (404, GERMAN)
    assert "Kein Spieler" in Page(german.raw.decode()).text
    assert "No player with name 'Nemo'." in Page(root.get(path).raw.decode()).text
    message = world.get("/api/v1/players/Nemo", headers=GERMAN_BROWSER).json["Message"]
    assert message == "No player with name 'Nemo'."


# with a value of the request that would take long to compare with all templates
LONG = f"The field '{'must have ' * 60}' must not be empty."


@over(
    "message, translated",
    ("The field 'Name' must not be empty.", "Feld „Name“: darf nicht leer sein."),
    ("This job is finished.", "Dieser Auftrag ist bereits beendet: abgeschlossen."),
    ("No player with name 'ban'.", "Kein Spieler gefunden (Name: „ban“)."),  # a word of the request stays
    ("A text that no code has.", "A text that no code has."),
    (LONG, LONG),
    ("", ""),
)
@pytest.mark.usefixtures("in_german")
def test_message_is_translated_by_its_template(message: str, translated: str) -> None:
    assert translate_message(message) == translated


def test_cached_texts_are_not_shared_with_viewers_of_another_language(root: Keeper) -> None:
    english, german = "Accepting writes", "Nimmt Schreibvorgänge an"
    for headers, shown, hidden in (({}, english, german), (GERMAN_BROWSER, german, english), ({}, english, german)):
        text = Page(root.get("/console/health", headers=headers).raw.decode()).text
        assert (shown in text, hidden in text) == (True, False)
