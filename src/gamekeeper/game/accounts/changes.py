"""Changes of accounts: loads, names, deletion, bans, mutes, mails, notes, tags and invitations.

Notes and tags belong to the account, also those about a player: game servers do not get them.
`game/access/changes.py` has the changes of permissions, passwords and second factors.
"""

from collections.abc import Collection, Mapping, Sequence

from msgspec import Struct

from gamekeeper.game.access import changes
from gamekeeper.game.access.changes import UserChange
from gamekeeper.game.core.change import ACCOUNTS, GLOBAL, Change, ChangeSide, Codec, Command, Kind, SubjectIds
from gamekeeper.game.core.lookup import fold
from gamekeeper.store.access import credentials, tokens
from gamekeeper.store.accounts import erasures, invitations, mails, moderation, notes, users
from gamekeeper.store.accounts.notes import Note, Subject
from gamekeeper.store.audit import approvals, bulk_jobs
from gamekeeper.store.engine.interface import Writing
from gamekeeper.store.engine.statements import as_column
from gamekeeper.store.insight import signals


class UsersLoaded(Change, Struct, frozen=True):
    """A bulk load of accounts that keep their creation times. The whole batch is one entry of the audit log."""

    accounts: Sequence[users.User]
    taken_name_ids: Collection[str] = ()  # accounts whose name another account already has
    bad_email_ids: Collection[str] = ()  # accounts whose email is invalid, or belongs to another account
    bans: Sequence[moderation.ImposedPenalty] = ()
    mutes: Sequence[moderation.ImposedPenalty] = ()
    kind = Kind("users_loaded", "Accounts imported", GLOBAL, 7).name

    def sides(self) -> tuple[ChangeSide | None, ChangeSide]:
        counts = {"users": len(self.accounts), "bans": len(self.bans), "mutes": len(self.mutes)}
        return None, ChangeSide(catalogue={name: count for name, count in counts.items() if count})

    def carry_out(self, tx: Writing, _: Codec) -> None:
        tx.load(users.SQL.load, [(*self._make_columns(user).values(), user.created_at) for user in self.accounts])
        tx.load(moderation.SQL.load_bans, self.bans)
        tx.load(moderation.SQL.load_mutes, self.mutes)

    def _make_columns(self, user: users.User) -> dict[str, str | bool]:
        return changes.make_user_columns(
            user, clashes=user.id in self.taken_name_ids, unaddressed=user.id in self.bad_email_ids
        )


class UserRenamed(UserChange, frozen=True):
    name: str
    kind = Kind("user_renamed", "Account renamed", ACCOUNTS, 2, needs={"users.manage"}, by_undo=True).name
    command_line = "users rename {name} NEW"  # another account could take the name

    def sides(self) -> tuple[ChangeSide, ChangeSide]:
        return ChangeSide(user={"name": self.user.name}), ChangeSide(user={"name": self.name})

    def carry_out(self, tx: Writing, _: Codec) -> None:
        tx.defer(users.SQL.set_name, self.user.id, self.name, fold(self.name))


class UserDeleted(UserChange, frozen=True):
    """The deletion of an account. Its audit log entry has only the id; each player is deleted by its own change before.

    Earlier changes and stored answers are masked at once, and blanked later by a background job (`erasures.py`).
    """

    upto: int  # number of the last change before the deletion of the account
    players: Sequence[str]  # ids of the account's present and former players
    api_keys: Sequence[str] = ()  # ids of the account's API keys: answers to their requests are blanked too
    names: Sequence[str] = ()  # names that the account had, and those of its players, as SQL spells them in lower case
    kind = Kind(
        "user_deleted", "Account erased", ACCOUNTS, 3, why_not="the data of an erased account is not stored"
    ).name
    held_by = "people.erase"

    def sides(self) -> tuple[ChangeSide | None, ChangeSide | None]:
        return None, None

    def carry_out(self, tx: Writing, codec: Codec) -> None:
        erasures.insert(
            tx, [self.user.id, *self.players, *self.api_keys], self.user.id, self.upto, codec.list_personal_fields()
        )
        moderation.blank_moderator(tx, self.user.id, self.names)
        erasures.blank_names(tx, self.names, self.user.id)
        tx.defer(credentials.SQL.delete_guesses_of_account, self.user.id)
        invitations.delete_of_email(tx, fold(self.user.email))
        approvals.erase(tx, self.players, self.user.id)
        tx.defer(notes.SQL.erase_notes, as_column("id", self.players))
        tx.defer(notes.SQL.erase_tags, as_column("id", self.players))
        signals.erase(tx, self.players, [self.user.id, *self.api_keys])
        bulk_jobs.erase(tx, self.players, self.user.id)
        tx.defer(users.SQL.delete, self.user.id)


class EmailChanged(UserChange, frozen=True):
    email: str
    is_proven: bool = False  # the owner proved the account with its password
    kind = Kind("email_changed", "Email changed", ACCOUNTS, 4, needs={"users.manage"}, by_undo=True).name
    command_line = "users email {name} ADDRESS"

    def sides(self) -> tuple[ChangeSide, ChangeSide]:
        return ChangeSide(user={"email": self.user.email}), ChangeSide(user={"email": self.email})

    def carry_out(self, tx: Writing, _: Codec) -> None:
        tx.defer(users.SQL.set_email, self.user.id, self.email, fold(self.email))
        credentials.delete_reset(tx, self.user.id)


class PenaltyImposed(UserChange, frozen=True):
    """A ban or a mute of an account."""

    penalty: moderation.Penalty
    of = ""  # field of the account that has the reason of the penalty

    def sides(self) -> tuple[ChangeSide, ChangeSide]:
        before = {self.of: getattr(self.user, self.of)}
        return ChangeSide(user=before), ChangeSide(user=list_penalty_fields(self.of, self.penalty))


class PenaltyLifted(UserChange, frozen=True):
    """The end of a ban or a mute."""

    lifted: moderation.Penalty
    details: Mapping[str, object]
    of = ""  # field of the account that had the reason of the penalty

    def sides(self) -> tuple[ChangeSide, ChangeSide]:
        after = {self.of: None, **self.details}
        return ChangeSide(user=list_penalty_fields(self.of, self.lifted)), ChangeSide(user=after)


class UserBanned(PenaltyImposed, frozen=True):
    """A ban of an account. It revokes the account's tokens and sessions."""

    kind = Kind(
        "user_banned",
        "Account banned",
        ACCOUNTS,
        13,
        needs={"moderation.ban"},
        reaction="ends the session, and rejects further log-ins of the account",
        by_undo=True,
        is_sanction=True,
    ).name
    of = "ban_reason"
    ends_access = "ban"
    held_by = "moderation.ban"

    def carry_out(self, tx: Writing, _: Codec) -> None:
        tx.defer(moderation.SQL.save_ban, self.user.id, *self.penalty)
        tokens.revoke_all_of_user(tx, self.user.id)


class UserMuted(PenaltyImposed, frozen=True):
    kind = Kind(
        "user_muted",
        "Account muted",
        ACCOUNTS,
        15,
        needs={"moderation.mute"},
        reaction="stops the player's chat",
        by_undo=True,
        is_sanction=True,
    ).name
    of = "mute_reason"
    held_by = "moderation.mute"

    def carry_out(self, tx: Writing, _: Codec) -> None:
        tx.defer(moderation.SQL.save_mute, self.user.id, *self.penalty)


class UserUnbanned(PenaltyLifted, frozen=True):
    kind = Kind(
        "user_unbanned", "Ban ended", ACCOUNTS, 14, needs={"moderation.ban"}, by_undo=True, is_sanction=True
    ).name
    of = "ban_reason"
    held_by = "moderation.ban"
    command_line = "users unban {name}"

    def carry_out(self, tx: Writing, _: Codec) -> None:
        tx.defer(moderation.SQL.lift_ban, self.user.id)


class UserUnmuted(PenaltyLifted, frozen=True):
    kind = Kind(
        "user_unmuted",
        "Mute ended",
        ACCOUNTS,
        16,
        needs={"moderation.mute"},
        reaction="allows the player's chat again",
        by_undo=True,
        is_sanction=True,
    ).name
    of = "mute_reason"
    held_by = "moderation.mute"

    def carry_out(self, tx: Writing, _: Codec) -> None:
        tx.defer(moderation.SQL.lift_mute, self.user.id)


Kind(
    "user_kicked",
    "Player kicked",
    ACCOUNTS,
    17,
    why_not="the player may have come back since",
    reaction="ends the player's session",
    is_sanction=True,
)


class GameNotified(UserChange, Command, frozen=True):
    """A notice for the game about the account of an online player. It changes no data: the game reads the log entry."""

    kind: str  # kind of notice for the game: user_kicked, user_banned, user_muted, user_unmuted
    player_id: str
    details: Mapping[str, object]
    servers: Sequence[str]  # the game server that has the player
    life_ms = None  # told until the game server has applied it

    def whose(self) -> SubjectIds:
        return self.player_id, self.user.id

    def sides(self) -> tuple[ChangeSide | None, ChangeSide]:
        return None, ChangeSide(user=self.details)


class MailRetried(Change, Struct, frozen=True):
    mail: mails.OutboxMail  # the mail before the change
    at: int  # time of the mail's next attempt, in milliseconds since 1970
    kind = Kind(
        "mail_retried",
        "Mail queued again",
        ACCOUNTS,
        7,
        why_not="the mail may have been sent; its code expires by itself",
    ).name

    def whose(self) -> SubjectIds:
        return None, self.mail.user_id

    def sides(self) -> tuple[ChangeSide, ChangeSide]:
        return self._make_side(self.mail.state, self.mail.next_try_at), self._make_side("queued", self.at)

    def carry_out(self, tx: Writing, _: Codec) -> None:
        tx.defer(mails.SQL.retry, self.mail.id, self.at)

    def _make_side(self, state: str, due: int | None) -> ChangeSide:
        return ChangeSide(user={"mail_id": self.mail.id, "mail_state": state, "next_try_at": due})


def list_penalty_fields(of: str, given: moderation.Penalty) -> dict[str, object]:
    return {of: given.reason, "moderator": given.moderator, "ends_at": given.ends_at}


class NoteAdded(Change, Struct, frozen=True):
    note: Note
    kind = Kind("note_added", "Note added", ACCOUNTS, 21, why_not="delete the note instead", is_note=True).name

    def whose(self) -> SubjectIds:
        return None, self.note.user_id

    def sides(self) -> tuple[ChangeSide | None, ChangeSide]:
        return None, _make_note_side(self.note)

    def carry_out(self, tx: Writing, _: Codec) -> None:
        tx.defer(notes.SQL.insert, *self.note[:7])


class NoteDeleted(Change, Struct, frozen=True):
    note: Note
    kind = Kind("note_deleted", "Note deleted", ACCOUNTS, 22, why_not="write the note again", is_note=True).name

    def whose(self) -> SubjectIds:
        return None, self.note.user_id

    def sides(self) -> tuple[ChangeSide, ChangeSide | None]:
        return _make_note_side(self.note), None

    def carry_out(self, tx: Writing, _: Codec) -> None:
        tx.defer(notes.SQL.delete, self.note.id)


class TagsSet(Change, Struct, frozen=True):
    subject: Subject
    before: Sequence[str]
    after: Sequence[str]
    kind = Kind("tags_set", "Tags set", ACCOUNTS, 23, why_not="set the tags again", is_note=True).name

    def whose(self) -> SubjectIds:
        return None, self.subject.user_id

    def sides(self) -> tuple[ChangeSide, ChangeSide]:
        about = {"PlayerId": self.subject.player_id}
        return ChangeSide(command={**about, "Tags": self.before}), ChangeSide(command={**about, "Tags": self.after})

    def carry_out(self, tx: Writing, _: Codec) -> None:
        of = self.subject.user_id, self.subject.player_id or notes.ACCOUNT
        tx.defer(notes.SQL.clear_tags, *of)
        tx.defer(notes.SQL.insert_tags, *of, as_column("tag", self.after))


def _make_note_side(note: Note) -> ChangeSide:
    return ChangeSide(
        command={"NoteId": note.id, "PlayerId": note.player_id, "Warning": note.warning, "Text": note.text}
    )


class InvitationSent(Change, Struct, frozen=True):
    """An invitation to the staff. The audit log does not have the address: there is no account to erase it with."""

    invitation: invitations.Invitation
    kind = Kind("invitation_sent", "Invitation sent", GLOBAL, 4, why_not="withdraw the invitation instead").name
    held_by = "staff.manage"  # it gives roles too

    def sides(self) -> tuple[ChangeSide | None, ChangeSide]:
        return None, _make_invitation_side(self.invitation)

    def carry_out(self, tx: Writing, _: Codec) -> None:
        made = self.invitation
        values = (made.id, made.email, fold(made.email), ",".join(made.roles), made.inviter_id)
        tx.defer(invitations.SQL.insert, *values, made.expires_at, made.makes_decider)


class InvitationWithdrawn(Change, Struct, frozen=True):
    invitation: invitations.Invitation
    kind = Kind("invitation_withdrawn", "Invitation withdrawn", GLOBAL, 5, why_not="invite the person again").name

    def sides(self) -> tuple[ChangeSide, ChangeSide | None]:
        return _make_invitation_side(self.invitation), None

    def carry_out(self, tx: Writing, _: Codec) -> None:
        invitations.delete(tx, self.invitation.id)


def _make_invitation_side(invitation: invitations.Invitation) -> ChangeSide:
    return ChangeSide(user={"invitation_id": invitation.id, "roles": list(invitation.roles)})
