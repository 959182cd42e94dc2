"""Changes of an account's identities. The audit log has their issuers, never the ids of people there."""

from collections.abc import Sequence
from dataclasses import dataclass

from gamekeeper.game.codec import ChangeSide, Codec, SubjectIds
from gamekeeper.store import identities, users
from gamekeeper.store.engine import Writing
from gamekeeper.store.identities import Identity


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
        return _make_side(self.held), _make_side(left)

    def carry_out(self, tx: Writing, _: Codec) -> None:
        if self.removed:
            identities.delete(tx, self.removed.id)
        if self.added:
            identities.insert(tx, self.added)


def _make_side(held: Sequence[Identity]) -> ChangeSide:
    return ChangeSide(user={"identities": sorted(each.issuer for each in held)})
