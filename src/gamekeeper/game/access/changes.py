"""Changes of an account's identities and second factors.

The audit log has the issuers of identities and the kinds of second factors, never ids, names or secrets.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from gamekeeper.game.core.change import ChangeSide, Codec, SubjectIds
from gamekeeper.store.access import identities, known_callers, second_factors, tokens
from gamekeeper.store.access.identities import Identity
from gamekeeper.store.access.second_factors import SecondFactor
from gamekeeper.store.accounts import users
from gamekeeper.store.engine.interface import Writing


@dataclass(frozen=True, slots=True)
class IdentitiesChanged:
    """An account linked an identity of an OpenID Connect provider, or removed one."""

    user: users.User
    held: Sequence[Identity]  # the identities before the change
    added: Identity | None = None
    removed: Identity | None = None
    kind = "identities_changed"

    def whose(self) -> SubjectIds:
        return None, self.user.id

    def sides(self) -> tuple[ChangeSide, ChangeSide]:
        left = [each for each in (*self.held, *((self.added,) if self.added else ())) if each is not self.removed]
        return _make_identity_side(self.held), _make_identity_side(left)

    def carry_out(self, tx: Writing, _: Codec) -> None:
        if self.removed:
            identities.delete(tx, self.removed.id)
        if self.added:
            identities.insert(tx, self.added)


def _make_identity_side(held: Sequence[Identity]) -> ChangeSide:
    return ChangeSide(user={"identities": sorted(each.issuer for each in held)})


@dataclass(frozen=True, slots=True)
class SecondFactorsChanged:
    """A second factor was added or removed by its owner, or the recovery codes were renewed.

    The first factor makes the account's known callers unknown, and ends all sessions but the one that added it: they
    proved only the password.
    """

    user: users.User
    held: Sequence[SecondFactor]  # the factors before the change
    added: SecondFactor | None = None
    removed: SecondFactor | None = None
    code_hashes: Sequence[str] = ()  # hashes of new recovery codes, which replace all others
    session_id: str | None = None  # session that made the change; None: no session
    kind = "second_factors_changed"

    def whose(self) -> SubjectIds:
        return None, self.user.id

    def sides(self) -> tuple[ChangeSide, ChangeSide]:
        renewed: dict[str, object] = {"recovery_codes": "changed"} if self.code_hashes else {}
        return _make_factor_side(self.held), _make_factor_side(self._list_left(), renewed)

    def carry_out(self, tx: Writing, _: Codec) -> None:
        if not self._list_left():
            second_factors.delete_of_user(tx, self.user.id)
            return
        if self.removed:
            second_factors.delete(tx, self.removed.id)
        if self.added:
            second_factors.insert(tx, self.added)
        if not self.held:
            known_callers.delete(tx, self.user.id)
            tokens.revoke_sessions(tx, self.user.id, self.session_id)
        if self.code_hashes:
            second_factors.replace_recovery_codes(tx, self.user.id, self.code_hashes)

    def _list_left(self) -> list[SecondFactor]:
        return [each for each in (*self.held, *((self.added,) if self.added else ())) if each is not self.removed]


@dataclass(frozen=True, slots=True)
class SecondFactorsReset:
    """All second factors of an account were removed by somebody else. It revokes the account's tokens and sessions."""

    user: users.User
    held: Sequence[SecondFactor]
    kind = "second_factors_reset"

    def whose(self) -> SubjectIds:
        return None, self.user.id

    def sides(self) -> tuple[ChangeSide, ChangeSide]:
        return _make_factor_side(self.held), _make_factor_side(())

    def carry_out(self, tx: Writing, _: Codec) -> None:
        second_factors.delete_of_user(tx, self.user.id)
        tokens.revoke_all_of_user(tx, self.user.id)


def _make_factor_side(factors: Sequence[SecondFactor], more: dict[str, object] | None = None) -> ChangeSide:
    return ChangeSide(user={"second_factors": sorted(each.kind for each in factors), **(more or {})})
