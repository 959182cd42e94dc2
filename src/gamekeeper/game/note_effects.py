"""Changes of notes and tags. They belong to the account, also those about a player: game servers do not get them."""

from collections.abc import Sequence
from dataclasses import dataclass

from gamekeeper.game.codec import ChangeSide, Codec, SubjectIds
from gamekeeper.game.lookup import ZERO_GUID
from gamekeeper.store import notes
from gamekeeper.store.engine import Writing
from gamekeeper.store.notes import NewNote, Subject


@dataclass(frozen=True, slots=True)
class NoteAdded:
    note: NewNote
    kind = "note_added"

    def whose(self) -> SubjectIds:
        return None, self.note.user_id

    def sides(self) -> tuple[ChangeSide | None, ChangeSide]:
        return None, _make_note_side(self.note)

    def carry_out(self, tx: Writing, _: Codec) -> None:
        notes.insert(tx, self.note)


@dataclass(frozen=True, slots=True)
class NoteDeleted:
    note: NewNote
    kind = "note_deleted"

    def whose(self) -> SubjectIds:
        return None, self.note.user_id

    def sides(self) -> tuple[ChangeSide, ChangeSide | None]:
        return _make_note_side(self.note), None

    def carry_out(self, tx: Writing, _: Codec) -> None:
        notes.delete(tx, self.note.id)


@dataclass(frozen=True, slots=True)
class TagsSet:
    subject: Subject
    before: Sequence[str]
    after: Sequence[str]
    kind = "tags_set"

    def whose(self) -> SubjectIds:
        return None, self.subject.user_id

    def sides(self) -> tuple[ChangeSide, ChangeSide]:
        about = {"PlayerId": self.subject.player_id}
        return ChangeSide(command={**about, "Tags": self.before}), ChangeSide(command={**about, "Tags": self.after})

    def carry_out(self, tx: Writing, _: Codec) -> None:
        notes.save_tags(tx, self.subject.user_id, self.subject.player_id or ZERO_GUID, self.after)


def _make_note_side(note: NewNote) -> ChangeSide:
    return ChangeSide(
        command={"NoteId": note.id, "PlayerId": note.player_id, "Warning": note.warning, "Text": note.text}
    )
