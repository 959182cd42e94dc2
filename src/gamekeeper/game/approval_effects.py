"""The approval of a held change, as the audit log has it."""

from dataclasses import dataclass

from gamekeeper.game.codec import ChangeSide, Codec, SubjectIds
from gamekeeper.store.engine import Writing


@dataclass(frozen=True, slots=True)
class ChangeApproved:
    """The approval of a held change. It stands beside the entries of that change, with the approver as actor."""

    requester_id: str | None
    approval_id: str
    kind = "change_approved"

    def whose(self) -> SubjectIds:
        return None, self.requester_id

    def sides(self) -> tuple[ChangeSide | None, ChangeSide]:
        return None, ChangeSide(user={"approval": self.approval_id})

    def carry_out(self, tx: Writing, _: Codec) -> None:
        """Change nothing: the approval itself is stored with its answer."""
