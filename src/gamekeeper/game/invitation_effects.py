"""Changes of invitations."""

from dataclasses import dataclass

from gamekeeper.game.codec import ChangeSide, Codec, SubjectIds
from gamekeeper.game.lookup import fold
from gamekeeper.store import invitations
from gamekeeper.store.engine import Writing


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
