"""Notes, warnings and tags of staff about accounts and players."""

from typing import Any

import pytest

import staff
from expectations import refused
from findings import findings
from gamekeeper.game.accounts import notes
from gamekeeper.http.server.admission import Gate
from keepers import open_session
from people import ANN, BOB, NOBODY_ID, USER_IDS, ZOE
from world import Answer, World

NOTES, TAGS = "/api/keeper/v1/notes", "/api/keeper/v1/tags"


def add(world: World, text: str = "Polite.", **more: Any) -> Answer:
    return world.post(NOTES, {"Text": text, "Player": "Ann", **more} if "User" not in more else {"Text": text, **more})


def list_texts(world: World, query: str = "") -> list[str]:
    return [each["Text"] for each in world.get(f"{NOTES}{query}").json["Notes"]]


def test_note_about_a_player_is_listed_for_it_and_its_account(world: World) -> None:
    made = add(world, "Asked twice.", Warning=True).json
    shown = (made["UserId"], made["PlayerId"], made["Author"], made["Warning"])
    assert shown == (USER_IDS["Ann"], ANN.id, "Root", True)
    world.wait_for_next_millisecond()
    add(world, "Pays late.", User="Ann")
    world.wait_for_next_millisecond()
    add(world, "Elsewhere.", Player="Bob")
    assert list_texts(world, "?player=Ann") == ["Asked twice."]
    assert list_texts(world, "?user=Ann") == ["Pays late.", "Asked twice."]
    assert list_texts(world) == ["Elsewhere.", "Pays late.", "Asked twice."]
    found = world.get(f"{NOTES}?user=Ann").json["Notes"]
    assert [(each["User"], each["Player"]) for each in found] == [("Ann", None), ("Ann", "Ann")]


def test_notes_are_searched_by_text_and_paged(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(6):
        add(world, f"Note {number}{' REFUND' if number % 2 else ''}")
        # two notes of one millisecond have no order
        world.sql("UPDATE notes SET at = $1 WHERE text LIKE $2", number + 1, f"Note {number}%")
    assert list_texts(world, "?text=refund") == ["Note 5 REFUND", "Note 3 REFUND", "Note 1 REFUND"]
    page = world.get(f"{NOTES}?limit=4").json
    assert len(page["Notes"]) == 4
    assert list_texts(world, f"?limit=4&before={page['Next']}") == ["Note 1 REFUND", "Note 0"]
    monkeypatch.setattr(notes, "MAX_SEARCHED", 2)  # a search reads two notes, and says where it stopped
    first = world.get(f"{NOTES}?text=note 0").json
    assert (first["Notes"], first["Next"] is None) == ([], False)


def test_note_is_deleted_and_both_are_in_the_audit_log_but_not_in_the_feed(world: World) -> None:
    cursor = world.get("/api/link/v1/changes?after=now", by="Server").json["Next"]
    note = add(world).json["Id"]
    assert world.call("DELETE", f"{NOTES}/{note}").status == 200
    refused(world.call("DELETE", f"{NOTES}/{note}"), 404, "no_such_note")
    assert [each.kind for each in world.ledger()[-2:]] == ["note_added", "note_deleted"]
    assert [each.user_id for each in world.ledger()[-2:]] == [USER_IDS["Ann"]] * 2
    told = world.get(f"/api/link/v1/changes?own=true&after={cursor}", by="Server").json["Changes"]
    assert told == []


def test_tags_are_short_words_that_find_players(world: World) -> None:
    assert world.post(TAGS, {"Tags": ["Streamer", "  two   words "], "Player": "Ann"}).json == {
        "Tags": ["streamer", "two words"]
    }
    world.post(TAGS, {"Tags": ["streamer"], "User": "Bob"})
    found = world.get(f"{TAGS}/STREAMER").json["Tagged"]
    assert [(each["User"], each["Player"]) for each in found] == [("Ann", "Ann"), ("Bob", None)]
    assert world.get(f"{NOTES}?player=Ann").json["Tags"] == ["streamer", "two words"]
    assert world.get(f"{NOTES}?user=Ann").json["Tags"] == []
    with world.nothing_recorded():
        world.post(TAGS, {"Tags": ["two words", "streamer"], "Player": "Ann"})
    world.post(TAGS, {"Tags": [], "Player": "Ann"})
    assert world.get(f"{NOTES}?player=Ann").json["Tags"] == []
    for wrong in (["x" * 31], [""], ["a,b"], [f"t{number}" for number in range(21)]):
        refused(world.post(TAGS, {"Tags": wrong, "Player": "Ann"}), 400, "bad_field")


def test_notes_go_with_an_erased_account_and_outlive_a_deleted_player(world: World) -> None:
    add(world, "secret words", Player="Zoe")
    world.sql("UPDATE players SET user_id = $1 WHERE id = $2 RETURNING id", USER_IDS["Bob"], ZOE.id)
    assert world.call("DELETE", "/api/v1/users/Bob").status == 200
    assert list_texts(world) == []
    token = staff.add_account(world, "Guard", "moderator")
    assert world.post(NOTES, {"Text": "Rude.", "Player": "Ann"}, token=token).status == 200
    assert world.get(NOTES).json["Notes"][0]["Author"] == "Guard"
    assert world.call("DELETE", "/api/v1/users/Guard").status == 200
    assert world.get(NOTES).json["Notes"][0]["Author"] is None
    world.sql("DELETE FROM notes")
    add(world, "secret words")
    world.post(TAGS, {"Tags": ["secret tag"], "Player": "Ann"})
    assert world.call("DELETE", "/api/v1/players/Ann").status == 200
    assert list_texts(world, "?user=Ann") == ["secret words"]
    assert world.call("DELETE", "/api/v1/users/Ann").status == 200
    assert list_texts(world) == []
    assert world.sql("SELECT count(*) FROM tags") == [(0,)]
    told = world.get("/api/keeper/v1/changes?limit=50").raw
    assert b"secret" not in told


def test_audit_log_has_contents_of_notes_only_with_their_permission(world: World) -> None:
    note = add(world, "Sells accounts.").json["Id"]
    world.post(TAGS, {"Player": "Ann", "Tags": ["streamer"]})
    world.call("DELETE", f"{NOTES}/{note}")
    for name, permissions in (("Reader", ["notes.write"]), ("Auditor", [])):
        role = staff.save_role(world, name.lower(), ["audit.read", "users.query", *permissions])
        token = staff.add_account(world, name, role)
        for form in ("json", "csv"):
            answer = world.get(f"/api/keeper/v1/changes?format={form}", token=token).raw
            assert (b"Sells accounts." in answer) == (b"streamer" in answer) == bool(permissions), name
            for kind in (b"note_added", b"note_deleted", b"tags_set"):
                assert kind in answer, kind


@pytest.mark.both_engines
def test_doctor_finds_tags_that_differ_from_the_audit_log(world: World) -> None:
    def set_tags(*tags: str, **of: str) -> None:
        assert world.post(TAGS, {"Tags": tags, **of}).status == 200

    def find_wrong() -> list[str]:
        return sorted(each.message.partition(". ")[0] for each in findings(world) if each.check == "tags")

    for name in ("Ann", "Zoe"):
        set_tags("old", Player=name)
        set_tags("streamer", "two words", Player=name)
    set_tags("refunds", User="Ann")
    set_tags(Player="Zoe")
    # an erased player with another owner takes its tags along, although the audit log entries are of the first one
    set_tags("moved", Player="Bob")
    world.sql("UPDATE players SET user_id = $1 WHERE id = $2", USER_IDS["Clerk"], BOB.id)
    assert world.call("DELETE", "/api/v1/users/Clerk").status == 200
    assert find_wrong() == []
    world.sql("DELETE FROM tags WHERE tag = 'two words'")
    world.sql("INSERT INTO tags VALUES ($1, $2, 'extra')", USER_IDS["Bob"], NOBODY_ID)
    assert find_wrong() == [
        f"The tags of player {ANN.id} of account {USER_IDS['Ann']} differ from the audit log",
        f"The tags of player {NOBODY_ID} of account {USER_IDS['Bob']} differ from the audit log",
    ]


def test_searches_and_long_pages_are_read_in_pieces_through_the_gate(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A search of 2,000 notes on six connections delayed the look-ups of others by 270 ms."""
    calls, run = list[bool](), Gate.run

    def run_and_note(self: Gate, *given: Any, long: bool = False) -> object:
        calls.append(long)
        return run(self, *given, long=long)

    root = open_session(world, "Root")
    for number in range(5):
        add(world, f"Note {number}")
    monkeypatch.setattr(Gate, "run", run_and_note)
    monkeypatch.setattr(notes, "PIECE_ROWS", 2)
    assert len(list_texts(world, "?text=note&limit=3")) == 3
    assert len(list_texts(world, "?limit=3")) == 3
    assert len(world.get("/api/keeper/v1/security?limit=1000").json["Events"]) > 0
    assert calls == [True] * 3
    assert root.post("/console/suggest", {"q": "note 4"}, headers={"accept": "application/json"}).status == 200
    assert root.get("/console/notes?text=note").status == 200
    assert calls[3:] == [False, True, True]  # the search box looks for other things first
