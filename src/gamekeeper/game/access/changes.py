"""Changes of accounts that concern access: registration, passwords, permissions, roles, suspension, second factors.

The audit log has the issuers of identities and the kinds of second factors, never ids, names or secrets.
"""

from collections.abc import Sequence

from msgspec import Struct

from gamekeeper.game.access import permissions
from gamekeeper.game.core.change import ACCOUNTS, GLOBAL, Change, ChangeSide, Codec, Kind, SubjectIds
from gamekeeper.game.core.lookup import fold, make_clashing_fold
from gamekeeper.store.access import credentials, roles, second_factors, tokens
from gamekeeper.store.access.credentials import Identity
from gamekeeper.store.access.roles import Powers
from gamekeeper.store.access.second_factors import SecondFactor
from gamekeeper.store.accounts import mails, users
from gamekeeper.store.engine.interface import Writing
from gamekeeper.store.engine.statements import as_column, as_table


def make_user_columns(user: users.User, *, clashes: bool = False, unaddressed: bool = False) -> dict[str, str | bool]:
    """Make an account's columns. `unaddressed`: the email is invalid or taken, so the account is not found by it."""
    by_name = make_clashing_fold(user.name, user.id) if clashes else fold(user.name)
    by_email = make_clashing_fold("", user.id) if unaddressed else fold(user.email)
    names = {"id": user.id, "name": user.name, "fold": by_name}
    return {**names, "email": user.email, "email_fold": by_email, "password": user.password, **user.powers._asdict()}


class UserChange(Change, Struct, frozen=True):
    user: users.User  # the account before the change
    ends_access = ""  # cause in the security log if the change revokes tokens, such as "ban"; empty: no such event

    def whose(self) -> SubjectIds:
        return None, self.user.id


class UserRegistered(UserChange, frozen=True):
    kind = Kind("user_registered", "Account registered", ACCOUNTS, 1, why_not="delete the account instead").name

    def sides(self) -> tuple[ChangeSide | None, ChangeSide]:
        known: dict[str, object] = {"name": self.user.name, "email": self.user.email, "password": "changed"}
        given: dict[str, object] = {"roles": list(self.user.grants.roles)} if self.user.grants.roles else {}
        return None, ChangeSide(user=known | _list_power_flags(self.user.powers) | given)

    def carry_out(self, tx: Writing, _: Codec) -> None:
        users.insert(tx, [make_user_columns(self.user, unaddressed=not self.user.email)])
        if self.user.grants.roles:
            tx.defer(roles.SQL.give, self.user.id, as_column("role", self.user.grants.roles))


class PasswordChanged(UserChange, frozen=True):
    """A new password of an account. It revokes the account's tokens and reset codes."""

    password: str
    is_proven: bool = False  # the owner proved the account with its current password or a mailed code
    kind = Kind("password_changed", "Password changed", ACCOUNTS, 5, why_not="the old password is not stored").name
    command_line = "users password {name}"

    def sides(self) -> tuple[ChangeSide | None, ChangeSide]:
        return None, ChangeSide(user={"password": "changed"})

    def carry_out(self, tx: Writing, _: Codec) -> None:
        tx.defer(users.SQL.set_password, self.user.id, self.password)
        tokens.revoke_all_of_user(tx, self.user.id)
        credentials.delete_reset(tx, self.user.id)


class PowersChanged(UserChange, frozen=True):
    """New permissions of an account. Removing API access revokes all its tokens and sessions.

    Granting API access revokes them too: it may have been removed by SQL, or by an old version that revoked nothing.
    """

    powers: Powers
    kind = Kind("powers_changed", "Permissions changed", ACCOUNTS, 8, needs={"users.manage"}, by_undo=True).name
    held_by = "staff.manage"

    def sides(self) -> tuple[ChangeSide, ChangeSide]:
        return ChangeSide(user=_list_power_flags(self.user.powers)), ChangeSide(user=_list_power_flags(self.powers))

    def carry_out(self, tx: Writing, _: Codec) -> None:
        tx.defer(users.SQL.set_powers, self.user.id, *self.powers)
        if self.user.powers.api != self.powers.api:
            tokens.revoke_all_of_user(tx, self.user.id)


class RolesChanged(UserChange, frozen=True):
    """New roles of an account, or new directly granted permissions that have no flag in `Powers`.

    The tokens are revoked if the account gets or loses its log-in, for the reason that `PowersChanged` has.
    """

    after: users.User
    kind = Kind("roles_changed", "Roles changed", ACCOUNTS, 9, needs={"staff.manage"}, by_undo=True).name
    held_by = "staff.manage"

    def sides(self) -> tuple[ChangeSide, ChangeSide]:
        return self._make_side(self.user), self._make_side(self.after)

    def carry_out(self, tx: Writing, _: Codec) -> None:
        before, after = self.user.grants, self.after.grants
        for statement, column, words in (
            (roles.SQL.take, "role", set(before.roles) - set(after.roles)),
            (roles.SQL.give, "role", set(after.roles) - set(before.roles)),
            (roles.SQL.revoke, "permission", before.direct - after.direct),
            (roles.SQL.grant, "permission", after.direct - before.direct),
        ):
            if words:
                tx.defer(statement, self.user.id, as_column(column, sorted(words)))
        if permissions.can_log_in(self.user) != permissions.can_log_in(self.after):
            tokens.revoke_all_of_user(tx, self.user.id)

    @staticmethod
    def _make_side(user: users.User) -> ChangeSide:
        return ChangeSide(user={"roles": list(user.grants.roles), "permissions": sorted(user.grants.direct)})


class RoleSaved(Change, Struct, frozen=True):
    """A new or edited role."""

    before: roles.Role | None
    after: roles.Role
    kind = Kind("role_saved", "Role edited", GLOBAL, 2, why_not="edit the role again").name
    held_by = "staff.manage"

    def sides(self) -> tuple[ChangeSide | None, ChangeSide]:
        return _make_role_side(self.before) if self.before else None, _make_role_side(self.after)

    def carry_out(self, tx: Writing, _: Codec) -> None:
        tx.defer(roles.SQL.save, self.after.name, self.after.about, self.after.read_only)
        before = self.before.permissions if self.before else frozenset[str]()
        removed, added = sorted(before - self.after.permissions), sorted(self.after.permissions - before)
        tx.defer(roles.SQL.remove_permissions, self.after.name, as_column("permission", removed))
        tx.defer(roles.SQL.add_permissions, self.after.name, as_column("permission", added))
        if self.after.quotas != (self.before.quotas if self.before else ()):
            table = as_table({"item": item_id, "most": most} for item_id, most in self.after.quotas)
            tx.defer(roles.SQL.remove_quotas, self.after.name, table)
            tx.defer(roles.SQL.save_quotas, self.after.name, table)


class RoleDeleted(Change, Struct, frozen=True):
    role: roles.Role
    kind = Kind("role_deleted", "Role deleted", GLOBAL, 3, why_not="create the role again").name
    held_by = "staff.manage"

    def sides(self) -> tuple[ChangeSide, ChangeSide | None]:
        return _make_role_side(self.role), None

    def carry_out(self, tx: Writing, _: Codec) -> None:
        tx.defer(roles.SQL.delete, self.role.name)


class UserSuspended(UserChange, frozen=True):
    """A suspension of an account. It revokes the account's tokens and sessions; the game is not concerned."""

    kind = Kind(
        "user_suspended", "Account suspended", ACCOUNTS, 18, needs={"staff.manage"}, by_undo=True, is_sanction=True
    ).name
    ends_access = "suspension"
    held_by = "staff.manage"
    command_line = "users suspend {name}"

    def sides(self) -> tuple[ChangeSide, ChangeSide]:
        return ChangeSide(user={"suspended": False}), ChangeSide(user={"suspended": True})

    def carry_out(self, tx: Writing, _: Codec) -> None:
        tx.defer(users.SQL.suspend, self.user.id)
        tokens.revoke_all_of_user(tx, self.user.id)


class UserResumed(UserChange, frozen=True):
    kind = Kind(
        "user_resumed", "Suspension ended", ACCOUNTS, 19, needs={"staff.manage"}, by_undo=True, is_sanction=True
    ).name
    held_by = "staff.manage"
    command_line = "users resume {name}"

    def sides(self) -> tuple[ChangeSide, ChangeSide]:
        return ChangeSide(user={"suspended": True}), ChangeSide(user={"suspended": False})

    def carry_out(self, tx: Writing, _: Codec) -> None:
        tx.defer(users.SQL.resume, self.user.id)


class ResetRequested(UserChange, frozen=True):
    """A new password reset code, and the mail with it. The audit log does not have the code itself."""

    code: str
    tries: int
    life_ms: int
    mail_id: str
    caller_id: str
    kind = Kind(
        "reset_requested",
        "Password reset requested",
        ACCOUNTS,
        6,
        why_not="the mail may have been read; the code expires by itself",
    ).name

    def sides(self) -> tuple[ChangeSide | None, ChangeSide]:
        return None, ChangeSide(user={"reset_code": "changed"})

    def carry_out(self, tx: Writing, _: Codec) -> None:
        credentials.save_reset(tx, self.user.id, self.code, self.tries, self.life_ms, self.mail_id)
        tx.defer(mails.SQL.queue, self.mail_id, self.user.id, self.caller_id, self.user.email, self.life_ms)


def _make_role_side(role: roles.Role) -> ChangeSide:
    named = {"role": role.name, "about": role.about, "read_only": role.read_only}
    quotas: dict[str, object] = {"quotas": role.quotas} if role.quotas else {}
    return ChangeSide(user=named | {"permissions": sorted(role.permissions)} | quotas)


def _list_power_flags(powers: roles.Powers) -> dict[str, object]:
    return dict(powers._asdict())


class IdentitiesChanged(UserChange, frozen=True):
    """An account linked an identity of an OpenID Connect provider, or removed one."""

    held: Sequence[Identity]  # the identities before the change
    added: Identity | None = None
    removed: Identity | None = None
    kind = Kind(
        "identities_changed",
        "Linked sign-in changed",
        ACCOUNTS,
        12,
        why_not="the account links or removes the sign-in itself",
    ).name
    command_line = "users reset-second-factor {name}"

    def sides(self) -> tuple[ChangeSide, ChangeSide]:
        left = [each for each in (*self.held, *((self.added,) if self.added else ())) if each is not self.removed]
        return _make_identity_side(self.held), _make_identity_side(left)

    def carry_out(self, tx: Writing, _: Codec) -> None:
        if self.removed:
            tx.defer(credentials.SQL.delete_identity, self.removed.id)
        if self.added:
            tx.defer(credentials.SQL.insert_identity, *self.added[:5])


def _make_identity_side(held: Sequence[Identity]) -> ChangeSide:
    return ChangeSide(user={"identities": sorted(each.issuer for each in held)})


class SecondFactorsChanged(UserChange, frozen=True):
    """A second factor was added or removed by its owner, or the recovery codes were renewed.

    The first factor makes the account's known callers unknown, and ends all sessions but the one that added it: they
    proved only the password.
    """

    held: Sequence[SecondFactor]  # the factors before the change
    added: SecondFactor | None = None
    removed: SecondFactor | None = None
    code_hashes: Sequence[str] = ()  # hashes of new recovery codes, which replace all others
    session_id: str | None = None  # session that made the change; None: no session
    kind = Kind(
        "second_factors_changed",
        "Second factor changed",
        ACCOUNTS,
        10,
        why_not="the secret is not stored in the audit log",
    ).name
    command_line = "users reset-second-factor {name}"

    def sides(self) -> tuple[ChangeSide, ChangeSide]:
        renewed: dict[str, object] = {"recovery_codes": "changed"} if self.code_hashes else {}
        return _make_factor_side(self.held), _make_factor_side(self._list_left(), renewed)

    def carry_out(self, tx: Writing, _: Codec) -> None:
        if not self._list_left():
            second_factors.delete_of_user(tx, self.user.id)
            return
        if self.removed:
            tx.defer(second_factors.SQL.delete, self.removed.id)
        if self.added:
            tx.defer(second_factors.SQL.insert, *self.added[:8])
        if not self.held:
            credentials.delete_known_callers(tx, self.user.id)
            tokens.revoke_sessions(tx, self.user.id, self.session_id)
        if self.code_hashes:
            tx.defer(second_factors.SQL.delete_recovery_codes, self.user.id)
            tx.defer(second_factors.SQL.insert_recovery_codes, self.user.id, as_column("hash", self.code_hashes))

    def _list_left(self) -> list[SecondFactor]:
        return [each for each in (*self.held, *((self.added,) if self.added else ())) if each is not self.removed]


class SecondFactorsReset(UserChange, frozen=True):
    """All second factors of an account were removed by somebody else. It revokes the account's tokens and sessions."""

    held: Sequence[SecondFactor]
    kind = Kind(
        "second_factors_reset",
        "Second factor reset",
        ACCOUNTS,
        11,
        why_not="the account sets up a new second factor instead",
    ).name
    held_by = "staff.manage"
    command_line = "users reset-second-factor {name}"

    def sides(self) -> tuple[ChangeSide, ChangeSide]:
        return _make_factor_side(self.held), _make_factor_side(())

    def carry_out(self, tx: Writing, _: Codec) -> None:
        second_factors.delete_of_user(tx, self.user.id)
        tokens.revoke_all_of_user(tx, self.user.id)


def _make_factor_side(factors: Sequence[SecondFactor], more: dict[str, object] | None = None) -> ChangeSide:
    return ChangeSide(user={"second_factors": sorted(each.kind for each in factors), **(more or {})})
