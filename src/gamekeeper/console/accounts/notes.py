"""Notes, warnings and tags on the pages of players and accounts, and the page that lists and searches them."""

from typing import NamedTuple

from gamekeeper.console.frame import list_page, pages
from gamekeeper.console.frame.menu import NOTES, SUPPORT
from gamekeeper.console.frame.routes import Dialog, PagePart, ShownSubject, page_route
from gamekeeper.game.accounts import notes
from gamekeeper.game.audit.history import Pause
from gamekeeper.game.core import lookup
from gamekeeper.http.accounts.account_shapes import NotesQuery
from gamekeeper.http.server import queries, query_values
from gamekeeper.http.server.query_values import MailCursor
from gamekeeper.http.server.request import Request
from gamekeeper.http.server.response import Response
from gamekeeper.store.accounts import notes as rows
from gamekeeper.store.accounts.notes import Note, Subject, Tagged
from gamekeeper.store.engine.interface import Reading

PATH = "/console/notes"
SHOWN = 50  # notes on a page
MOST_WARNINGS = 3  # in a header


class ShownNotes(NamedTuple):
    """What a page shows about an account: its notes and those of its players, and the tags of one of them."""

    notes: list[Note]
    tags: list[str]
    account_tags: list[str]
    has_more: bool

    @property
    def warnings(self) -> list[Note]:
        return [each for each in self.notes if each.warning][:MOST_WARNINGS]


async def _load_shown(tx: Reading, request: Request, subject: ShownSubject) -> ShownNotes | None:
    """Load the newest notes about an account; None: the viewer may not read notes, or the account is erased."""
    player_id, user_id = subject.subjects
    if user_id is None or not request.caller.permissions >= NOTES:
        return None
    page = await notes.load_page(tx, query_values.START, SHOWN, Subject(user_id))
    account_tags = await rows.read_tags(tx, user_id, lookup.ZERO_GUID)
    tags = await rows.read_tags(tx, user_id, player_id) if player_id else account_tags
    return ShownNotes(page.notes, tags, account_tags, page.next is not None)


async def show(request: Request) -> Response:
    """List notes, newest first, or those that contain a text; with a tag, who has it."""
    tag, text = request.query.get("tag", "").strip(), request.query.get("text", "").strip()
    query = queries.decode(NotesQuery, {"before": request.query.get("before", ""), "text": text})

    async def read(tx: Reading, rest: Pause) -> tuple[notes.NotePage, list[Tagged]]:
        found = await notes.load_tagged(tx, tag, notes.FIRST, SHOWN) if tag else []
        return await notes.load_page(tx, query.before, SHOWN, None, text, rest), found

    page, tagged = await request.read_in_pieces(read, long=bool(text))
    older = list_page.build_address(PATH, {"text": text}, before=str(MailCursor(*page.next))) if page.next else ""
    return pages.render(
        request,
        "accounts/notes.html",
        notes=[] if tag else page.notes,
        tagged=tagged,
        tag=tag,
        text=text,
        older="" if tag else older,
        zero=lookup.ZERO_GUID,
    )


PAGE_PARTS = (PagePart("notes", _load_shown),)
DIALOGS = (
    Dialog("add_note", "Add a note about %(name)s"),
    Dialog("delete_note", "Delete the note about %(name)s"),
    Dialog("set_tags", "Set the tags of %(name)s"),
)
PAGES = (
    page_route("/notes", show, NOTES)
    .in_menu("Notes", SUPPORT, 20, "notes")
    .with_help("What the staff has written about players and accounts. Search it by text, or find who has a tag."),
)
