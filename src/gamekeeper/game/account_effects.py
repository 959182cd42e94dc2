"""Every kind of change of an account, as effects.py has those of characters."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from gamekeeper.game import rows
from gamekeeper.game.lookup import fold
from gamekeeper.game.spelling import Spelling, Trace, Whose
from gamekeeper.store import mails, resets, tokens, users
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
    """Many accounts at once: one ledger row for the batch."""

    loaded: Sequence[users.User]
    created_at: int
    kind: ClassVar[str] = "users_loaded"

    def whose(self) -> Whose:
        return None, None

    def sides(self) -> tuple[Trace | None, Trace]:
        return None, Trace(catalogue={"users": len(self.loaded)})

    def carry_out(self, tx: Writing, _: Spelling) -> None:
        users.load(tx, [rows.user_columns(user) for user in self.loaded], self.created_at)


@dataclass(frozen=True, slots=True)
class EmailChanged(_OfUser):
    email: str
    kind: ClassVar[str] = "email_changed"

    def sides(self) -> tuple[Trace, Trace]:
        return Trace(user={"email": self.user.email}), Trace(user={"email": self.email})

    def carry_out(self, tx: Writing, _: Spelling) -> None:
        users.set_email(tx, self.user.id, self.email, fold(self.email))
        resets.forget(tx, self.user.id)


@dataclass(frozen=True, slots=True)
class PasswordChanged(_OfUser):
    """A new password ends all that the old one opened: tokens and reset codes."""

    password: str
    kind: ClassVar[str] = "password_changed"

    def sides(self) -> tuple[Trace | None, Trace]:
        return None, Trace(user={"password": "changed"})

    def carry_out(self, tx: Writing, _: Spelling) -> None:
        users.set_password(tx, self.user.id, self.password)
        tokens.revoke_of_user(tx, self.user.id)
        resets.forget(tx, self.user.id)


@dataclass(frozen=True, slots=True)
class PowersChanged(_OfUser):
    powers: users.Powers
    kind: ClassVar[str] = "powers_changed"

    def sides(self) -> tuple[Trace, Trace]:
        return Trace(user=_held(self.user.powers)), Trace(user=_held(self.powers))

    def carry_out(self, tx: Writing, _: Spelling) -> None:
        users.set_powers(tx, self.user.id, self.powers)


@dataclass(frozen=True, slots=True)
class UserMuted(_OfUser):
    reason: str
    ends_at: int | None = None
    kind: ClassVar[str] = "user_muted"

    def sides(self) -> tuple[Trace, Trace]:
        return Trace(user={"mute_reason": self.user.mute_reason}), Trace(user={"mute_reason": self.reason})

    def carry_out(self, tx: Writing, _: Spelling) -> None:
        users.save_mute(tx, self.user.id, self.reason, self.ends_at)


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


def _held(powers: users.Powers) -> dict[str, object]:
    return dict(powers._asdict())
