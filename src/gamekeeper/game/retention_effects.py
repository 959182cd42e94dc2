"""The deletion of old changes, as the audit log has it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gamekeeper.game.codec import ChangeSide, Codec, SubjectIds
from gamekeeper.store import (
    deliveries,
    ledger,
)
from gamekeeper.store.engine import Writing


@dataclass(frozen=True, slots=True)
class LedgerTrimmed:
    """A deletion of old entries of the audit log. It has their item totals, so that the log still adds up."""

    upto: int
    numbers: Sequence[int]
    sums: Mapping[str, int]
    kind = "ledger_trimmed"

    def whose(self) -> SubjectIds:
        return None, None

    def sides(self) -> tuple[ChangeSide | None, ChangeSide]:
        return None, ChangeSide(catalogue={"upto": self.upto, "rows": len(self.numbers)}, sums=self.sums)

    def carry_out(self, tx: Writing, _: Codec) -> None:
        ledger.delete(tx, self.numbers)
        deliveries.delete(tx, self.numbers)
        ledger.set_trimmed(tx, self.upto)
