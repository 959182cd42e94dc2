"""Notes, warnings and tags in the console: on the pages of players and accounts, and the list of all notes."""

from keepers import Keeper, open_session
from markup import Page
from test_player import find_form, list_paths, submit

import people
import staff
from gamekeeper.store import users
from world import World

NOTES, TAGS, LIST = "/api/keeper/v1/notes", "/api/keeper/v1/tags", "/console/notes"
ANN, ACCOUNT = f"/console/players/{people.ANN.id}", f"/console/accounts/{people.USER_IDS['Ann']}"
TAB = f"{ANN}?tab=notes"


def sign_in(world: World, role: str) -> Keeper:
    staff.add_account(world, "Staff", role)
    user = world.run(users.find_by_fold(world.keeper.store, "staff"))
    assert user
    return open_session(world, user.name, user.id)


def test_note_is_written_shown_and_deleted(root: Keeper, world: World) -> None:
    assert "No notes yet." in root.page(TAB).text
    answer = submit(root, find_form(root.page(TAB), NOTES), Text="Asked <b>twice</b>.")
    assert answer.headers["location"].startswith(f"{TAB}&done=")
    page = root.page(TAB)
    for seen in ("by Root", "about Ann", "Asked <b>twice</b>."):
        assert seen in page.text, seen
    assert "Asked" not in root.page(ANN).text  # it is no warning
    [form] = [each for each in page.forms if each.fields.get("method") == "DELETE" and NOTES in each.fields["path"]]
    shown = root.post("/console/act", form.fields)
    assert "Delete the note about Ann" in Page(shown.raw.decode()).text
    assert root.confirm(shown, "obsolete").status == 303
    assert world.get(NOTES).json["Notes"] == []


def test_preview_shows_the_text_of_a_note_and_the_tags(root: Keeper) -> None:
    note, tags = find_form(root.page(TAB), NOTES).fields, find_form(root.page(TAB), TAGS).fields
    shown = Page(root.post("/console/act", {**note, "body.Text": "Asked twice."}).raw.decode()).text
    assert "Note — Asked twice." in shown
    assert "Noteid" not in shown
    shown = Page(root.post("/console/act", {**tags, "body.Tags[]": "streamer"}).raw.decode()).text
    assert "Tags — streamer" in shown


def test_warning_is_at_the_top_of_the_player_and_the_account(root: Keeper) -> None:
    form = find_form(root.page(TAB), NOTES)
    form.fields["body.flag.Warning"] = "true"
    submit(root, form, Text="Sells accounts.")
    for path in (ANN, f"{ANN}?tab=history", ACCOUNT, f"/console/players/{people.ZOE.id}"):
        assert "Warning : Sells accounts." in root.page(path).text, path


def test_note_about_an_account_is_written_on_its_page(root: Keeper, world: World) -> None:
    submit(root, find_form(root.page(ACCOUNT), NOTES), Text="Pays late.")
    assert world.get(NOTES).json["Notes"][0]["PlayerId"] is None
    assert "Pays late." in root.page(ACCOUNT).text
    assert "Pays late." in root.page(TAB).text


def test_tags_are_set_removed_and_searched(root: Keeper, world: World) -> None:
    form = find_form(root.page(TAB), TAGS)
    form.fields["body.Tags[]"] = "Streamer"
    submit(root, form)
    page = root.page(ANN)
    assert page.links["streamer"] == f"{LIST}?tag=streamer"
    assert page.links["streamer"] in {each["href"] for tag, each in page.tags if tag == "a" and "href" in each}
    assert root.page(f"{LIST}?tag=streamer").links["Ann"] in {ANN, ACCOUNT}
    form = find_form(root.page(TAB), TAGS)
    form.fields["body.Tags[streamer]"] = ""
    submit(root, form)
    assert world.get(f"{NOTES}?player=Ann").json["Tags"] == []
    assert "No player and no account has this tag." in root.page(f"{LIST}?tag=streamer").text


def test_all_notes_are_listed_searched_and_paged(root: Keeper, world: World) -> None:
    for number in range(52):
        world.post(NOTES, {"Text": f"Note {number} {'refund' if number == 3 else ''}", "Player": "Ann"})
    page = root.page(LIST)
    assert "Note 51" in page.text
    assert "Note 1 " not in page.text
    assert "Note 1 " in root.page(page.links["Older notes"]).text
    found = root.page(f"{LIST}?text=REFUND").text
    assert "Note 3 refund" in found
    assert "Note 4" not in found


def test_notes_need_their_permission(world: World) -> None:
    world.post(NOTES, {"Text": "Internal.", "Player": "Ann", "Warning": True})
    viewer = sign_in(world, "viewer")
    for path in (ANN, TAB):
        assert "Internal." not in viewer.page(path).text
    assert "Warning : Internal." not in viewer.page(ACCOUNT).text  # the audit log has it
    assert "Notes" not in viewer.page(ANN).links
    assert viewer.get(LIST).status == 403


def test_moderator_writes_notes(world: World) -> None:
    moderator = sign_in(world, "moderator")
    assert {NOTES, TAGS} <= list_paths(moderator.page(TAB))
    assert moderator.get(LIST).status == 200
