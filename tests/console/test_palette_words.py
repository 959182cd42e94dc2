"""The words of actions in the search box: times, German words, and what is not understood."""

from datetime import UTC, datetime, timedelta
from typing import Any

from keepers import Keeper
from test_palette import NEXT_YEAR, suggest

from gamekeeper.console import typed_times


def test_weekday_is_the_next_one_and_its_first_moment() -> None:
    wednesday = datetime(2026, 11, 18, 22, 5, tzinfo=UTC)
    ends = {"friday": "20", "fri": "20", "tomorrow": "19", "wednesday": "25", "tuesday": "24", "2026-11-19": "19"}
    for said, day in ends.items():
        typed = typed_times.parse_time(f"until {said}", wednesday)
        assert typed is not None, said
        assert typed.body == {"until": f"2026-11-{day}T00:00:00.000Z"}, said
    for said in ("2026-11-18", "2026-13-01", "20.11", "11/12/2026", "9999-01-01", "noon"):
        assert typed_times.parse_time(f"until {said}", wednesday) is None, said
    for said in ("friday", "2026-11-20", "0 days", "1.5h", "1h30m", "-1 day", "999999 days", "7 fortnights", "5"):
        assert typed_times.parse_time(said, wednesday) is None, said


def test_what_is_not_understood_is_refused_with_the_words_that_are(shared_root: Keeper) -> None:
    time, item = "Times: 30 minutes (30m), 2 hours (2h)", "the item and the player, and nothing else"
    refused = {
        "mute Bob 1 fortnight": ("“1 fortnight” is not understood.", time),
        "mute Bob 1,5h": ("“1,5h” is not understood.", time),
        "mute Bob -1h": ("“-1h” is not understood.", time),
        "mute Bob 7": ("“7” is not understood.", time),
        "ban Bob until 2020-01-01": ("“until 2020-01-01” is not understood.", time),
        "ban Bob 0d": ("“0d” is not understood.", time),
        "ban Bob friday": ("“friday” is not understood.", time),
        "ban Nobodyhere 7d": ("No player or account is called “Nobodyhere”.", time),
        "kick Bob 5m": ("“5m” is not understood.", "only a name"),
        "unban Bob tomorrow": ("“tomorrow” is not understood.", "only a name"),
        "give Bob 1 sword slot 18": ("“slot 18” is not understood.", item),
        "give 1 sword slot 18 to Bob": ("“slot 18” is not understood.", item),
        "give 1,000 gold coin to Bob": ("No item is called “1,000 gold coin”.", item),
        "give 5 gold coin to Bob 7d": ("“7d” is not understood.", item),
        "give 5 gold coin to Nobodyhere": ("No player is called “Nobodyhere”.", item),
        "give 0 arrow to Bob": ("“0 arrow to Bob” is not understood.", item),
        "give arrow": ("“arrow” is not understood.", item),
        "take 5 gold coin to Bob": ("“5 gold coin to Bob” is not understood.", item),
    }
    for text, (name, detail) in refused.items():
        found = suggest(shared_root, text)
        assert "Actions" not in found, text
        [note] = found["Not understood"]
        assert (note["name"], note["href"], "form" in note) == (name, "", False), text
        assert detail in note["detail"], text
    page = shared_root.page("/console/search?q=mute+Bob+1+fortnight")
    assert "“1 fortnight” is not understood." in page.text
    assert "Mute Bob" not in page.text


def test_german_words_are_understood_in_german(shared_root: Keeper) -> None:
    def suggest_german(text: str) -> dict[str, list[dict[str, Any]]]:
        return suggest(shared_root, text, "de")

    said = {
        "sperre Bob 2 Stunden": ("Bob für 2 Stunden sperren", {"body.minutes": "120"}),
        "sperren Bob für 3 Tage": ("Bob für 3 Tage sperren", {"body.duration": "3"}),
        "stummschalten Bob 30 Minuten": ("Bob für 30 Minuten stummschalten", {"body.minutes": "30"}),
        "sperre Bob für immer": ("Bob dauerhaft sperren", {"body.duration": "0"}),
        "sperre Bob 1 Monat": ("Bob für 30 Tage sperren", {"body.duration": "30"}),
        f"sperre Bob bis 20.11.{NEXT_YEAR}": (
            f"Bob bis 20.11.{NEXT_YEAR}, 00:00:00 UTC sperren",
            {"body.until": f"{NEXT_YEAR}-11-20T00:00:00.000Z"},
        ),
        "ban Bob 1h": ("Bob für 1 Stunde sperren", {"body.minutes": "60"}),
    }
    for text, (label, body) in said.items():
        found = suggest_german(text)["Aktionen"][0]
        assert found["name"] == label
        assert {name: value for name, value in found["form"].items() if name.startswith("body.")} == body
    for text in ("gib Bob 5 gold coin", "gib 5 gold coin an Bob"):
        assert suggest_german(text)["Aktionen"][0]["form"]["body.quantity"] == "5"
    assert suggest_german("nimm 2 arrow von Bob")["Aktionen"][0]["form"]["path"].endswith("/items/take")
    assert suggest_german("entsperre Bob")["Aktionen"][0]["form"]["path"].endswith("/admin/unban")
    tomorrow = (datetime.now(UTC) + timedelta(days=1)).strftime("%Y-%m-%d")
    until = suggest_german("sperre Bob bis morgen")["Aktionen"][0]["form"]["body.until"]
    assert until[:10] in {tomorrow, (datetime.now(UTC) + timedelta(days=1)).strftime("%Y-%m-%d")}
    [note] = suggest_german("sperre Bob 1 Mondphase")["Nicht verstanden"]
    assert "1 Mondphase" in note["name"]
