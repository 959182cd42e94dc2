"""The language of the console: chosen per request, for pages, refusals, numbers and live data."""

import asyncio
import json
import re
from collections.abc import Generator

import pytest
from keepers import Keeper
from markup import Page

import people
from gamekeeper.console import formats, language_choice, ticks
from gamekeeper.console.server_texts import WORDS, translate_message
from gamekeeper.console.texts import ENGLISH, GERMAN, LANGUAGE, SCRIPT_TEXTS
from gamekeeper.game.approval_refusals import ApprovalDecided
from gamekeeper.game.bulk_refusals import JobEnded
from gamekeeper.game.refusals import OwnAccount
from gamekeeper.game.role_refusals import BuiltinRole
from gamekeeper.game.roles import COMMANDS, describe_own_role
from gamekeeper.store import approvals, bulk_jobs
from loops import over
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
    [
        ("", ENGLISH),
        ("de", GERMAN),
        ("de-AT", GERMAN),
        ("DE-ch", GERMAN),
        ("fr-FR,fr;q=0.9,de;q=0.5", GERMAN),
        ("en-GB,de;q=0.9", ENGLISH),
        ("en;q=0.4, de;q=0.8", GERMAN),
        ("de;q=0", ENGLISH),
        ("de,en", GERMAN),
        ("*", ENGLISH),
        ("german", ENGLISH),
        ("de;q=nine", ENGLISH),
        ("fr," * 20 + "de", ENGLISH),  # only the first elements are read
        ("\x00;;,,;q=,de-", ENGLISH),
    ],
)
def test_language_is_chosen_by_the_browser(accepted: str, language: str) -> None:
    assert language_choice.find_preferred(accepted.encode()) == language


def test_person_chooses_the_language_before_and_after_the_sign_in(root: Keeper, world: World) -> None:
    form = root.page("/console/ranking").form("/console/language", "Deutsch")
    answer = root.post("/console/language", {**form.fields, "language": GERMAN})
    assert (answer.status, answer.headers["location"]) == (303, "/console/ranking")
    name, _, attributes = answer.headers["set-cookie"].partition(";")
    assert name == CHOSEN_GERMAN
    assert {"HttpOnly", "SameSite=Lax", "Path=/console"} <= {each.strip() for each in attributes.split(";")}
    sent = {"cookie": f"gamekeeper={root.cookie}; {name}", "accept-language": "en"}
    page = root.get("/console/ranking", headers=sent)
    assert find_language(page.raw) == GERMAN
    assert Page(page.raw.decode()).form("/console/language", "English")
    visitor = Keeper(world)
    form = Page(visitor.get("/console/sign-in").raw.decode()).form("/console/language", "Deutsch")
    answer = visitor.post("/console/language", {**form.fields, "language": GERMAN}, csrf="")
    assert answer.status == 303
    assert find_language(visitor.get("/console/sign-in", headers={"cookie": CHOSEN_GERMAN}).raw) == GERMAN
    german = root.get("/console/characters", headers=GERMAN_BROWSER)
    assert (find_language(german.raw), german.headers["content-language"]) == (GERMAN, GERMAN)
    assert "Konten" in Page(german.raw.decode()).text
    english = root.get("/console/characters")
    assert (find_language(english.raw), english.headers["content-language"]) == (ENGLISH, ENGLISH)
    assert "Accounts" in Page(english.raw.decode()).text


@over(
    "target, kept",
    [
        ("/console/changes?player=Ann&kind=items_given", "/console/changes?player=Ann&kind=items_given"),
        ("https://evil.example", "/console"),
        ("//evil.example", "/console"),
    ],
)
def test_switch_on_a_failed_sign_in_keeps_the_target(world: World, target: str, kept: str) -> None:
    visitor = Keeper(world)
    failed = visitor.post("/console/sign-in", {"name": "Root", "password": "wrong", "next": target}, csrf="")
    assert failed.status == 400
    form = Page(failed.raw.decode()).form("/console/language", "Deutsch")
    switched = visitor.post("/console/language", {**form.fields, "language": GERMAN}, csrf="")
    page = visitor.get(switched.headers["location"], headers={"cookie": CHOSEN_GERMAN})
    assert find_language(page.raw) == GERMAN
    assert Page(page.raw.decode()).form("/console/sign-in").fields["next"] == kept


@over("language", ["", "fr", "de\r\nset-cookie: a=b"])
def test_unknown_language_is_refused(root: Keeper, language: str) -> None:
    answer = root.post("/console/language", {"language": language, "back": "https://evil.example"})
    assert (answer.status, "set-cookie" in answer.headers) == (400, False)


def test_refusals_are_in_the_language_of_the_page_and_english_in_the_api(world: World, root: Keeper) -> None:
    path = "/console/players/Nemo"
    assert "No player with name 'Nemo'." in Page(root.get(path).raw.decode()).text
    german = root.get(path, headers=GERMAN_BROWSER)
    assert (german.status, german.headers["content-language"]) == (404, GERMAN)
    assert "Kein Spieler" in Page(german.raw.decode()).text
    message = world.get("/api/v1/players/Nemo", headers=GERMAN_BROWSER).json["Message"]
    assert message == "No player with name 'Nemo'."
    sent = {"accept": "application/json", **GERMAN_BROWSER}
    answer = root.get("/console/players/Nemo/version", headers=sent)
    assert answer.json == {"version": "", "text": "Dieser Spieler wurde gelöscht."}
    refused = root.get("/console/suggest/nothing", headers=sent)
    assert refused.status == 404
    assert (
        refused.json["Message"]
        != root.get("/console/suggest/nothing", headers={"accept": sent["accept"]}).json["Message"]
    )


# with a value of the request that would take long to compare with all templates
LONG = f"The field '{'must have ' * 60}' must not be empty."


@over(
    "message, translated",
    [
        ("The field 'Name' must not be empty.", "Feld „Name“: darf nicht leer sein."),
        (
            "must have 2 to 20 characters; letters from A to Z and digits are allowed",
            "muss 2 bis 20 Zeichen haben; erlaubt sind Buchstaben von A bis Z und Ziffern",
        ),
        (
            "The field 'Name' must have 2 to 20 characters; letters from A to Z, digits and hyphens are allowed.",
            "Feld „Name“: muss 2 bis 20 Zeichen haben; erlaubt sind Buchstaben von A bis Z, Ziffern und Bindestriche.",
        ),
        ("This job is finished.", "Dieser Auftrag ist bereits beendet: abgeschlossen."),
        (
            "An account cannot ban itself; use another account, or run: gamekeeper users ban",
            (
                "Ein Konto kann diese Aktion nicht auf sich selbst anwenden: sperren. "
                "Verwenden Sie ein anderes Konto oder führen Sie aus: gamekeeper users ban"
            ),
        ),
        ("No player with name 'ban'.", "Kein Spieler gefunden (Name: „ban“)."),  # a word of the request stays
        ("No user with id 'name'.", "Kein Konto gefunden (ID: „name“)."),
        ("A text that no code has.", "A text that no code has."),
        (LONG, LONG),
        ("", ""),
    ],
)
@pytest.mark.usefixtures("in_german")
def test_message_is_translated_by_its_template(message: str, translated: str) -> None:
    assert translate_message(message) == translated


@pytest.mark.usefixtures("in_german")
def test_acts_and_states_of_refusals_are_translated() -> None:
    made: list[tuple[str, str]] = [
        *((act, OwnAccount(act=act).message.partition(";")[0]) for act in ("ban", "delete", "suspend", "resume")),
        *((act, BuiltinRole(role="x", act=act).message) for act in ("edited", "deleted")),
        *((act, describe_own_role(act, "x").partition(" On the")[0]) for act in COMMANDS),
        *((state, JobEnded(state=state).message) for state in (bulk_jobs.FINISHED, bulk_jobs.CANCELLED)),
        *((state, ApprovalDecided(state=state).message) for state in (approvals.DONE, approvals.DENIED)),
    ]
    words = {**WORDS()["act"], **WORDS()["state"]}
    assert [word for word, message in made if word not in message or words.get(word, word) == word] == []
    assert {word for word, _ in made} == words.keys()


@pytest.mark.usefixtures("in_german")
def test_numbers_and_times_are_german() -> None:
    assert formats.format_number(1_234_567) == "1.234.567"
    assert formats.format_decimal(1234.56) == "1.234,6"
    assert formats.format_signed(-1234) == "-1.234"
    assert formats.format_time("2026-11-18T14:03:05.123Z") == "18.11.2026, 14:03:05 UTC"
    assert formats.format_date("2026-11-18") == "18.11.2026"
    assert formats.lower_noun("Karten") == "Karten"
    assert [ticks.format_short(each) for each in (950, 1200, 6e6, 2e9)] == [
        "950",
        "1,2\u00a0Tsd.",
        "6\u00a0Mio.",
        "2\u00a0Mrd.",
    ]
    assert ticks.label_day(0) == "1. Jan"


def test_texts_are_german_and_not_shared_with_english_viewers(root: Keeper) -> None:
    root.act("POST", f"/api/v1/players/{people.ANN.id}/items/give", {"itemid": people.COIN.id, "quantity": 5})
    for path, english, german in (
        ("/console", "Items given", "Gegenstände gegeben"),
        ("/console/health", "Accepting writes", "Nimmt Schreibvorgänge an"),
    ):
        assert english in root.page(path).text
        shown = Page(root.get(path, headers=GERMAN_BROWSER).raw.decode()).text
        assert german in shown
        assert english not in shown
        assert english in root.page(path).text
    assert 'id="texts"' not in root.page("/console/ranking").html
    html = root.get("/console/ranking", headers=GERMAN_BROWSER).raw.decode()
    found = re.search(r'<script type="application/json" id="texts">(.*?)</script>', html)
    assert found
    assert json.loads(found[1]) == json.loads(str(SCRIPT_TEXTS[GERMAN]))
    assert json.loads(found[1])["%(count)s selected"] == "%(count)s ausgewählt"


def test_language_of_one_task_is_not_that_of_another() -> None:
    async def name_language(language: str, ready: asyncio.Barrier) -> str:
        LANGUAGE.set(language)
        await ready.wait()
        return formats.format_number(1000)

    async def run() -> list[str]:
        ready = asyncio.Barrier(2)
        return list(await asyncio.gather(name_language(ENGLISH, ready), name_language(GERMAN, ready)))

    assert asyncio.run(run()) == ["1,000", "1.000"]
