"""Every kind of change of an account. `game/players/changes.py` has those of players."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from gamekeeper.game.access import permissions
from gamekeeper.game.core.change import ChangeSide, Codec, SubjectIds, command
from gamekeeper.game.core.lookup import fold
from gamekeeper.game.players import changes
from gamekeeper.store.access import credentials, roles, tokens
from gamekeeper.store.access.roles import Powers
from gamekeeper.store.accounts import erasures, invitations, mails, moderation, notes, users
from gamekeeper.store.audit import approvals, bulk_jobs
from gamekeeper.store.engine.interface import Writing
from gamekeeper.store.insight import signals


@dataclass(frozen=True, slots=True)
class _UserChange:
    user: users.User  # the account before the change

    def whose(self) -> SubjectIds:
        return None, self.user.id


@dataclass(frozen=True, slots=True)
class UserRegistered(_UserChange):
    kind = "user_registered"

    def sides(self) -> tuple[ChangeSide | None, ChangeSide]:
        known: dict[str, object] = {"name": self.user.name, "email": self.user.email, "password": "changed"}
        given: dict[str, object] = {"roles": list(self.user.grants.roles)} if self.user.grants.roles else {}
        return None, ChangeSide(user=known | _list_power_flags(self.user.powers) | given)

    def carry_out(self, tx: Writing, _: Codec) -> None:
        users.insert(tx, [changes.make_user_columns(self.user, unaddressed=not self.user.email)])
        if self.user.grants.roles:
            roles.give(tx, self.user.id, self.user.grants.roles)


@dataclass(frozen=True, slots=True)
class UsersLoaded:
    """A bulk load of accounts that keep their creation times. The whole batch is one entry of the audit log."""

    accounts: Sequence[users.User]
    taken_name_ids: Collection[str] = ()  # accounts whose name another account already has
    bad_email_ids: Collection[str] = ()  # accounts whose email is invalid, or belongs to another account
    bans: Sequence[moderation.ImposedPenalty] = ()
    mutes: Sequence[moderation.ImposedPenalty] = ()
    kind = "users_loaded"

    def whose(self) -> SubjectIds:
        return None, None

    def sides(self) -> tuple[ChangeSide | None, ChangeSide]:
        counts = {"users": len(self.accounts), "bans": len(self.bans), "mutes": len(self.mutes)}
        return None, ChangeSide(catalogue={name: count for name, count in counts.items() if count})

    def carry_out(self, tx: Writing, _: Codec) -> None:
        users.load(tx, [(self._make_columns(user), user.created_at) for user in self.accounts])
        moderation.load_bans(tx, self.bans)
        moderation.load_mutes(tx, self.mutes)

    def _make_columns(self, user: users.User) -> users.UserColumns:
        return changes.make_user_columns(
            user, clashes=user.id in self.taken_name_ids, unaddressed=user.id in self.bad_email_ids
        )


@dataclass(frozen=True, slots=True)
class UserRenamed(_UserChange):
    name: str
    kind = "user_renamed"

    def sides(self) -> tuple[ChangeSide, ChangeSide]:
        return ChangeSide(user={"name": self.user.name}), ChangeSide(user={"name": self.name})

    def carry_out(self, tx: Writing, _: Codec) -> None:
        users.set_name(tx, self.user.id, self.name, fold(self.name))


@dataclass(frozen=True, slots=True)
class UserDeleted(_UserChange):
    """The deletion of an account. Its audit log entry has only the id; each player is deleted by its own change before.

    Earlier changes and stored answers are masked at once, and blanked later by a background job (`erasures.py`).
    """

    upto: int  # number of the last change before the deletion of the account
    players: Sequence[str]  # ids of the account's present and former players
    api_keys: Sequence[str] = ()  # ids of the account's API keys: answers to their requests are blanked too
    names: Sequence[str] = ()  # names that the account had, and those of its players, as SQL spells them in lower case
    kind = "user_deleted"

    def sides(self) -> tuple[ChangeSide | None, ChangeSide | None]:
        return None, None

    def carry_out(self, tx: Writing, codec: Codec) -> None:
        erasures.insert(
            tx, [self.user.id, *self.players, *self.api_keys], self.user.id, self.upto, codec.list_personal_fields()
        )
        moderation.blank_moderator(tx, self.user.id, self.names)
        erasures.blank_names(tx, self.names, self.user.id)
        credentials.delete_guesses_of_account(tx, self.user.id)
        invitations.delete_of_email(tx, fold(self.user.email))
        approvals.erase(tx, self.players, self.user.id)
        notes.erase(tx, self.players)
        signals.erase(tx, self.players, [self.user.id, *self.api_keys])
        bulk_jobs.erase(tx, self.players, self.user.id)
        users.delete(tx, self.user.id)


@dataclass(frozen=True, slots=True)
class EmailChanged(_UserChange):
    email: str
    is_proven: bool = False  # the owner proved the account with its password
    kind = "email_changed"

    def sides(self) -> tuple[ChangeSide, ChangeSide]:
        return ChangeSide(user={"email": self.user.email}), ChangeSide(user={"email": self.email})

    def carry_out(self, tx: Writing, _: Codec) -> None:
        users.set_email(tx, self.user.id, self.email, fold(self.email))
        credentials.delete_reset(tx, self.user.id)


@dataclass(frozen=True, slots=True)
class PasswordChanged(_UserChange):
    """A new password of an account. It revokes the account's tokens and reset codes."""

    password: str
    is_proven: bool = False  # the owner proved the account with its current password or a mailed code
    kind = "password_changed"

    def sides(self) -> tuple[ChangeSide | None, ChangeSide]:
        return None, ChangeSide(user={"password": "changed"})

    def carry_out(self, tx: Writing, _: Codec) -> None:
        users.set_password(tx, self.user.id, self.password)
        tokens.revoke_all_of_user(tx, self.user.id)
        credentials.delete_reset(tx, self.user.id)


@dataclass(frozen=True, slots=True)
class PowersChanged(_UserChange):
    """New permissions of an account. Removing API access revokes all its tokens and sessions.

    Granting API access revokes them too: it may have been removed by SQL, or by an old version that revoked nothing.
    """

    powers: Powers
    kind = "powers_changed"

    def sides(self) -> tuple[ChangeSide, ChangeSide]:
        return ChangeSide(user=_list_power_flags(self.user.powers)), ChangeSide(user=_list_power_flags(self.powers))

    def carry_out(self, tx: Writing, _: Codec) -> None:
        users.set_powers(tx, self.user.id, self.powers)
        if self.user.powers.api != self.powers.api:
            tokens.revoke_all_of_user(tx, self.user.id)


@dataclass(frozen=True, slots=True)
class RolesChanged(_UserChange):
    """New roles of an account, or new directly granted permissions that have no flag in `Powers`.

    The tokens are revoked if the account gets or loses its log-in, for the reason that `PowersChanged` has.
    """

    after: users.User
    kind = "roles_changed"

    def sides(self) -> tuple[ChangeSide, ChangeSide]:
        return self._make_side(self.user), self._make_side(self.after)

    def carry_out(self, tx: Writing, _: Codec) -> None:
        before, after = self.user.grants, self.after.grants
        for write, words in (
            (roles.take, sorted(set(before.roles) - set(after.roles))),
            (roles.give, sorted(set(after.roles) - set(before.roles))),
            (roles.revoke, sorted(before.direct - after.direct)),
            (roles.grant, sorted(after.direct - before.direct)),
        ):
            if words:
                write(tx, self.user.id, words)
        if permissions.can_log_in(self.user) != permissions.can_log_in(self.after):
            tokens.revoke_all_of_user(tx, self.user.id)

    @staticmethod
    def _make_side(user: users.User) -> ChangeSide:
        return ChangeSide(user={"roles": list(user.grants.roles), "permissions": sorted(user.grants.direct)})


@dataclass(frozen=True, slots=True)
class RoleSaved:
    """A new or edited role."""

    before: roles.Role | None
    after: roles.Role
    kind = "role_saved"

    def whose(self) -> SubjectIds:
        return None, None

    def sides(self) -> tuple[ChangeSide | None, ChangeSide]:
        return _make_role_side(self.before) if self.before else None, _make_role_side(self.after)

    def carry_out(self, tx: Writing, _: Codec) -> None:
        roles.save(tx, self.after)
        before = self.before.permissions if self.before else frozenset[str]()
        roles.remove_permissions(tx, self.after.name, before - self.after.permissions)
        roles.add_permissions(tx, self.after.name, self.after.permissions - before)
        if self.after.quotas != (self.before.quotas if self.before else ()):
            roles.save_quotas(tx, self.after.name, self.after.quotas)


@dataclass(frozen=True, slots=True)
class RoleDeleted:
    role: roles.Role
    kind = "role_deleted"

    def whose(self) -> SubjectIds:
        return None, None

    def sides(self) -> tuple[ChangeSide, ChangeSide | None]:
        return _make_role_side(self.role), None

    def carry_out(self, tx: Writing, _: Codec) -> None:
        roles.delete(tx, self.role.name)


@dataclass(frozen=True, slots=True)
class UserBanned(_UserChange):
    """A ban of an account. It revokes the account's tokens and sessions."""

    ban: moderation.Penalty
    kind = "user_banned"

    def sides(self) -> tuple[ChangeSide, ChangeSide]:
        return ChangeSide(user={"ban_reason": self.user.ban_reason}), ChangeSide(
            user=list_penalty_fields("ban_reason", self.ban)
        )

    def carry_out(self, tx: Writing, _: Codec) -> None:
        moderation.save_ban(tx, self.user.id, self.ban)
        tokens.revoke_all_of_user(tx, self.user.id)


@dataclass(frozen=True, slots=True)
class UserSuspended(_UserChange):
    """A suspension of an account. It revokes the account's tokens and sessions; the game is not concerned."""

    kind = "user_suspended"

    def sides(self) -> tuple[ChangeSide, ChangeSide]:
        return ChangeSide(user={"suspended": False}), ChangeSide(user={"suspended": True})

    def carry_out(self, tx: Writing, _: Codec) -> None:
        users.suspend(tx, self.user.id)
        tokens.revoke_all_of_user(tx, self.user.id)


@dataclass(frozen=True, slots=True)
class UserResumed(_UserChange):
    kind = "user_resumed"

    def sides(self) -> tuple[ChangeSide, ChangeSide]:
        return ChangeSide(user={"suspended": True}), ChangeSide(user={"suspended": False})

    def carry_out(self, tx: Writing, _: Codec) -> None:
        users.resume(tx, self.user.id)


@dataclass(frozen=True, slots=True)
class UserMuted(_UserChange):
    mute: moderation.Penalty
    kind = "user_muted"

    def sides(self) -> tuple[ChangeSide, ChangeSide]:
        return ChangeSide(user={"mute_reason": self.user.mute_reason}), ChangeSide(
            user=list_penalty_fields("mute_reason", self.mute)
        )

    def carry_out(self, tx: Writing, _: Codec) -> None:
        moderation.save_mute(tx, self.user.id, self.mute)


@dataclass(frozen=True, slots=True)
class UserUnbanned(_UserChange):
    lifted: moderation.Penalty
    details: Mapping[str, object]
    kind = "user_unbanned"

    def sides(self) -> tuple[ChangeSide, ChangeSide]:
        return ChangeSide(user=list_penalty_fields("ban_reason", self.lifted)), ChangeSide(
            user={"ban_reason": None, **self.details}
        )

    def carry_out(self, tx: Writing, _: Codec) -> None:
        moderation.lift_ban(tx, self.user.id)


@dataclass(frozen=True, slots=True)
class UserUnmuted(_UserChange):
    lifted: moderation.Penalty
    details: Mapping[str, object]
    kind = "user_unmuted"

    def sides(self) -> tuple[ChangeSide, ChangeSide]:
        return ChangeSide(user=list_penalty_fields("mute_reason", self.lifted)), ChangeSide(
            user={"mute_reason": None, **self.details}
        )

    def carry_out(self, tx: Writing, _: Codec) -> None:
        moderation.lift_mute(tx, self.user.id)


@command
@dataclass(frozen=True, slots=True)
class GameNotified(_UserChange):
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

    def carry_out(self, tx: Writing, _: Codec) -> None:
        pass


@dataclass(frozen=True, slots=True)
class ResetRequested(_UserChange):
    """A new password reset code, and the mail with it. The audit log does not have the code itself."""

    code: str
    tries: int
    life_ms: int
    mail_id: str
    caller_id: str
    kind = "reset_requested"

    def sides(self) -> tuple[ChangeSide | None, ChangeSide]:
        return None, ChangeSide(user={"reset_code": "changed"})

    def carry_out(self, tx: Writing, _: Codec) -> None:
        credentials.save_reset(tx, self.user.id, self.code, self.tries, self.life_ms, self.mail_id)
        mails.queue(tx, self.mail_id, self.user.id, self.caller_id, self.user.email, self.life_ms)


@dataclass(frozen=True, slots=True)
class MailRetried:
    mail: mails.OutboxMail  # the mail before the change
    at: int  # time of the mail's next attempt, in milliseconds since 1970
    kind = "mail_retried"

    def whose(self) -> SubjectIds:
        return None, self.mail.user_id

    def sides(self) -> tuple[ChangeSide, ChangeSide]:
        return self._make_side(self.mail.state, self.mail.next_try_at), self._make_side("queued", self.at)

    def carry_out(self, tx: Writing, _: Codec) -> None:
        mails.retry(tx, self.mail.id, self.at)

    def _make_side(self, state: str, due: int | None) -> ChangeSide:
        return ChangeSide(user={"mail_id": self.mail.id, "mail_state": state, "next_try_at": due})


def _make_role_side(role: roles.Role) -> ChangeSide:
    named = {"role": role.name, "about": role.about, "read_only": role.read_only}
    quotas: dict[str, object] = {"quotas": role.quotas} if role.quotas else {}
    return ChangeSide(user=named | {"permissions": sorted(role.permissions)} | quotas)


def _list_power_flags(powers: roles.Powers) -> dict[str, object]:
    return dict(powers._asdict())


def list_penalty_fields(of: str, given: moderation.Penalty) -> dict[str, object]:
    return {of: given.reason, "moderator": given.moderator, "ends_at": given.ends_at}
