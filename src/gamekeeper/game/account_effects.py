"""Every kind of change of an account, as effects.py has those of characters."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from gamekeeper.game import rows
from gamekeeper.game.lookup import fold
from gamekeeper.game.spelling import Spelling, Trace, Whose
from gamekeeper.store import erasures, guesses, mails, moderation, resets, tokens, users
from gamekeeper.store.engine import Writing


@dataclass(frozen=True, slots=True)
class _OfUser:
    user: users.User  # as it was

    def whose(self) -> Whose:
        return None, self.user.id


@dataclass(frozen=True, slots=True)
class UserRegistered(_OfUser):
    kind: ClassVar[str] = "user_registered"

    def sides(self) -> tuple[Trace | None, Trace]:
        known = {"name": self.user.name, "email": self.user.email, "password": "changed"}
        return None, Trace(user=known | _held(self.user.powers))

    def carry_out(self, tx: Writing, _: Spelling) -> None:
        users.insert(tx, [rows.user_columns(self.user)])


@dataclass(frozen=True, slots=True)
class UsersLoaded:
    """Many accounts at once, each made when it says: one ledger row for the batch."""

    loaded: Sequence[users.User]
    clashing: Collection[str] = ()  # ids of those whose name is another's
    unaddressed: Collection[str] = ()  # ids of those whose email is no address, or another's
    bans: Sequence[moderation.ImposedPenalty] = ()
    mutes: Sequence[moderation.ImposedPenalty] = ()
    kind: ClassVar[str] = "users_loaded"

    def whose(self) -> Whose:
        return None, None

    def sides(self) -> tuple[Trace | None, Trace]:
        counts = {"users": len(self.loaded), "bans": len(self.bans), "mutes": len(self.mutes)}
        return None, Trace(catalogue={name: count for name, count in counts.items() if count})

    def carry_out(self, tx: Writing, _: Spelling) -> None:
        users.load(tx, [(self._columns(user), user.created_at) for user in self.loaded])
        moderation.load_bans(tx, self.bans)
        moderation.load_mutes(tx, self.mutes)

    def _columns(self, user: users.User) -> users.UserColumns:
        return rows.user_columns(user, clashes=user.id in self.clashing, unaddressed=user.id in self.unaddressed)


@dataclass(frozen=True, slots=True)
class UserRenamed(_OfUser):
    name: str
    kind: ClassVar[str] = "user_renamed"

    def sides(self) -> tuple[Trace, Trace]:
        return Trace(user={"name": self.user.name}), Trace(user={"name": self.name})

    def carry_out(self, tx: Writing, _: Spelling) -> None:
        users.set_name(tx, self.user.id, self.name, fold(self.name))


@dataclass(frozen=True, slots=True)
class UserDeleted(_OfUser):
    """The row itself has the id alone; the characters are gone before, each by a change of its own.

    The changes before it and the kept answers are masked at once, and blanked later by a background job (`person.py`).
    """

    upto: int  # number of the last change before it
    players: Sequence[str]  # the characters' ids
    kind: ClassVar[str] = "user_deleted"

    def sides(self) -> tuple[Trace | None, Trace | None]:
        return None, None

    def carry_out(self, tx: Writing, spelling: Spelling) -> None:
        erasures.insert(tx, [self.user.id, *self.players], self.user.id, self.upto, spelling.personal())
        moderation.blank_bans_by(tx, self.user.name)
        moderation.blank_mutes_by(tx, self.user.name)
        guesses.delete_of_account(tx, self.user.id)
        users.delete(tx, self.user.id)


@dataclass(frozen=True, slots=True)
class EmailChanged(_OfUser):
    email: str
    kind: ClassVar[str] = "email_changed"

    def sides(self) -> tuple[Trace, Trace]:
        return Trace(user={"email": self.user.email}), Trace(user={"email": self.email})

    def carry_out(self, tx: Writing, _: Spelling) -> None:
        users.set_email(tx, self.user.id, self.email, fold(self.email))
        resets.delete(tx, self.user.id)


@dataclass(frozen=True, slots=True)
class PasswordChanged(_OfUser):
    """A new password ends all that the old one opened: tokens and reset codes."""

    password: str
    kind: ClassVar[str] = "password_changed"

    def sides(self) -> tuple[Trace | None, Trace]:
        return None, Trace(user={"password": "changed"})

    def carry_out(self, tx: Writing, _: Spelling) -> None:
        users.set_password(tx, self.user.id, self.password)
        tokens.revoke_all_of_user(tx, self.user.id)
        resets.delete(tx, self.user.id)


@dataclass(frozen=True, slots=True)
class PowersChanged(_OfUser):
    """Change what an account may do. Taking API access away revokes all tokens and sessions of the account.

    Giving it does so too: it may have been taken away by SQL, or by a version that revoked nothing.
    """

    powers: users.Powers
    kind: ClassVar[str] = "powers_changed"

    def sides(self) -> tuple[Trace, Trace]:
        return Trace(user=_held(self.user.powers)), Trace(user=_held(self.powers))

    def carry_out(self, tx: Writing, _: Spelling) -> None:
        users.set_powers(tx, self.user.id, self.powers)
        if self.user.powers.api != self.powers.api:
            tokens.revoke_all_of_user(tx, self.user.id)


@dataclass(frozen=True, slots=True)
class UserBanned(_OfUser):
    """A ban ends all that the account has open."""

    ban: moderation.Penalty
    kind: ClassVar[str] = "user_banned"

    def sides(self) -> tuple[Trace, Trace]:
        return Trace(user={"ban_reason": self.user.ban_reason}), Trace(user=penalty("ban_reason", self.ban))

    def carry_out(self, tx: Writing, _: Spelling) -> None:
        moderation.save_ban(tx, self.user.id, self.ban)
        tokens.revoke_all_of_user(tx, self.user.id)


@dataclass(frozen=True, slots=True)
class UserMuted(_OfUser):
    mute: moderation.Penalty
    kind: ClassVar[str] = "user_muted"

    def sides(self) -> tuple[Trace, Trace]:
        return Trace(user={"mute_reason": self.user.mute_reason}), Trace(user=penalty("mute_reason", self.mute))

    def carry_out(self, tx: Writing, _: Spelling) -> None:
        moderation.save_mute(tx, self.user.id, self.mute)


@dataclass(frozen=True, slots=True)
class UserUnbanned(_OfUser):
    lifted: moderation.Penalty
    said: Mapping[str, object]
    kind: ClassVar[str] = "user_unbanned"

    def sides(self) -> tuple[Trace, Trace]:
        return Trace(user=penalty("ban_reason", self.lifted)), Trace(user={"ban_reason": None, **self.said})

    def carry_out(self, tx: Writing, _: Spelling) -> None:
        moderation.lift_ban(tx, self.user.id)


@dataclass(frozen=True, slots=True)
class UserUnmuted(_OfUser):
    lifted: moderation.Penalty
    said: Mapping[str, object]
    kind: ClassVar[str] = "user_unmuted"

    def sides(self) -> tuple[Trace, Trace]:
        return Trace(user=penalty("mute_reason", self.lifted)), Trace(user={"mute_reason": None, **self.said})

    def carry_out(self, tx: Writing, _: Spelling) -> None:
        moderation.lift_mute(tx, self.user.id)


@dataclass(frozen=True, slots=True)
class GameTold(_OfUser):
    """What was done to the account of a character that is online: the row itself is all, the game hears it and acts."""

    kind: str  # user_kicked, user_banned, user_muted, user_unmuted
    player_id: str
    said: Mapping[str, object]

    def whose(self) -> Whose:
        return self.player_id, self.user.id

    def sides(self) -> tuple[Trace | None, Trace]:
        return None, Trace(user=self.said)

    def carry_out(self, tx: Writing, _: Spelling) -> None:
        pass


@dataclass(frozen=True, slots=True)
class ResetRequested(_OfUser):
    """The code itself is in no ledger."""

    code: str
    tries: int
    life_ms: int
    mail_id: str
    caller_id: str
    kind: ClassVar[str] = "reset_requested"

    def sides(self) -> tuple[Trace | None, Trace]:
        return None, Trace(user={"reset_code": "changed"})

    def carry_out(self, tx: Writing, _: Spelling) -> None:
        resets.save(tx, self.user.id, self.code, self.tries, self.life_ms, self.mail_id)
        mails.queue(tx, self.mail_id, self.user.id, self.caller_id, self.user.email, self.life_ms)


@dataclass(frozen=True, slots=True)
class MailRetried:
    mail: mails.OutboxMail  # as it was
    at: int  # when it is due
    kind: ClassVar[str] = "mail_retried"

    def whose(self) -> Whose:
        return None, self.mail.user_id

    def sides(self) -> tuple[Trace, Trace]:
        return self._side(self.mail.state, self.mail.next_try_at), self._side("queued", self.at)

    def carry_out(self, tx: Writing, _: Spelling) -> None:
        mails.retry(tx, self.mail.id, self.at)

    def _side(self, state: str, due: int | None) -> Trace:
        return Trace(user={"mail_id": self.mail.id, "mail_state": state, "next_try_at": due})


def _held(powers: users.Powers) -> dict[str, object]:
    return dict(powers._asdict())


def penalty(of: str, given: moderation.Penalty) -> dict[str, object]:
    return {of: given.reason, "moderator": given.moderator, "ends_at": given.ends_at}
