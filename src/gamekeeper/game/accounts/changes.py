"""Changes of notes, tags and invitations.

Notes and tags belong to the account, also those about a player: game servers do not get them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from gamekeeper.game.core.change import ChangeSide, Codec, SubjectIds
from gamekeeper.game.core.lookup import ZERO_GUID, fold
from gamekeeper.store.accounts import invitations, notes
from gamekeeper.store.accounts.notes import NewNote, Subject
from gamekeeper.store.engine.interface import Writing


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


@dataclass(frozen=True, slots=True)
class InvitationSent:
    """An invitation to the staff. The audit log does not have the address: there is no account to erase it with."""

    invitation: invitations.Invitation
    kind = "invitation_sent"

    def whose(self) -> SubjectIds:
        return None, None

    def sides(self) -> tuple[ChangeSide | None, ChangeSide]:
        return None, _make_invitation_side(self.invitation)

    def carry_out(self, tx: Writing, _: Codec) -> None:
        invitations.insert(tx, self.invitation, fold(self.invitation.email))


@dataclass(frozen=True, slots=True)
class InvitationWithdrawn:
    invitation: invitations.Invitation
    kind = "invitation_withdrawn"

    def whose(self) -> SubjectIds:
        return None, None

    def sides(self) -> tuple[ChangeSide, ChangeSide | None]:
        return _make_invitation_side(self.invitation), None

    def carry_out(self, tx: Writing, _: Codec) -> None:
        invitations.delete(tx, self.invitation.id)


def _make_invitation_side(invitation: invitations.Invitation) -> ChangeSide:
    return ChangeSide(user={"invitation_id": invitation.id, "roles": list(invitation.roles)})
